import { parse, TomlError } from 'smol-toml'
import { unsafeCast, type JsonObject } from '../../base/schema.js'
import { configBytes, inConfig, refusedFile, type ConfigDisk } from './config-bytes.js'
import { lineOf } from './toml-line.js'

export interface TomlFile {
  readonly table: JsonObject
  /** The line that gives the member of a dotted path, or else the nearest one around it. */
  readonly lineOf: (path: string) => number | undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** What the parser says is never told, not even as a cause: it quotes the line, which may hold a key. */
const where = (error: unknown): string =>
  error instanceof TomlError ? `is not TOML: line ${error.line}, column ${error.column}` : 'is not UTF-8 text'

/** The line that the problem of a file which is no TOML names; undefined for any other. */
export const lineIn = (problem: string): number | undefined => {
  const line = /^is not TOML: line (\d+)/u.exec(problem)?.[1]
  return line === undefined ? undefined : Number(line)
}

/** The tables of a text, or what is wrong with it, in words that follow the name of its file. */
export const tomlOf = (
  text: string,
): { readonly ok: true; readonly table: JsonObject } | { readonly ok: false; readonly problem: string } => {
  try {
    return { ok: true, table: unsafeCast<JsonObject>(parse(text)) }
  } catch (error) {
    return { ok: false, problem: where(error) }
  }
}

/** The content of a configuration file, or undefined if there is none. */
export const readTomlFile = (disk: ConfigDisk, file: string, source = inConfig(file)): TomlFile | undefined => {
  const bytes = configBytes(disk, file, source)
  if (bytes === undefined) return undefined
  try {
    const text = decoder.decode(bytes)
    return { table: unsafeCast<JsonObject>(parse(text)), lineOf: (member) => lineOf(text, member) }
  } catch (error) {
    throw refusedFile(source, where(error))
  }
}

/** The tables of a configuration file, or undefined if there is none; `source` is what it is called. */
export const readToml = (disk: ConfigDisk, file: string, source?: string): JsonObject | undefined =>
  readTomlFile(disk, file, source)?.table
