/** Strings in JSON, each called by the nearest name above it that tells what it is. */
import { entryName, isSecretNumber, memberName, type Named } from './told.js'

const look = (value: unknown, called: string, into: Named[]): void => {
  if (typeof value === 'string') into.push({ called, value })
  else if (typeof value === 'number' && isSecretNumber(called)) into.push({ called, value: String(value) })
  else if (Array.isArray(value)) for (const entry of value) look(entry, entryName(called), into)
  else if (typeof value === 'object' && value !== null)
    for (const [own, member] of Object.entries(value)) look(member, memberName(own, called), into)
}

export const isStructured = (text: string): boolean => /^\s*[[{]/u.test(text)

/** Undefined if it is no JSON, or too deep. */
export const membersOf = (text: string): readonly Named[] | undefined => {
  if (!isStructured(text)) return undefined
  const members: Named[] = []
  try {
    look(JSON.parse(text), '', members)
  } catch {
    return undefined
  }
  return members
}
