import {
  arraySource,
  boolean,
  defineRoute,
  doc,
  jsonObject,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  enums,
  string,
  type Caller,
  type JsonObject,
  type Route,
} from '../../../core/plugin.js'
import { deliveryErrors } from '../../execution/deliveries/contract.js'
import { sessionErrors } from '../../execution/sessions/contract.js'
import { secretErrors } from '../../operator/secrets/contract.js'
import { connectorErrors, notFound } from './errors.js'
import { connectorKinds } from './settings.js'
import type { Wish } from './change.js'
import type { Entry } from './entry.js'
import { ConnectorView } from './view.js'

export interface ConnectorRouteParts {
  list(): readonly Entry[]
  find(kind: string, name: string): Entry | undefined
  view(entry: Entry, caller: Caller): ConnectorView
  put(wish: Wish, body: JsonObject): Promise<void>
  remove(wish: Wish): Promise<void>
}

const base = '/v1/runtime/connectors'
const path = `${base}/:kind/:name`
const params = object({
  kind: doc(string({ min: 1, max: 100 }), 'external, http, slack or telegram.'),
  name: doc(string({ min: 1, max: 200 }), 'Its name, which is unique among those of its kind.'),
})

export const connectorRoutes = (parts: ConnectorRouteParts): readonly Route[] => [
  list(parts),
  read(parts),
  put(parts),
  remove(parts),
]

const keyOf = ({ kind, name }: Entry): string => `${kind.kind}/${name}`

const list = (parts: ConnectorRouteParts): Route =>
  defineRoute({
    id: 'connectors.list',
    method: 'GET',
    path: base,
    summary: 'Connectors by kind and name, of the file and of requests.',
    access: 'read',
    query: object({ kind: optional(doc(enums(connectorKinds), 'Only those of this kind.')), ...pageFields }),
    reply: jsonReply(pageOf(ConnectorView)),
    problems: [...pageProblems],
    handler: ({ query: { kind, ...query }, caller }) =>
      listPage({
        query,
        source: arraySource(
          parts.list().filter((entry) => kind === undefined || entry.kind.kind === kind),
          keyOf,
        ),
        label: 'kind_name_asc',
        view: (entry) => parts.view(entry, caller),
      }),
  })

const found = ({ find }: ConnectorRouteParts, { kind, name }: Wish): Entry => {
  const entry = find(kind, name)
  if (entry === undefined) throw notFound({ kind, name })
  return entry
}

const read = (parts: ConnectorRouteParts): Route =>
  defineRoute({
    id: 'connectors.get',
    method: 'GET',
    path,
    summary: 'One connector, without its secrets.',
    access: 'read',
    params,
    reply: jsonReply(ConnectorView),
    problems: [connectorErrors.connector_not_found],
    handler: (input) => parts.view(found(parts, input.params), input.caller),
  })

const put = (parts: ConnectorRouteParts): Route =>
  defineRoute({
    id: 'connectors.put',
    method: 'PUT',
    path,
    summary: 'Sets a connector up, or changes the members that the body has; null sets one back, and keeps a secret.',
    access: 'admin',
    params,
    body: doc(jsonObject(), 'Members of its kind; secrets as ConnectorSecretInput.'),
    reply: jsonReply(ConnectorView),
    problems: [
      connectorErrors.connector_not_found,
      connectorErrors.connector_invalid,
      connectorErrors.connector_file_backed,
      connectorErrors.connector_member_fixed,
      connectorErrors.connectors_full,
      deliveryErrors.reply_target_invalid,
      sessionErrors.persona_not_found,
      sessionErrors.session_not_idle,
      secretErrors.secret_invalid,
      secretErrors.secrets_full,
      secretErrors.secrets_key_unusable,
    ],
    durability: 'A',
    example: { body: { bearer_token: { value: '…' }, session_policy: { create_if_missing: true } } },
    handler: async (input) => {
      await parts.put(input.params, input.body)
      return parts.view(found(parts, input.params), input.caller)
    },
  })

const remove = (parts: ConnectorRouteParts): Route =>
  defineRoute({
    id: 'connectors.delete',
    method: 'DELETE',
    path,
    summary: 'Takes a connector away that no reply target leads to; its secrets stay.',
    access: 'admin',
    params,
    reply: jsonReply(object({ accepted: doc(boolean(), 'Always true.') })),
    problems: [
      connectorErrors.connector_not_found,
      connectorErrors.connector_file_backed,
      connectorErrors.connector_in_use,
    ],
    durability: 'A',
    handler: async (input) => {
      await parts.remove(input.params)
      return { accepted: true }
    },
  })
