/** The list of MCP servers that an operator keeps in `config/mcp.toml`, one table for each. */
import {
  array,
  boolean,
  canonical,
  defaulted,
  defineList,
  doc,
  enums,
  integer,
  isCidr,
  object,
  optional,
  record,
  refusedUrl,
  rule,
  string,
  unsendableHeader,
  type Infer,
  type ListSpec,
} from '../../../../core/plugin.js'

const mostTimeout = 600
const text = () => string({ min: 1, max: 4_096 })
const secretRef = () => string({ min: 1, max: 200 })
const texts = (sentence: string) => doc(defaulted(array(text(), { max: 1_000 }), []), sentence)
const byName = (sentence: string) => doc(defaulted(record(string({ max: 32_768 })), {}), sentence)
const seconds = (fallback: number, sentence: string) =>
  doc(defaulted(integer({ min: 1, max: mostTimeout }), fallback), `${sentence} Seconds.`)

/** One server. Rules: docs/rules/mcp.md. */
export const ServerEntry = object({
  enabled: doc(defaulted(boolean(), true), 'False to leave it out.'),
  required: doc(
    defaulted(boolean(), false),
    'True to call the daemon ready when this server is connected, or its start-up time is over.',
  ),
  command: optional(doc(text(), 'Program to start: the server speaks on its standard input and output.')),
  args: doc(defaulted(array(string({ max: 131_072 }), { max: 1_000 }), []), 'Arguments of the program.'),
  env: byName('Environment variables of the program.'),
  env_secret_refs: byName('Environment variables of the program that are secrets, by the name of the secret.'),
  inherit_env: doc(
    defaulted(boolean(), false),
    'True to pass on the environment that commands of models get; else PATH, HOME, LANG and the like alone.',
  ),
  cwd: optional(doc(text(), 'Folder that the program runs in; the workspace when absent.')),
  url: optional(doc(text(), 'Address of a server that is asked over HTTP.')),
  headers: byName('Headers of each request.'),
  env_http_headers: byName('Headers of each request, by the environment variable of the daemon that holds the value.'),
  http_header_secret_refs: byName('Headers of each request, by the name of the secret that holds the value.'),
  bearer_token_env_var: optional(doc(text(), 'Environment variable of the daemon that holds a bearer token.')),
  bearer_token_secret_ref: optional(doc(secretRef(), 'Secret that holds a bearer token.')),
  oauth_slot_ref: optional(doc(secretRef(), 'Account that the server is asked with.')),
  oauth_resource: optional(doc(text(), 'What tokens of the account are for; the address when absent.')),
  oauth_scopes: texts('Scopes that a login asks for.'),
  allow_private_network: doc(defaulted(boolean(), false), 'True if the address may be local or private.'),
  allow_cidrs: doc(
    defaulted(array(rule(string(), 'must be an address range such as 198.18.0.0/15', isCidr), { max: 100 }), []),
    'Special address ranges that the server may be in.',
  ),
  enabled_tools: texts(
    'The tools that count, by the names of the server; all when empty. `*` at the end stands for any rest.',
  ),
  disabled_tools: texts('Tools that are left out, in the same form.'),
  effects: doc(
    defaulted(record(enums(['read', 'idempotent', 'once'])), {}),
    'What a repetition of a tool would do, by the name of the server, in place of what the server says.',
  ),
  startup_timeout_sec: seconds(30, 'Longest start, until the tools are known.'),
  tool_timeout_sec: seconds(60, 'Longest call of a tool.'),
})
/** The value form of `ServerEntry`. */
export type ServerEntry = Infer<typeof ServerEntry>

/** A server that is a program. */
export type StdioEntry = ServerEntry & { readonly command: string }
/** A server that is asked over HTTP. */
export type HttpEntry = ServerEntry & { readonly url: string }

/** How a server is reached. */
export const isStdio = (entry: ServerEntry): entry is StdioEntry => entry.command !== undefined
/** How a server is reached. */
export const isHttp = (entry: ServerEntry): entry is HttpEntry => entry.url !== undefined

