/** Reads a key or token from a file that the operator named in a flag. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineErrors } from '../../base/errors.js'
import { utf8Text } from '../../base/text/well-formed.js'

export const secretFileErrors = defineErrors({
  file_unreadable: {
    status: 500,
    detail: 'The file {path} cannot be used: {reason}.',
    action: 'Name a file that can be read.',
  },
  secret_file_unreadable: {
    status: 500,
    detail: 'The secret file {path} cannot be used: {reason}.',
    action: 'Name a readable file that holds the secret alone, at most 64 KiB.',
  },
})

interface Reading {
  /** Refuse a file that others than its owner may read. */
  readonly mustBePrivate?: boolean
  /** Take a text of several lines, such as a certificate. */
  readonly mayHaveLines?: boolean
}

const othersMay = 0o077
/** Bytes of a secret. */
const mostSecret = 65_536

const read = new Set<string>()
/** Files that secrets were read from in this life of the program: absolute paths. */
export const secretFiles = (): readonly string[] => [...read]

/**
 * The secret in a file, without white space around it. Follows symbolic links,
 * because mounted secrets are links. Throws `secret_file_unreadable`, which
 * names the file and the reason.
 */
export const readSecretFile = (path: string, { mustBePrivate = false, mayHaveLines = false }: Reading = {}): string => {
  const unusable = (reason: string, cause?: unknown): Error =>
    secretFileErrors.secret_file_unreadable({ details: { path, reason }, cause })
  read.add(resolve(path))
  const text = utf8Text(content(path, { unusable, mustBePrivate }))?.trim()
  if (text === undefined) throw unusable('it is not UTF-8')
  if (text === '') throw unusable('it is empty')
  if (!mayHaveLines && /[\0\r\n]/u.test(text)) throw unusable('it has more than one line')
  return text
}

/** What a file holds that a person names on a command line, `most` bytes at most. Throws `file_unreadable`. */
export const readGivenBytes = (path: string, most: number): Buffer => {
  const unusable = (reason: string, cause?: unknown): Error =>
    secretFileErrors.file_unreadable({ details: { path, reason }, cause })
  return content(path, { unusable, mustBePrivate: false, most })
}

type Unusable = (reason: string, cause?: unknown) => Error

const content = (
  path: string,
  {
    unusable,
    mustBePrivate,
    most = mostSecret,
  }: { readonly unusable: Unusable; readonly mustBePrivate: boolean; readonly most?: number },
): Buffer => {
  const file = opened(path, unusable)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw unusable('it is not a regular file')
    if (mustBePrivate && (stat.mode & othersMay) !== 0)
      throw unusable('others than its owner may read or change it: chmod 600')
    if (stat.size > most) throw unusable(`it is larger than ${most / 1024} KiB`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

const opened = (path: string, unusable: Unusable): number => {
  try {
    // A pipe that nobody writes to would hold up the whole process.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    throw unusable(reasonOf(cause), cause)
  }
}

const reasonOf = (cause: unknown): string => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ENOENT' ? 'it does not exist' : code === 'EACCES' ? 'it may not be read' : 'it cannot be opened'
}
