/** A connector as it is set up, from a record or a table of the file. */
import { isJsonObject, parse, unsafeCast, type Issue, type Json, type JsonObject } from '../../../core/plugin.js'
import type { ConnectorSettings, ConnectorDraft, AnyConnectorKind } from './contract.js'
import { handlesIn } from './record.js'
import type { Sources } from './sources.js'

/** A connector that is listed. */
export interface Entry {
  readonly kind: AnyConnectorKind
  readonly name: string
  readonly source: 'file' | 'daemon'
  readonly settings: ConnectorSettings
  readonly secrets: Sources
  /** Why it cannot be in force; undefined if its settings are right. */
  readonly fault?: string | undefined
}

const names = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u
/** Routes of a kind that stand where the name of a connector would. */
const taken: ReadonlySet<string> = new Set(['external/metrics'])

/** What is wrong with a name; undefined if it can be one. */
export const faultOfName = (kind: string, name: string): string | undefined => {
  if (!names.test(name))
    return 'must be letters, digits, `.`, `_` and `-`, 64 at most, and begin with a letter or digit'
  return taken.has(`${kind}/${name}`) ? 'must be another one: this is the path of a route' : undefined
}

/** The names of secrets in the lists of a kind: `team_bot_tokens.<team_id>.bot_token`. */
export const listedSecret = (list: string, id: string, secret: string): string => `${list}.${id}.${secret}`

/** What a list of secrets is of, in the order of its ids. */
export const idsIn = (secrets: Iterable<string>, list: string): string[] =>
  [...secrets].flatMap((name) => (name.startsWith(`${list}.`) ? [name.split('.')[1] ?? ''] : [])).toSorted()

/** In an id of a list no sign has a meaning: it stands in names of secrets. */
export const listId = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/u

export const draftOf = (
  { name, secrets }: Pick<Entry, 'name' | 'secrets'>,
  settings: ConnectorSettings,
): ConnectorDraft<ConnectorSettings> => ({ name, settings, has: (secret) => secrets.has(secret) })

/** Settings in the form in which they are kept, or what is wrong with them. */
export const readSettings = (
  kind: AnyConnectorKind,
  { name, secrets, settings }: { name: string; secrets: Sources; settings: JsonObject },
): { readonly settings: ConnectorSettings } | { readonly issues: readonly Issue[] } => {
  const read = parse(kind.settings, settings)
  if (!read.ok) return { issues: read.issues }
  const normal = kind.normal?.(read.value) ?? read.value
  const fault = kind.fault(draftOf({ name, secrets }, normal))
  return fault === undefined ? { settings: normal } : { issues: [fault] }
}

/** Handles of its reply targets. */
export const targetsOf = ({ kind, settings }: Pick<Entry, 'kind' | 'settings'>) =>
  handlesIn(Reflect.get(settings, kind.targets))

/** The connector that a handle leads to: its kind and name; undefined for what leads to none. */
export const connectorOf = ({ plugin, address }: { readonly plugin: string; readonly address: string }) => {
  if (plugin === 'http') return undefined
  try {
    const route: Json = JSON.parse(address)
    if (!isJsonObject(route)) return undefined
    const { connector } = route
    return typeof connector === 'string' ? { kind: plugin, name: connector } : undefined
  } catch {
    return undefined
  }
}

/** Settings as JSON: undefined members are not there. */
export const settingsJson = (settings: ConnectorSettings): JsonObject =>
  unsafeCast(JSON.parse(JSON.stringify(settings)))

export const tellIssues = (issues: readonly Issue[]): string =>
  issues.map(({ path, rule }) => `${path} ${rule}`.trim()).join('; ')
