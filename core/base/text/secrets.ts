import path from 'node:path'
import { assert } from '../assert.js'
import { isWhole } from './known/borders.js'
import { folded } from './known/folded.js'
import { formsOf } from './known/forms.js'
import { placedAmongGaps, withoutGaps } from './known/gaps.js'
import { shortestValue } from './known/kin.js'
import { createKnownValues } from './known/known-values.js'
import { allOf, replaced } from './known/spans.js'
import { partsOf } from './parts/parts.js'
import { withoutTokens } from './short-lived.js'
import { atOnce, type Portions } from '../turns.js'
import { asWritten, type Span } from '../words/reading.js'

/**
 * Secret values by name. They live in `secrets/`, flags or the environment, and never appear in logs, events, errors or
 * exports.
 */
export interface Secrets {
  /**
   * The trimmed content of `secrets/<name>`; undefined if it is absent, empty, longer than 64 KiB, or readable by
   * others than the daemon's user.
   */
  find(name: string): string | undefined
  /** Why `find` finds nothing under that name; undefined if it finds something. */
  faultOf(name: string): SecretFault | undefined
  /**
   * Writes `secrets/<name>`, whole and for the daemon's user alone; resolves when it is on disk. Only for names that
   * the daemon made up. Rejects with `storage_write_failed` if the disk does not take it.
   */
  keep(name: string, value: string): Promise<void>
  /** Removes `secrets/<name>`; no effect if it is absent. */
  drop(name: string): Promise<void>
  /**
   * Adds a value of six characters or more to what every log line and problem is redacted for: as it is, with either
   * end of line, in JSON and JSON in JSON, in a URL or a form, in hex, and in base64 also as a part of more, these two
   * with white space and colons amid them too; a phrase with whatever blanks and line ends between its words; and its
   * parts that are secret by themselves (`parts/`). The answer lets it go again: a value that was guarded twice must be
   * let go twice.
   */
  guard(value: string): () => void
  /** The text with every known secret value, and every short-lived token, replaced by `[redacted]`. */
  redact(text: string): string
  /** The same in portions, for texts of any length. */
  redacting(text: string): Portions<string>
}

/** Nothing is there, it is no regular file, others than its owner may read it, or nothing or too much stands in it. */
export type SecretFault = 'absent' | 'no_file' | 'not_private' | 'empty' | 'too_long'

/** What is asked of the disk here, so that base needs nothing of the state. */
interface SecretFiles {
  stat(path: string): { readonly kind: string; readonly mode: number } | undefined
  readFile(path: string, most?: number): Uint8Array | undefined
  makeFolder(path: string): Promise<void>
  replace(path: string, bytes: Uint8Array): Promise<void>
  unlink(path: string): Promise<void>
  syncFolder(path: string): Promise<void>
  list(path: string): string[]
}

export interface SecretsOptions {
  readonly disk: SecretFiles
  readonly root: string
  /** The problem of a secret that the disk does not take. */
  readonly unwritten: (cause: unknown) => Error
}

const mark = '[redacted]'
const names = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/u
const othersMayRead = 0o077
/** Bytes of a file, as of a secret that is stored in a slot. */
const mostBytes = 64 * 1024

export const createSecrets = ({ disk, root, unwritten }: SecretsOptions): Secrets => {
  const [written, encoded] = [createKnownValues(), createKnownValues()]
  const [words, phrases] = [createKnownValues(isWhole), createKnownValues(isWhole)]
  const folder = path.join(root, 'secrets')
  const guard = (value: string): (() => void) => {
    if (value.length < shortestValue) return () => {}
    const forms = formsOf(partsOf(value))
    const undo = [
      ...Array.from(forms.written, written.add),
      ...Array.from(forms.encoded, encoded.add),
      ...Array.from(forms.words, words.add),
      ...Array.from(forms.phrases, phrases.add),
    ]
    return () => undo.forEach((letGo) => letGo())
  }
  const isThere = (name: string): boolean => disk.stat(path.join(folder, name)) !== undefined
  const look = (name: string): { readonly value: string } | { readonly fault: SecretFault } => {
    const file = path.join(folder, name)
    const stat = names.test(name) ? disk.stat(file) : undefined
    if (stat === undefined) return { fault: 'absent' }
    if (stat.kind !== 'file') return { fault: 'no_file' }
    if ((stat.mode & othersMayRead) !== 0) return { fault: 'not_private' }
    const bytes = disk.readFile(file, mostBytes + 1)
    if (bytes !== undefined && bytes.length > mostBytes) return { fault: 'too_long' }
    const value = new TextDecoder().decode(bytes).trim()
    return value === '' ? { fault: 'empty' } : { value }
  }
  const find = (name: string): string | undefined => {
    const found = look(name)
    if ('fault' in found) return undefined
    guard(found.value)
    return found.value
  }
  const faultOf = (name: string): SecretFault | undefined => {
    const found = look(name)
    return 'fault' in found ? found.fault : undefined
  }
  /** What a kill left of a file that was about to be written. */
  const sweep = async (name: string): Promise<void> => {
    const isLeft = (other: string): boolean =>
      other.startsWith(`${name}.`) && /^\d+$/u.test(other.slice(name.length + 1))
    for (const left of disk.list(folder).filter(isLeft)) await disk.unlink(path.join(folder, left))
  }
  const keep = async (name: string, value: string): Promise<void> => {
    assert(names.test(name), `'${name}' is no name for a secret`)
    guard(value)
    try {
      await disk.makeFolder(folder)
      await sweep(name)
      await disk.replace(path.join(folder, name), Buffer.from(`${value}\n`))
      await disk.syncFolder(root)
    } catch (cause) {
      throw unwritten(cause)
    }
  }
  const drop = async (name: string): Promise<void> => {
    const file = path.join(folder, name)
    await sweep(name)
    if (!isThere(name)) return
    await disk.unlink(file)
    await disk.syncFolder(folder)
  }
  function* redacting(text: string): Portions<string> {
    const solid = yield* withoutGaps(text)
    const found: Span[][] = []
    for (const known of [written, encoded, words]) found.push(yield* allOf(known.spans(text)))
    // Also in the text as it is: what an encoded value begins with may look like the end of a gap.
    if (solid.length < text.length) {
      const inSolid = yield* allOf(encoded.spans(solid))
      found.push(yield* allOf(placedAmongGaps(text, inSolid)))
    }
    if (!phrases.isEmpty()) {
      const reading = yield* folded(text)
      found.push(asWritten(reading, yield* allOf(phrases.spans(reading.text))))
    }
    return withoutTokens(replaced(text, found.flat(), mark), mark)
  }
  return { find, faultOf, keep, drop, guard, redact: (text) => atOnce(redacting(text)), redacting }
}

/** No secrets, for a host that only asks plugins what they declare. */
export const noSecrets: Secrets = {
  find: () => undefined,
  faultOf: () => 'absent',
  keep: () => Promise.resolve(),
  drop: () => Promise.resolve(),
  guard: () => () => {},
  redact: (text) => text,
  *redacting(text) {
    yield
    return text
  },
}
