import path from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { unsafeCast, type JsonObject } from '../../base/schema.js'
import type { Disk } from '../../state/disk/disk.js'
import { errors } from '../../base/config.js'
import { Problem } from '../../base/errors.js'
import { lineOf } from './toml-line.js'

export interface TomlFile {
  readonly table: JsonObject
  /** The line that gives the member of a dotted path, or else the nearest one around it. */
  readonly lineOf: (path: string) => number | undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true })

const refused = (source: string, problem: string): Problem => errors.config_invalid({ details: { source, problem } })

const inConfig = (file: string): string => `config/${path.basename(file)}`

/** The bytes of a configuration file, or undefined if there is none; throws `config_invalid` if they cannot be read. */
export const configBytes = (
  disk: Pick<Disk, 'readFile'>,
  file: string,
  source = inConfig(file),
): Uint8Array | undefined => {
  try {
    return disk.readFile(file)
  } catch (error) {
    if (error instanceof Problem) throw error
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'an unknown reason'
    throw refused(source, `cannot be read: ${reason}`)
  }
}

/** What the parser says is never told, not even as a cause: it quotes the line, which may hold a key. */
const where = (error: unknown): string =>
  error instanceof TomlError ? `is not TOML: line ${error.line}, column ${error.column}` : 'is not UTF-8 text'

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
export const readTomlFile = (
  disk: Pick<Disk, 'readFile'>,
  file: string,
  source = inConfig(file),
): TomlFile | undefined => {
  const bytes = configBytes(disk, file, source)
  if (bytes === undefined) return undefined
  try {
    const text = decoder.decode(bytes)
    return { table: unsafeCast<JsonObject>(parse(text)), lineOf: (member) => lineOf(text, member) }
  } catch (error) {
    throw refused(source, where(error))
  }
}

/** The tables of a configuration file, or undefined if there is none; `source` is what it is called. */
export const readToml = (disk: Pick<Disk, 'readFile'>, file: string, source?: string): JsonObject | undefined =>
  readTomlFile(disk, file, source)?.table
