/** Values of settings as they are kept: of secret ones only what the key of secrets opens. */
import type { Json, JsonObject } from '../../../../core/plugin.js'
import { isSealed, type SecretSeal } from '../../secrets/contract.js'
import type { RuntimeSetting } from './setting.js'

export interface Sealing {
  /** Throws `secrets_key_unusable`. */
  seal(values: JsonObject): JsonObject
  /** What does not open stays sealed. */
  open(values: JsonObject): JsonObject
  /** Whether anything of it is in the clear or under another key. */
  isOld(values: JsonObject): boolean
}

const about = (name: string): string => `setting\n${name}`

/** Nothing is in it that could be told, and so it is set without a key too: the way out where the key is lost. */
const isEmpty = (value: Json): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0

/** Without secrets in this daemon, values are kept as they are. */
export const createSealing = (
  service: () => SecretSeal | undefined,
  settings: () => readonly RuntimeSetting[],
): Sealing => {
  const change = (values: JsonObject, how: (seal: SecretSeal, value: Json, name: string) => Json): JsonObject => {
    const seal = service()
    const changed: Record<string, Json | undefined> = { ...values }
    for (const { name, secret } of settings()) {
      const value = values[name]
      if (seal !== undefined && secret === true && value !== undefined && !isEmpty(value))
        changed[name] = how(seal, value, name)
    }
    return changed
  }
  return {
    seal: (values) => change(values, (to, value, name) => (isSealed(value) ? value : to.seal(value, about(name)))),
    open: (values) =>
      change(values, (from, value, name) => (isSealed(value) ? (from.open(value, about(name)) ?? value) : value)),
    isOld: (values) => {
      const now = service()?.keyId()
      return settings().some(({ name, secret }) => {
        const value = values[name]
        if (now === undefined || secret !== true || value === undefined || isEmpty(value)) return false
        return !isSealed(value) || value.sealed_with !== now
      })
    },
  }
}
