/** Strings in JSON, each called by the nearest name above it that tells what it is. */
import { entryName, isNameMember, isSecretNumber, isTelling, isValueMember, memberName, type Named } from './told.js'

/** What an object with a name and a value in two members calls the value: `{"name": "API_KEY", "value": "x"}`. */
const nameIn = (members: readonly (readonly [string, unknown])[]): string | undefined => {
  const [, name] = members.find(([own]) => isNameMember(own)) ?? []
  return typeof name === 'string' && isTelling(name) ? name : undefined
}

const look = (value: unknown, called: string, into: Named[]): void => {
  if (typeof value === 'string') into.push({ called, value })
  else if (typeof value === 'number' && isSecretNumber(called)) into.push({ called, value: String(value) })
  else if (Array.isArray(value)) for (const entry of value) look(entry, entryName(called), into)
  else if (typeof value === 'object' && value !== null) lookInto(Object.entries(value), called, into)
}
const lookInto = (members: readonly (readonly [string, unknown])[], called: string, into: Named[]): void => {
  const name = nameIn(members)
  for (const [own, member] of members)
    look(member, name !== undefined && isValueMember(own) ? name : memberName(own, called), into)
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

/** The entries of a list of texts and nothing else, as JSON; they are what is stored. */
export const entriesOf = (text: string): readonly string[] => {
  try {
    const list: unknown = text.startsWith('[') ? JSON.parse(text) : []
    return Array.isArray(list) && list.every((entry) => typeof entry === 'string') ? list : []
  } catch {
    return []
  }
}
