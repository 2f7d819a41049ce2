/** What is shown of connectors: never a secret (connectors-2). */
import {
  boolean,
  doc,
  enums,
  integer,
  isJsonObject,
  named,
  object,
  open,
  optional,
  parse,
  string,
  timestamp,
  type Caller,
  type Infer,
  type Json,
  type JsonObject,
} from '../../../core/plugin.js'
import { shownHandle } from '../../execution/sessions/contract.js'
import { connectorHealths, connectorKinds, SessionPolicy } from './contract.js'
import type { Health } from './courses.js'
import { idsIn, listedSecret, settingsJson, targetsOf, type Entry } from './entry.js'
import { viewSource } from './sources.js'

/** How a connector is, as its view shows it. */
export const ConnectorHealthView = named(
  'ConnectorHealth',
  object({
    state: doc(enums(connectorHealths), 'ok; degraded; deaf: it hears nothing until somebody does something.'),
    cause: optional(doc(string(), 'What is wrong.')),
    action: optional(doc(string(), 'What to do about it.')),
    last_event_at_ms: optional(timestamp()),
    last_success_at_ms: optional(timestamp()),
  }),
)

export const ConnectorView = named(
  'ConnectorView',
  doc(
    open({
      kind: enums(connectorKinds),
      source: doc(enums(['file', 'daemon']), 'Who sets it up: the file of the operator, or requests.'),
      name: string(),
      fixed_session_id: optional(string()),
      session_policy: optional(SessionPolicy),
      allow_unauthenticated_ingress: boolean(),
      ingress_events_per_second: integer({ min: 0 }),
      health: ConnectorHealthView,
    }),
    'The members of its kind beside these; a secret is shown as ConnectorSecretView, what is empty is left out.',
  ),
)
export type ConnectorView = Infer<typeof ConnectorView>

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

const listsOf = ({ kind, secrets }: Entry): JsonObject =>
  Object.fromEntries(
    Object.entries(kind.secretLists ?? {}).map(([list, { id, secret }]) => [
      list,
      idsIn(secrets.keys(), list).map((own) => ({
        [id]: own,
        [secret]: { ...viewSource(secrets.get(listedSecret(list, own, secret))) },
      })),
    ]),
  )

/**
 * What a kind shows otherwise than it is kept: also of settings that are not right any more. Of those that it cannot
 * read nothing inner is shown: there may be values that are never read back.
 */
const ownView = ({ kind, settings }: Entry): JsonObject => {
  const read = parse(kind.settings, settings)
  if (read.ok) return kind.view?.(read.value) ?? {}
  return Object.fromEntries(
    Object.entries(settingsJson(settings)).flatMap(([member, value]) =>
      isJsonObject(value) || Array.isArray(value) ? [[member, undefined]] : [],
    ),
  )
}

export const viewOf = (entry: Entry, health: Health, caller: Caller): ConnectorView & JsonObject => {
  const { kind, name, source, settings, secrets } = entry
  const shown: JsonObject = {
    ...settingsJson(settings),
    ...Object.fromEntries(kind.secrets.map((secret) => [secret, { ...viewSource(secrets.get(secret)) }])),
    ...listsOf(entry),
    [kind.targets]: targetsOf(entry).map((target) => ({ ...shownHandle(target, caller) })),
    ...ownView(entry),
  }
  const { allow_unauthenticated_ingress = false, ingress_events_per_second = 0 } = settings
  return {
    kind: kind.kind,
    source,
    name,
    ...Object.fromEntries(Object.entries(shown).filter(([, value]) => !isEmpty(value))),
    allow_unauthenticated_ingress,
    ingress_events_per_second,
    health: { ...health },
  }
}