const ofPrograms = ['args', 'env', 'env_secret_refs', 'cwd', 'inherit_env'] as const
const ofHttp = [
  'headers',
  'env_http_headers',
  'http_header_secret_refs',
  'bearer_token_env_var',
  'bearer_token_secret_ref',
  'oauth_slot_ref',
  'oauth_resource',
  'oauth_scopes',
  'allow_private_network',
  'allow_cidrs',
] as const

/** What the daemon makes of a server and of its account: no connection has any of it. */
const ofDaemon: ReadonlySet<string> = new Set<keyof ServerEntry>([
  'enabled',
  'required',
  'enabled_tools',
  'disabled_tools',
  'effects',
  'startup_timeout_sec',
  'tool_timeout_sec',
  'oauth_resource',
  'oauth_scopes',
])

const connectionOf = (entry: ServerEntry): string =>
  canonical(Object.fromEntries(Object.entries(entry).filter(([key]) => !ofDaemon.has(key))))

/** True if a connection that was made for one entry is as good for the other. */
export const isSameConnection = (one: ServerEntry, other: ServerEntry): boolean =>
  connectionOf(one) === connectionOf(other)

const isGiven = (value: unknown): boolean =>
  !(value === undefined || value === false || (typeof value === 'object' && Object.keys(Object(value)).length === 0))

const names = /^[A-Za-z_][A-Za-z0-9_]*$/u
const reserved = /^(?:SERVICE_|NODE_CHANNEL_)/u
const taken: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'content-type',
])

const namesFault = (entry: ServerEntry): string | undefined => {
  const variables = [...Object.keys(entry.env), ...Object.keys(entry.env_secret_refs)]
  if (variables.some((name) => !names.test(name) || reserved.test(name)))
    return 'env and env_secret_refs may have names of environment variables alone, not those of the daemon'
  const headers = [entry.headers, entry.env_http_headers, entry.http_header_secret_refs].flatMap(Object.keys)
  if (headers.some((name) => unsendableHeader({ [name]: '' }) !== undefined || taken.has(name.toLowerCase())))
    return 'headers may have names of HTTP headers alone, and none that a request has anyway'
  return undefined
}

/** What no program can be given. */
const nul = /\0/u

const valuesFault = (entry: ServerEntry): string | undefined => {
  const { command = '', args, cwd = '', env, headers } = entry
  if ([command, ...args, cwd, ...Object.values(env)].some((value) => nul.test(value)))
    return 'command, args, cwd and env may not have the character NUL'
  if (unsendableHeader(headers) !== undefined)
    return 'headers may not have line ends or other characters that HTTP does not carry'
  return undefined
}

const bearers = (entry: ServerEntry): number =>
  [entry.bearer_token_env_var, entry.bearer_token_secret_ref, entry.oauth_slot_ref].filter(isGiven).length

const entryFault = (entry: ServerEntry): string | undefined => {
  if (isStdio(entry) === isHttp(entry)) return 'must have either command or url'
  const strange = (isStdio(entry) ? ofHttp : ofPrograms).find((key) => isGiven(entry[key]))
  if (strange !== undefined) return `${strange} is for a server with ${isStdio(entry) ? 'url' : 'command'}`
  const refused = entry.url === undefined ? undefined : refusedUrl(entry.url, entry)
  if (refused !== undefined)
    return `url ${refused}${refused.includes('private') ? ', or allow_private_network or allow_cidrs must say so' : ''}`
  if (bearers(entry) > 1) return 'may have one of bearer_token_env_var, bearer_token_secret_ref and oauth_slot_ref'
  return namesFault(entry) ?? valuesFault(entry)
}

/** `config/mcp.toml`, or the file that is read in its place. */
export const serverList = (path?: string): ListSpec<ServerEntry> =>
  defineList({
    file: 'mcp',
    from: { flag: 'mcp-config', path },
    table: 'mcp_servers',
    summary: 'The MCP servers whose tools models may call.',
    entry: ServerEntry,
    // What is there and no `false` was meant as something: `required = "true"`.
    isVital: ({ required = false, enabled }) => required !== false && enabled !== false,
    fault: (_, entry) => entryFault(entry),
  })
