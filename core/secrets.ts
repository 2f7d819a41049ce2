import path from 'node:path'
import type { Disk } from './state/disk.js'

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
  /** Adds a value to what every log line and problem is redacted for. */
  guard(value: string): void
  /** The text with every known secret value replaced by `[redacted]`. */
  redact(text: string): string
}

export interface SecretsOptions {
  readonly disk: Disk
  readonly root: string
}

/** Shorter values would redact ordinary words. */
const shortest = 6
const names = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/u
const othersMayRead = 0o077

export const createSecrets = ({ disk, root }: SecretsOptions): Secrets => {
  const known = new Set<string>()
  let ordered: readonly string[] = []
  const guard = (value: string): void => {
    const before = known.size
    for (const form of [value, JSON.stringify(value).slice(1, -1)]) if (form.length >= shortest) known.add(form)
    if (known.size > before) ordered = [...known].toSorted((a, b) => b.length - a.length)
  }
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
    redact: (text) => ordered.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text),
  }
}
