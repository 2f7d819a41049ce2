/** A file of secrets beside those that are stored, for machines that are set up by files alone. */
import { isJsonObject, Problem, readSecretFile, tomlOf, type JsonObject } from '../../../../core/plugin.js'

export interface Credentials {
  /** The value under this name as it is in the file now; undefined if it has none, or cannot be used. */
  find(secret_ref: string): string | undefined
  /** All of them, as they are now. */
  values(): readonly string[]
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

const readAll = (file: string): Read => {
  const read = tomlOf(readSecretFile(file, { mayHaveLines: true }))
  if (!read.ok) return { ...none, fault: `${file} ${read.problem}` }
  const values = new Map<string, string>()
  for (const [name, value] of flattened(read.table)) {
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

/** A file that cannot be used has nothing: half of it would be believed to be all. */
export const createCredentials = (file: string | undefined): Credentials => {
  const read = (): Read => {
    if (file === undefined) return none
    try {
      return readAll(file)
    } catch (error) {
      if (error instanceof Problem) return { ...none, fault: error.message }
      throw error
    }
  }
  return {
    find: (secret_ref) => read().values.get(secret_ref),
    values: () => [...read().values.values()],
    fault: () => read().fault,
    exposed: () => (file === undefined || read().fault !== undefined || isPrivate(file) ? undefined : file),
  }
}
