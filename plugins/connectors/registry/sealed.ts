/** Values of settings that are never read back, as they stand on disk (connectors-28). */
import { isJsonObject, type JsonObject } from '../../../core/plugin.js'
import { isSealed, type SecretSeal } from '../../operator/secrets/contract.js'
import type { AnyConnectorKind } from './contract.js'

/** Whose settings they are: at another place they do not open. */
export interface Owner {
  readonly kind: AnyConnectorKind
  readonly name: string
}

const aboutOf = ({ kind: { kind }, name }: Owner, place: string): string =>
  JSON.stringify(['connector-settings', kind, name, place])

/** The member that holds each, and what it is called in that. */
const placesOf = ({ kind: { sealed = {} } }: Owner) =>
  Object.entries(sealed).map(([member, inner]) => ({ member, inner, place: `${member}.${inner}` }))

/** Settings as they are kept. Throws `secrets_key_unusable`. */
export const sealedSettings = (
  seal: Pick<SecretSeal, 'sealLasting'>,
  owner: Owner,
  settings: JsonObject,
): JsonObject => {
  const kept: Record<string, JsonObject[string]> = { ...settings }
  for (const { member, inner, place } of placesOf(owner)) {
    const { [inner]: value, ...rest } = Object(settings[member])
    if (isJsonObject(value) && Object.keys(value).length > 0)
      kept[member] = { ...rest, [inner]: { ...seal.sealLasting(value, aboutOf(owner, place)) } }
  }
  return kept
}

/** Settings that are opened; `locked` are places of what does not open, which is left out. */
export interface OpenedSettings {
  readonly settings: JsonObject
  readonly locked: readonly string[]
}

export const openedSettings = (seal: Pick<SecretSeal, 'open'>, owner: Owner, kept: JsonObject): OpenedSettings => {
  const settings: Record<string, JsonObject[string]> = { ...kept }
  const locked: string[] = []
  for (const { member, inner, place } of placesOf(owner)) {
    const { [inner]: value, ...rest } = Object(kept[member])
    if (!isSealed(value)) continue
    const opened = seal.open(value, aboutOf(owner, place))
    if (opened === undefined) locked.push(place)
    settings[member] = { ...rest, ...(opened !== undefined && { [inner]: opened }) }
  }
  return { settings, locked }
}
