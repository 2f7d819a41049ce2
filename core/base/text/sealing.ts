/** Encryption at rest: AES-256-GCM. */
import { createCipheriv, createDecipheriv, hash } from 'node:crypto'

const keyBytes = 32
/** Bytes of a nonce: 96 bits. */
export const nonceBytes = 12
const tagBytes = 16

/** The key that a text says: 32 bytes in hex or base64; undefined if it says something else. */
export const keyOf = (text: string): Uint8Array | undefined => {
  const bytes = /^[0-9a-fA-F]{64}$/u.test(text)
    ? Buffer.from(text, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/u.test(text)
      ? Buffer.from(text, 'base64')
      : undefined
  return bytes?.length === keyBytes ? bytes : undefined
}

/** Names a key without telling it: 16 digits of the SHA-256 of what it is for and its bytes. */
export const keyId = (key: Uint8Array, purpose: string): string =>
  hash('sha256', Buffer.concat([Buffer.from(purpose), key])).slice(0, 16)

/** What is sealed, beside the text. */
export interface Sealing {
  readonly key: Uint8Array
  /** Unique for every text: 12 random bytes in hex. */
  readonly nonce: string
  /** What the text is: in another place it does not open. */
  readonly about: string
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
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(about))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
  } catch {
    return undefined
  }
}
