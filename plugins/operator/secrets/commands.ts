import {
  array,
  boolean,
  defineCommand,
  integer,
  jsonObject,
  namedLine,
  number,
  open,
  optional,
  parse,
  secretFlags,
  showTime,
  string,
  visibleLine,
  count,
  type Command,
  type CommandInput,
  type Infer,
  type JsonObject,
} from '../../../core/plugin.js'
import { secretErrors } from './slots/errors.js'
import { modes, providers } from './slots/record.js'

const secrets = '/v1/runtime/secrets'
const accounts = '/v1/runtime/auth/accounts'

const fields = { slot_id: string(), provider: string(), mode: string(), summary: string() }
const Row = open(fields)
const showRow = ({ slot_id, provider, summary }: Infer<typeof Row>): string =>
  `${visibleLine(slot_id)}  ${provider}  ${visibleLine(summary)}`

const Secret = open({
  ...fields,
  updated_at_ms: number(),
  details: open({
    created_at_ms: number(),
    key_id: string(),
    action: optional(string()),
    expires_at_ms: optional(number()),
    revoked_at_ms: optional(number()),
    used_by: optional(array(open({ kind: string(), id: string() }))),
  }),
})

const detail = namedLine(9)
const moment = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : showTime(ms))

const showSecret = ({ updated_at_ms, details, ...row }: Infer<typeof Secret>): string =>
  [
    showRow(row),
    ...detail('made', moment(details.created_at_ms)),
    ...detail('changed', moment(updated_at_ms)),
    ...detail('expires', moment(details.expires_at_ms)),
    ...detail('revoked', moment(details.revoked_at_ms)),
    ...detail('key', details.key_id),
    ...detail('used by', details.used_by?.map(({ kind, id }) => visibleLine(`${kind} ${id}`)).join(', ') ?? 'nothing'),
    ...detail('do', details.action),
  ].join('\n')

const showRows =
  (none: string) =>
  (rows: Infer<typeof Row>[]): string =>
    rows.length === 0 ? none : rows.map(showRow).join('\n')

const Done = open({ accepted: boolean() })
const at = (base: string, { args }: CommandInput): string => `${base}/${encodeURIComponent(args['secret_ref'] ?? '')}`

/** What is stored under a name already; undefined if nothing is. */
const storedMode = async ({ client, args }: CommandInput): Promise<string | undefined> => {
  const rows = parse(array(Row), await client.get(secrets))
  return rows.ok ? rows.value.find(({ slot_id }) => slot_id === args['secret_ref'])?.mode : undefined
}

/** An account is a JSON object; everything else is the value itself. */
const stateOf = (mode: unknown, text: string): JsonObject => {
  if (mode !== 'oauth_account') return { value: text }
  try {
    const parsed = parse(jsonObject(), JSON.parse(text))
    if (parsed.ok) return parsed.value
  } catch {
    // Told below, without a word of what was read.
  }
  throw secretErrors.secret_invalid({ details: { what: 'an account must be a JSON object' } })
}

const set = async (input: CommandInput) => {
  const { client, args, flags } = input
  const { provider, mode } = flags
  const text = await input.secret()
  return client.send('POST', secrets, {
    slot_id: args['secret_ref'] ?? '',
    ...(typeof provider === 'string' && { provider }),
    ...(typeof mode === 'string' && { mode }),
    state: stateOf(mode ?? (await storedMode(input)), text),
  })
}

const Rekeyed = open({ key_id: string(), encrypted_anew: integer(), unreadable: integer() })
const showRekeyed = ({ key_id, encrypted_anew, unreadable }: Infer<typeof Rekeyed>): string =>
  [
    `The key is now ${key_id}; ${count(encrypted_anew, 'secret')} encrypted anew.`,
    ...(unreadable > 0 ? [`${count(unreadable, 'secret')} cannot be decrypted and stayed as they are.`] : []),
  ].join(' ')

