import path from 'node:path'
import { createKnownValues } from './known-values.js'
import { atOnce, type Portions } from '../turns.js'

/**
 * Secret values by name. They live in `secrets/`, flags or the environment, and never appear in logs, events, errors or
 * exports.
 */
export interface Secrets {
  /**
   * The trimmed content of `secrets/<name>`; undefined if it is absent, empty, or readable by others than the daemon's
   * user.
   */
  find(name: string): string | undefined
  /** Adds a value of six characters or more to what every log line and problem is redacted for. */
  guard(value: string): void
  /** The text with every known secret value replaced by `[redacted]`. */
  redact(text: string): string
  /** The same in portions, for texts of any length. */
  redacting(text: string): Portions<string>
}

/** What is asked of the disk here, so that base needs nothing of the state. */
interface SecretFiles {
  stat(path: string): { readonly kind: string; readonly mode: number } | undefined
  readFile(path: string): Uint8Array | undefined
}

export interface SecretsOptions {
  readonly disk: SecretFiles
  readonly root: string
}

const mark = '[redacted]'
const names = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/u
const othersMayRead = 0o077

export const createSecrets = ({ disk, root }: SecretsOptions): Secrets => {
  const known = createKnownValues()
  /** As it is, and as it stands in JSON. */
  const guard = (value: string): void => [value, JSON.stringify(value).slice(1, -1)].forEach(known.add)
  const find = (name: string): string | undefined => {
    if (!names.test(name)) return undefined
    const file = path.join(root, 'secrets', name)
    const stat = disk.stat(file)
    if (stat?.kind !== 'file' || (stat.mode & othersMayRead) !== 0) return undefined
    const value = new TextDecoder().decode(disk.readFile(file)).trim()
    if (value === '') return undefined
    guard(value)
    return value
  }
  return {
    find,
    guard,
    redact: (text) => atOnce(known.replacing(text, mark)),
    redacting: (text) => known.replacing(text, mark),
  }
}
