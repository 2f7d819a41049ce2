/** A file of secrets beside those that are stored, for machines that are set up by files alone. */
import { isJsonObject, Problem, readSecretFile, tomlOf, type JsonObject } from '../../../../core/plugin.js'

export interface Credentials {
  /** The value under this name as it is in the file now; undefined if it has none, or cannot be used. */
  find(secret_ref: string): string | undefined
  /** Reads the file, as each question does: all that it has now is redacted from then on. */
  look(): void
  /** Why the file cannot be used, in a sentence that names it; undefined if it can, or if there is none. */
  fault(): string | undefined
  /** The file, where it can be used and others than its owner may read or change it. */
  exposed(): string | undefined
}

type Read = { readonly values: ReadonlyMap<string, string>; readonly fault?: string }

/** `mcp.tickets` may stand as one quoted name, or as a name in a table. */
const flattened = (table: JsonObject, before = ''): (readonly [string, unknown])[] =>
  Object.entries(table).flatMap(([name, value]) =>
    isJsonObject(value) ? flattened(value, `${before}${name}.`) : [[before + name, value] as const],
  )

const none: Read = { values: new Map() }

const readAll = (file: string, guard: (value: string) => void): Read => {
  const read = tomlOf(readSecretFile(file, { mayHaveLines: true }))
  if (!read.ok) return { ...none, fault: `${file} ${read.problem}` }
  const values = new Map<string, string>()
  const all = flattened(read.table)
  for (const [, value] of all) if (typeof value === 'string') guard(value)
  for (const [name, value] of all) {
    if (typeof value !== 'string' || value.trim() === '')
      return { ...none, fault: `${file} has what is no text, or an empty one, under ${name}` }
    values.set(name, value)
  }
  return { values }
}

const isPrivate = (file: string): boolean => {
  try {
    readSecretFile(file, { mayHaveLines: true, mustBePrivate: true })
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}

/** A file that cannot be used has nothing: half of it would be believed to be all. A value may be guarded twice. */
export const createCredentials = (file: string | undefined, guard: (value: string) => void): Credentials => {
  const read = (): Read => {
    if (file === undefined) return none
    try {
      return readAll(file, guard)
    } catch (error) {
      if (error instanceof Problem) return { ...none, fault: error.message }
      throw error
    }
  }
  return {
    find: (secret_ref) => read().values.get(secret_ref),
    look: () => void read(),
    fault: () => read().fault,
    exposed: () => (file === undefined || read().fault !== undefined || isPrivate(file) ? undefined : file),
  }
}
