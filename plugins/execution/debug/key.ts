/** The key of the operator that evidence is encrypted with at rest. */
import { Problem, keyId, keyOf, readSecretFile } from '../../../core/plugin.js'
import type { DebugConfig } from './config.js'

/** `unusable` says why in words that hold neither key nor path. */
export type KeySetup =
  | { readonly type: 'none' }
  | { readonly type: 'key'; readonly key: Uint8Array; readonly id: string }
  | { readonly type: 'unusable'; readonly reason: string }

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
    const key = keyOf(text)
    return key === undefined
      ? { type: 'unusable', reason: 'it is not 32 bytes in hex or base64' }
      : { type: 'key', key, id: keyId(key, 'debug-capture-key') }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { type: 'unusable', reason: error.message }
  }
}
