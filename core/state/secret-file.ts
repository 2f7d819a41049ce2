/** Reads a key or token from a file that the operator named in a flag. */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { defineErrors } from '../errors.js'

export const secretFileErrors = defineErrors({
  secret_file_unreadable: {
    status: 500,
    detail: 'The secret file cannot be used: {reason}.',
    action: 'Name a readable file that holds the secret alone, at most 64 KiB.',
  },
})

const unusable = (reason: string, cause?: unknown) =>
  secretFileErrors.secret_file_unreadable({ details: { reason }, cause })

/**
 * The secret in a file, without white space around it. Follows symbolic links,
 * because mounted secrets are links. Throws `secret_file_unreadable`, which
 * names the reason and never the path.
 */
export const readSecretFile = (path: string): string => {
  const text = content(path).trim()
  if (text === '') throw unusable('it is empty')
  if (/[\0\r\n]/u.test(text)) throw unusable('it has more than one line')
  return text
}

const content = (path: string): string => {
  const file = opened(path)
  try {
    const { size } = checkedRegular(file)
    if (size > 65_536) throw unusable('it is larger than 64 KiB')
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

const checkedRegular = (file: number): { size: number } => {
  const stat = fstatSync(file)
  if (!stat.isFile()) throw unusable('it is not a regular file')
  return stat
}

const opened = (path: string): number => {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    throw unusable('it cannot be opened', cause)
  }
}
