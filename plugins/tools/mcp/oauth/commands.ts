import {
  array,
  boolean,
  defineCommand,
  object,
  open,
  optional,
  parse,
  secretFlags,
  span,
  string,
  timestamp,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
} from '../../../../core/plugin.js'

const base = '/v1/runtime/mcp/oauth'
const at = ({ args }: CommandInput, end = ''): string => `${base}/${encodeURIComponent(args['server'] ?? '')}${end}`

const Row = open({
  server: string(),
  state: string(),
  reason: optional(string()),
  action: optional(string()),
  expires_at_ms: optional(timestamp()),
  missing_scopes: optional(array(string())),
})
type Row = Infer<typeof Row>

const words: Readonly<Record<string, string>> = {
  logged_in: 'logged in',
  login_pending: 'login under way',
  login_required: 'needs a login',
}

const showRow = ({ server, state, reason, action, missing_scopes }: Row): string => {
  const is = words[state] ?? visibleLine(state)
  return [
    `${visibleLine(server)}  ${is}${reason === undefined ? '' : `: ${visibleLine(reason)}`}`,
    ...(missing_scopes === undefined ? [] : [`  not given  ${visibleLine(missing_scopes.join(' '))}`]),
    ...(action === undefined ? [] : [`  next       ${visibleLine(action)}`]),
  ].join('\n')
}

const Begun = open({ authorization_url: string(), redirect_uri: string(), expires_at_ms: timestamp() })
const Out = object({ server: string(), logged_out: boolean(), told_server: boolean(), reason: optional(string()) })

/** Until the login is over, however it ended. */
const untilOver = async (input: CommandInput) => {
  const { client, signal } = input
  for (;;) {
    const got = await client.get(at(input, '?wait_ms=20000'))
    const row = parse(Row, got)
    if (signal.aborted || !row.ok || row.value.state !== 'login_pending') return got
  }
}

const login = async (input: CommandInput) => {
  const { client, flags, print, now } = input
  const { 'client-id': client_id, 'client-secret-ref': client_secret_ref } = flags
  const begun = parse(
    Begun,
    await client.send('POST', at(input, '/login'), {
      ...(typeof client_id === 'string' && { client_id }),
      ...(typeof client_secret_ref === 'string' && { client_secret_ref }),
    }),
  )
  if (!begun.ok) return undefined
  const { authorization_url, redirect_uri, expires_at_ms } = begun.value
  const isPasted = Object.keys(secretFlags).some((flag) => flags[flag] !== undefined)
  print(`Open this address in a browser, within ${span(Math.max(0, expires_at_ms - now()))}:`)
  print(`\n  ${authorization_url}\n`)
  if (!isPasted) print(`The browser ends at ${redirect_uri}. This command waits for it.`)
  if (isPasted) return client.send('POST', at(input, '/finish'), { address: await input.secret() })
  return untilOver(input)
}

export const oauthCommands: readonly Command[] = [
  defineCommand({
    path: ['mcp', 'oauth', 'status'],
    route: 'GET /v1/runtime/mcp/oauth',
    summary: 'MCP servers that are asked with an account, and whether somebody is logged in.',
    run: ({ client }) => client.get(base),
    answer: array(Row),
    show: (rows) =>
      rows.length === 0 ? 'No MCP server on the list has oauth_slot_ref.' : rows.map(showRow).join('\n'),
  }),
  defineCommand({
    path: ['mcp', 'oauth', 'login'],
    route: 'POST /v1/runtime/mcp/oauth/{server}/login',
    summary:
      'Logs in at an MCP server: prints an address and waits until a browser on the machine of the daemon has been ' +
      'there. With --stdin the address that the browser ended at is pasted here instead.',
    args: ['server'],
    flags: {
      ...secretFlags,
      'client-id': { kind: 'text', summary: 'A client that was registered by hand.' },
      'client-secret-ref': { kind: 'text', summary: 'The secret that holds the secret of that client.' },
    },
    fields: {
      'body.client_id': '--client-id',
      'body.client_secret_ref': '--client-secret-ref',
      'body.address': 'the address',
    },
    run: login,
    answer: Row,
    show: showRow,
    status: ({ state }) => (state === 'logged_in' ? 0 : 1),
  }),
  defineCommand({
    path: ['mcp', 'oauth', 'refresh'],
    route: 'POST /v1/runtime/mcp/oauth/{server}/refresh',
    summary: 'Gets new tokens for an MCP server now.',
    args: ['server'],
    run: (input) => input.client.send('POST', at(input, '/refresh')),
    answer: Row,
    show: showRow,
  }),
  defineCommand({
    path: ['mcp', 'oauth', 'logout'],
    route: 'POST /v1/runtime/mcp/oauth/{server}/logout',
    summary: 'Forgets the tokens of an MCP server, and has the authorization server take them back.',
    args: ['server'],
    run: (input) => input.client.send('POST', at(input, '/logout')),
    answer: Out,
    show: ({ server, told_server, reason = '' }) =>
      told_server
        ? `Logged out of ${visibleLine(server)}.`
        : `Logged out of ${visibleLine(server)}; the authorization server was not told: ${visibleLine(reason)}.`,
  }),
]
