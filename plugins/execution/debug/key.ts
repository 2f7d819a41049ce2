/** Encryption of evidence at rest: AES-256-GCM under a key of the operator. */
import { createCipheriv, createDecipheriv, hash } from 'node:crypto'
import { Problem, readSecretFile } from '../../../core/plugin.js'
import type { DebugConfig } from './config.js'

/** `unusable` says why in words that hold neither key nor path. */
export type KeySetup =
  | { readonly type: 'none' }
  | { readonly type: 'key'; readonly key: Uint8Array; readonly id: string }
  | { readonly type: 'unusable'; readonly reason: string }

const keyBytes = 32
export const nonceBytes = 12
const tagBytes = 16

const decoded = (text: string): Uint8Array | undefined => {
  const bytes = /^[0-9a-fA-F]{64}$/u.test(text)
    ? Buffer.from(text, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/u.test(text)
      ? Buffer.from(text, 'base64')
      : undefined
  return bytes?.length === keyBytes ? bytes : undefined
}

const textOf = ({ debug_capture_key, debug_capture_key_file }: DebugConfig): string | undefined => {
  if (debug_capture_key !== undefined && debug_capture_key.trim() !== '') return debug_capture_key.trim()
  return debug_capture_key_file === undefined || debug_capture_key_file === ''
    ? undefined
    : readSecretFile(debug_capture_key_file)
}

/** Reads the key that is configured. `guard` is told of it before anything else. */
export const readKey = (config: DebugConfig, guard: (value: string) => void): KeySetup => {
  try {
    const text = textOf(config)
    if (text === undefined) return { type: 'none' }
    guard(text)
    const key = decoded(text)
    return key === undefined
      ? { type: 'unusable', reason: 'it is not 32 bytes in hex or base64' }
      : { type: 'key', key, id: hash('sha256', Buffer.concat([Buffer.from('debug-capture-key'), key])).slice(0, 16) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { type: 'unusable', reason: error.message }
  }
}

export interface Sealing {
  readonly key: Uint8Array
  /** Unique for every text: 12 bytes in hex. */ readonly nonce: string
  /** What the text is: another place does not open it. */ readonly about: string
}

/** Nonce, tag, text. */
export const sealText = (text: Uint8Array, { key, nonce, about }: Sealing): Uint8Array => {
  const cipher = createCipheriv('aes-256-gcm', key, Buffer.from(nonce, 'hex')).setAAD(Buffer.from(about))
  const sealed = Buffer.concat([cipher.update(text), cipher.final()])
  return Buffer.concat([Buffer.from(nonce, 'hex'), cipher.getAuthTag(), sealed])
}

/** Undefined if the key is another one or a bit is not as it was. */
export const openText = (bytes: Uint8Array, { key, about }: Omit<Sealing, 'nonce'>): Uint8Array | undefined => {
  if (bytes.length < nonceBytes + tagBytes) return undefined
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(about))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
  } catch {
    return undefined
  }
}
