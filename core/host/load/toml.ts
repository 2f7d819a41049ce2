import path from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { unsafeCast, type JsonObject } from '../../base/schema.js'
import type { Disk } from '../../state/disk/disk.js'
import { errors } from '../../base/config.js'

const decoder = new TextDecoder('utf-8', { fatal: true })

const where = (error: unknown): string =>
  error instanceof TomlError ? `is not TOML: line ${error.line}, column ${error.column}` : 'is not UTF-8 text'

/** The tables of a configuration file, or undefined if there is none. */
export const readToml = (disk: Disk, file: string): JsonObject | undefined => {
  const bytes = disk.readFile(file)
  if (bytes === undefined) return undefined
  try {
    return unsafeCast<JsonObject>(parse(decoder.decode(bytes)))
  } catch (error) {
    throw errors.config_invalid({
      details: { source: `config/${path.basename(file)}`, problem: where(error) },
      cause: error,
    })
  }
}
