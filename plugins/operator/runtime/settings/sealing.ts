/** Values of settings as they are kept: of secret ones only what the key of secrets opens. */
import { Problem, type Json, type JsonObject } from '../../../../core/plugin.js'
import { isSealed, type Sealed, type SecretSeal } from '../../secrets/contract.js'
import type { RuntimeSetting } from './setting.js'
import { lineWithout } from './unfit.js'

export interface Sealing {
  /** What was opened stays as it was sealed where no key can seal it anew. Throws `secrets_key_unusable`. */
  seal(values: JsonObject): JsonObject
  /** What does not open stays sealed. */
  open(values: JsonObject): JsonObject
  /** Whether there is a key in force. */
  hasKey(): boolean
  /** Whether anything of it is in the clear or under another key. */
  isOld(values: JsonObject): boolean
}

const about = (name: string): string => `setting\n${name}`

/** Nothing is in it that could be told, and so it is set without a key too: the way out where the key is lost. */
const isEmpty = (value: Json): boolean => value === null || (isObject(value) && Object.keys(value).length === 0)
const isObject = (value: Json): value is Json & object => typeof value === 'object' && value !== null

/** The same problem with the way out. */
const notSealed = (error: unknown, setting: RuntimeSetting): unknown => {
  if (!(error instanceof Problem)) return error
  const { code, spec, occurrence } = error
  const action = `${spec.action} To go on without the setting ${setting.name}: ${lineWithout(setting)}`
  return new Problem(code, { ...spec, action }, occurrence)
}

/** Without secrets in this daemon, values are kept as they are. */
export const createSealing = (
  service: () => SecretSeal | undefined,
  settings: () => readonly RuntimeSetting[],
): Sealing => {
  /** By what was opened: how it is kept. */
  const keptAs = new WeakMap<object, Sealed>()
  const sealOne = (seal: SecretSeal, value: Json, setting: RuntimeSetting): Json => {
    try {
      return seal.seal(value, about(setting.name))
    } catch (error) {
      const kept = isObject(value) ? keptAs.get(value) : undefined
      if (kept === undefined) throw notSealed(error, setting)
      return kept
    }
  }
  const openOne = (seal: SecretSeal, sealed: Sealed, { name }: RuntimeSetting): Json => {
    const value = seal.open(sealed, about(name)) ?? sealed
    if (isObject(value)) keptAs.set(value, sealed)
    return value
  }
  const change = (
    values: JsonObject,
    how: (seal: SecretSeal, value: Json, setting: RuntimeSetting) => Json,
  ): JsonObject => {
    const seal = service()
    const changed: Record<string, Json | undefined> = { ...values }
    for (const setting of settings()) {
      const value = values[setting.name]
      if (seal !== undefined && setting.secret === true && value !== undefined && !isEmpty(value))
        changed[setting.name] = how(seal, value, setting)
    }
    return changed
  }
  return {
    hasKey() {
      try {
        return service()?.keyId() !== undefined
      } catch (error) {
        if (error instanceof Problem) return false
        throw error
      }
    },
    seal: (values) => change(values, (to, value, setting) => (isSealed(value) ? value : sealOne(to, value, setting))),
    open: (values) =>
      change(values, (from, value, setting) => (isSealed(value) ? openOne(from, value, setting) : value)),
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
