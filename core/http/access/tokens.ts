/**
 * The admin and the read-only token: inline values, or files that are read on each decision so that they can be
 * replaced while running (http-26).
 */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Problem } from '../../base/errors.js'
import { isLoopback } from './admit.js'
import { startErrors } from '../errors.js'

export interface TokenSource {
  readonly token?: string
  readonly file?: string
}
export interface TokenSources {
  readonly admin?: TokenSource
  readonly readOnly?: TokenSource
  /** Whole file, or undefined; may throw. */
  readonly readFile: (path: string) => Uint8Array | undefined
}
type Role = 'admin' | 'read'
export interface TokenFile {
  readonly role: Role
  readonly path: string
  readonly readable: boolean
  readonly loaded: boolean
}

export interface Tokens {
  /** The role of a presented token. Takes the same time whatever it is. */
  roleOf(presented: string): Role | undefined
  status(): {
    readonly admin: boolean
    readonly readOnly: boolean
    readonly duplicate: boolean
    readonly files: readonly TokenFile[]
    /** Length of the shortest token in force; undefined if there is none. */
    readonly shortest: number | undefined
  }
}

const digest = (text: string): Buffer => Buffer.from(hash('sha256', text), 'latin1')
const nothing = digest('')

export const given = (source: TokenSource | undefined): boolean =>
  source?.token !== undefined || source?.file !== undefined

/** A length of 0 is no token. */
const shortestOf = (lengths: readonly number[]): number | undefined => {
  const real = lengths.filter((length) => length > 0)
  return real.length === 0 ? undefined : Math.min(...real)
}

export const createTokens = ({ admin, readOnly, readFile }: TokenSources): Tokens => {
  const read = (path: string): string | undefined => {
    try {
      const bytes = readFile(path)
      return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8').trim()
    } catch {
      return undefined
    }
  }
  /** The digest of the token in force; that of the empty text if there is none, which matches nobody. */
  const digestOf = (source: TokenSource | undefined): (() => Buffer) => {
    const inline = source?.token === undefined ? undefined : digest(source.token)
    const { file } = source ?? {}
    if (inline !== undefined) return () => inline
    return file === undefined ? () => nothing : () => digest(read(file) ?? '')
  }
  const adminDigest = digestOf(admin)
  const readDigest = digestOf(readOnly)
  const fileOf = (role: Role, path: string | undefined): TokenFile[] => {
    if (path === undefined) return []
    const text = read(path)
    return [{ role, path, readable: text !== undefined, loaded: text !== undefined && text !== '' }]
  }
  const lengthOf = (source: TokenSource | undefined): number =>
    (source?.token ?? (source?.file === undefined ? undefined : read(source.file)))?.length ?? 0
  return {
    roleOf(presented) {
      const [asked, full, partial] = [digest(presented), adminDigest(), readDigest()]
      const isAdmin = timingSafeEqual(asked, full)
      const isRead = timingSafeEqual(asked, partial)
      if (presented === '' || timingSafeEqual(full, partial)) return undefined
      return isAdmin ? 'admin' : isRead ? 'read' : undefined
    },
    status() {
      const [full, partial] = [adminDigest(), readDigest()]
      const present = (value: Buffer): boolean => !value.equals(nothing)
      const duplicate = present(full) && full.equals(partial)
      return {
        admin: present(full) && !duplicate,
        readOnly: present(partial) && !duplicate,
        duplicate,
        files: [...fileOf('admin', admin?.file), ...fileOf('read', readOnly?.file)],
        shortest: shortestOf([lengthOf(admin), lengthOf(readOnly)]),
      }
    },
  }
}

export type AuthMode = 'auto' | 'bearer' | 'none'
export interface AuthSettings {
  readonly mode: AuthMode
  readonly host: string
  readonly admin?: TokenSource
  readonly readOnly?: TokenSource
}

const malformed = (source: TokenSource | undefined): boolean =>
  source?.token !== undefined && !/^[\x21-\x7e]+$/u.test(source.token)
const same = (a: string | undefined, b: string | undefined): boolean => a !== undefined && a === b

/** Why a daemon must not start with these settings; undefined if it may. */
export const refuseSettings = ({ mode, host, admin, readOnly }: AuthSettings): Problem | undefined => {
  if (malformed(admin)) return startErrors.token_malformed({ details: { role: 'admin' } })
  if (malformed(readOnly)) return startErrors.token_malformed({ details: { role: 'read-only' } })
  if (same(admin?.token, readOnly?.token) || same(admin?.file, readOnly?.file)) return startErrors.tokens_equal()
  if (given(admin)) return undefined
  if (given(readOnly) || mode === 'bearer') return startErrors.admin_token_missing()
  return mode === 'auto' && !isLoopback(host) ? startErrors.admin_token_required({ details: { host } }) : undefined
}