export const commands: readonly Command[] = [
  defineCommand({
    path: ['secrets', 'list'],
    route: 'GET /v1/runtime/secrets',
    summary: 'Secrets by name, without their values.',
    run: ({ client }) => client.get(secrets),
    answer: array(Row),
    show: showRows('None is stored. Store one: holdfast secrets set NAME --stdin'),
  }),
  defineCommand({
    path: ['secrets', 'get'],
    route: 'GET /v1/runtime/secrets/{secret_ref}',
    summary: 'One secret, without its value: its version, its key, and what uses it.',
    args: ['secret_ref'],
    run: (input) => input.client.get(at(secrets, input)),
    answer: Secret,
    show: showSecret,
  }),
  defineCommand({
    path: ['secrets', 'set'],
    route: 'POST /v1/runtime/secrets',
    summary:
      'Stores a secret, or a new value of it. The value is never a part of the line; a terminal does not show it.',
    args: ['secret_ref'],
    flags: {
      ...secretFlags,
      provider: { kind: 'text', summary: 'Whose secret it is; as it was if it is left out, and generic of a new one.' },
      mode: {
        kind: 'text',
        summary: 'As it was if it is left out, and opaque_secret of a new one; the value of an oauth_account is JSON.',
      },
    },
    oneOf: Object.keys(secretFlags).map((flag) => `--${flag}`),
    choices: { provider: providers, mode: modes },
    fields: { 'body.slot_id': '<secret_ref>', 'body.state': 'the value', 'body.state.value': 'the value' },
    run: set,
    answer: Row,
    show: showRow,
  }),
  defineCommand({
    path: ['secrets', 'delete'],
    route: 'DELETE /v1/runtime/secrets/{secret_ref}',
    summary: 'Deletes a secret that nothing uses.',
    args: ['secret_ref'],
    run: (input) => input.client.send('DELETE', at(secrets, input)),
    answer: Done,
    show: () => 'Deleted.',
  }),
  defineCommand({
    path: ['secrets', 'rekey'],
    route: 'POST /v1/runtime/secrets-key',
    summary:
      'Makes a new key and encrypts all secrets with it. Backups from before need the old one: copy ' +
      'secrets/slots.key first if they are to be read.',
    run: ({ client }) => client.send('POST', '/v1/runtime/secrets-key'),
    answer: Rekeyed,
    show: showRekeyed,
  }),
  defineCommand({
    path: ['secrets', 'forget-key'],
    route: 'DELETE /v1/runtime/secrets-key/{key_id}',
    summary: 'Gives up headers of reply targets that need a key which is lost for good; give those targets again.',
    args: ['key_id'],
    run: ({ client, args }) =>
      client.send('DELETE', `/v1/runtime/secrets-key/${encodeURIComponent(args['key_id'] ?? '')}`),
    answer: Done,
    show: () => 'Forgotten.',
  }),
  defineCommand({
    path: ['runtime', 'auth', 'accounts', 'list'],
    route: 'GET /v1/runtime/auth/accounts',
    summary: 'Accounts by name, without their tokens.',
    run: ({ client }) => client.get(accounts),
    answer: array(Row),
    show: showRows(
      'None is stored. That of an MCP server: holdfast mcp oauth login SERVER. One of your own, as JSON: ' +
        'holdfast secrets set NAME --mode oauth_account --stdin',
    ),
  }),
  defineCommand({
    path: ['runtime', 'auth', 'accounts', 'get'],
    route: 'GET /v1/runtime/auth/accounts/{slot_id}',
    summary: 'One account, without its tokens.',
    args: ['slot_id'],
    run: ({ client, args }) => client.get(`${accounts}/${encodeURIComponent(args['slot_id'] ?? '')}`),
    answer: Secret,
    show: showSecret,
  }),
  defineCommand({
    path: ['runtime', 'auth', 'accounts', 'refresh'],
    route: 'POST /v1/runtime/auth/accounts/{slot_id}/refresh',
    summary: 'Gets new tokens for an account now, such as that of an MCP server.',
    args: ['slot_id'],
    run: ({ client, args }) => client.send('POST', `${accounts}/${encodeURIComponent(args['slot_id'] ?? '')}/refresh`),
  }),
  defineCommand({
    path: ['runtime', 'auth', 'accounts', 'revoke'],
    route: 'POST /v1/runtime/auth/accounts/{slot_id}/revoke',
    summary: 'Deletes an account that nothing uses, with its tokens.',
    args: ['slot_id'],
    run: ({ client, args }) => client.send('POST', `${accounts}/${encodeURIComponent(args['slot_id'] ?? '')}/revoke`),
    answer: Done,
    show: () => 'Revoked.',
  }),
  defineCommand({
    path: ['runtime', 'auth', 'revoke-slot'],
    route: 'POST /v1/runtime/auth/slots/{slot_id}/revoke',
    summary: 'Takes the value of a secret or account, whoever uses it, and ends the leases of it.',
    args: ['slot_id'],
    run: ({ client, args }) =>
      client.send('POST', `/v1/runtime/auth/slots/${encodeURIComponent(args['slot_id'] ?? '')}/revoke`),
    answer: Row,
    show: showRow,
  }),
]
