/** What is shown of servers: in the status, in the runtime, in warnings and in metrics. */
import {
  array,
  boolean,
  commandLine,
  count as counted,
  doc,
  enums,
  gauges,
  integer,
  named,
  object,
  optional,
  record,
  sentence,
  string,
  visibleLine,
  type Count,
  type HealthCheck,
  type Infer,
  type Metric,
  type Warning,
} from '../../../core/plugin.js'
import type { RuntimeSection } from '../../operator/runtime/contract.js'
import type { StatusSection } from '../../operator/status/contract.js'
import { credentialWarnings } from './config/credential-warnings.js'
import type { Credentials } from './config/credentials.js'
import { isCredentialed, secretsOf } from './config/values.js'
import { mcpErrors } from './config/errors.js'
import { oauthErrors } from './oauth/errors.js'
import type { Oauth } from './oauth/oauth.js'
import { awaitsCallsText, type McpServer } from './servers/mcp-server.js'
import type { Servers } from './servers/servers.js'
import type { Published } from './tools/published.js'

export interface ShownParts {
  readonly servers: Servers
  readonly published: Published
  /** The file of the list, in words. */
  readonly file: string
  readonly credentials: Credentials
  /** The profile that brings a server; undefined of one that has a table in the file. */
  readonly profileOf: (name: string) => string | undefined
  readonly oauth: Pick<Oauth, 'needsLogin' | 'warnings'>
}

const countOf = () => integer({ min: 0 })

/** One server of the list. */
export const McpServerView = named(
  'McpServerView',
  object({
    name: doc(string(), 'Its name in the list.'),
    transport: enums(['stdio', 'http']),
    state: doc(enums(['connecting', 'connected', 'waiting']), '`waiting`: for the next attempt to connect.'),
    required: boolean(),
    credentialed: doc(boolean(), 'True if it is asked with secrets: sessions must be allowed them.'),
    tool_count: countOf(),
    left_out_count: doc(countOf(), 'Tools that are not shown to models: too many of them, or odd ones.'),
    profile: optional(doc(string(), 'The profile that brings it; absent of one that has a table in the file.')),
    secret_refs: doc(array(string()), 'Secrets that it refers to, there or not.'),
    file_refs: doc(array(string()), 'Those of them that the file of credentials has.'),
    oauth_slot_ref: optional(doc(string(), 'Account that it is asked with, there or not.')),
    problem: optional(doc(string(), 'Why it is not connected.')),
  }),
)
/** The value form of `McpServerView`. */
export type McpServerView = Infer<typeof McpServerView>

export const viewServer = ({ published, profileOf, credentials }: ShownParts, server: McpServer): McpServerView => {
  const { entry, name } = server
  const secret_refs = [...new Set(secretsOf(entry))].filter((ref) => ref !== entry.oauth_slot_ref)
  const profile = profileOf(name)
  const { state, problem, awaits_calls } = server.facts()
  const why = awaits_calls ? awaitsCallsText : problem?.message
  const { tools, too_many, odd } = published.of(name)
  return {
    name,
    transport: entry.url === undefined ? 'stdio' : 'http',
    state,
    required: entry.required,
    credentialed: isCredentialed(entry),
    tool_count: tools.length,
    left_out_count: too_many + odd,
    ...(profile !== undefined && { profile }),
    secret_refs,
    file_refs: secret_refs.filter((ref) => credentials.find(ref) !== undefined),
    ...(entry.oauth_slot_ref !== undefined && { oauth_slot_ref: entry.oauth_slot_ref }),
    ...(why !== undefined && state !== 'connected' && { problem: why }),
  }
}

const connectedOf = ({ servers }: ShownParts): readonly McpServer[] =>
  servers.all().filter((server) => server.facts().state === 'connected')

/** The member `mcp` of the status. */
export const mcpStatus = (parts: ShownParts): StatusSection => ({
  name: 'mcp',
  schema: object({
    server_count: countOf(),
    connected_count: countOf(),
    tool_count: countOf(),
    servers: array(McpServerView),
  }),
  collect: () => ({
    server_count: parts.servers.all().length,
    connected_count: connectedOf(parts).length,
    tool_count: parts.published.all().length,
    servers: parts.servers.all().map((server) => viewServer(parts, server)),
  }),
})

const mostInstructions = 2_000

/** The member `mcp` of `GET /v1/runtime`. */
export const mcpSection = (parts: ShownParts): RuntimeSection => ({
  name: 'mcp',
  schema: object({
    active_tools: doc(array(string()), 'Names of the tools, as models see them.'),
    connected_servers: array(string()),
    credentialed_servers: doc(array(string()), 'Servers that are asked with secrets.'),
    tool_servers: doc(record(string()), 'The server of each tool.'),
    instructions: doc(record(string()), 'What servers say of themselves; the beginning of it.'),
  }),
  collect: () => {
    const [tools, all] = [parts.published.all(), parts.servers.all()]
    return {
      active_tools: tools.map(({ name }) => name),
      connected_servers: connectedOf(parts).map(({ name }) => name),
      credentialed_servers: all.filter(({ entry }) => isCredentialed(entry)).map(({ name }) => name),
      tool_servers: Object.fromEntries(tools.map(({ name, origin }) => [name, origin?.server ?? ''])),
      instructions: Object.fromEntries(
        all.flatMap((server) => {
          const said = server.facts().instructions
          return said === undefined ? [] : [[server.name, visibleLine(said).slice(0, mostInstructions)]]
        }),
      ),
    }
  },
})

const placeOf = ({ file, profileOf }: ShownParts, name: string): string => {
  const profile = profileOf(name)
  return profile === undefined
    ? `its entry [mcp_servers.${name}] in ${file}`
    : `the profile ${profile} (${commandLine('mcp catalog get', name)})`
}

const wayOut = (parts: ShownParts, name: string, problem: string): string => {
  const [, kind, value = ''] = /^The (secret|environment variable) (\S+) is not there/u.exec(problem) ?? []
  const entry = placeOf(parts, name)
  const action =
    kind === 'secret'
      ? `Store it: ${commandLine('secrets set --stdin', value)}`
      : kind === undefined
        ? `See ${entry}, and the log. How it is: ${commandLine('mcp list')}`
        : `Set ${value} where the daemon is started and start it again, or correct ${entry}.`
  return action
}

/** Nothing is wrong with the account itself: its token has expired for good, or the server does not take it. */
const notTaken = ({ oauth }: ShownParts, server: McpServer, problem: string): Warning[] => {
  const { name, entry } = server
  // While it is being connected somebody may just have logged in.
  if (server.facts().state !== 'waiting' || oauth.warnings().some(({ related_id }) => related_id === name)) return []
  return [
    {
      severity: entry.required ? 'error' : 'warning',
      code: 'mcp_login_required',
      related_id: name,
      message: sentence(problem),
      action: commandLine('mcp oauth login', name),
    },
  ]
}

const again = 'It is tried again.'

const notConnected = (parts: ShownParts, server: McpServer): Warning[] => {
  const { name, entry } = server
  const { state, problem } = server.facts()
  if (state === 'connected' || problem === undefined) return []
  // The warning of the account says what to do; until then the server is asked nothing.
  if (parts.oauth.needsLogin(name) !== undefined) return []
  if (problem.code === oauthErrors.mcp_oauth_login_required.code) return notTaken(parts, server, problem.message)
  const isMissing = problem.code === mcpErrors.mcp_value_missing.code
  return [
    {
      severity: entry.required ? 'error' : 'warning',
      code: isMissing ? problem.code : mcpErrors.mcp_server_unavailable.code,
      related_id: name,
      message: `${sentence(`The MCP server ${name} is not connected: ${problem.message}`)} ${again}`,
      action: wayOut(parts, name, problem.message),
    },
  ]
}

const notReadText = ({ published }: ShownParts, server: McpServer): string | undefined => {
  const { name } = server
  const { list_problem } = server.facts()
  if (list_problem !== undefined)
    return `${sentence(`Changed tools of the MCP server ${name} could not be read: ${list_problem}`)} ${again}`
  return published.of(name).is_whole
    ? undefined
    : `The list of tools of the MCP server ${name} has no end: what came before counts.`
}

const notRead = (parts: ShownParts, server: McpServer): Warning[] => {
  const message = notReadText(parts, server)
  if (message === undefined) return []
  const { name } = server
  return [
    {
      severity: 'warning',
      code: 'mcp_tools_not_read',
      related_id: name,
      message,
      action: `See the log for what the server wrote. How it is: ${commandLine('mcp list')}`,
    },
  ]
}

const leftOut = ({ published }: ShownParts, { name }: McpServer): Warning[] => {
  const { too_many, odd } = published.of(name)
  const left_out = too_many + odd
  if (left_out === 0) return []
  return [
    {
      severity: 'info',
      code: 'mcp_tools_left_out',
      related_id: name,
      message: `${counted(left_out, 'tool')} of the MCP server ${name} ${left_out === 1 ? 'is' : 'are'} left out.`,
      action:
        (too_many > 0 ? `Name those that count in enabled_tools of [mcp_servers.${name}]. ` : '') +
        (odd > 0 ? 'The log names those that are odd and says why, which is to be corrected in the server. ' : '') +
        `See the tools that count: ${commandLine('mcp tools')}`,
    },
  ]
}

/** Names in one warning. */
const mostUnfit = 5

/** What looks like a bound and bounds nothing. */
const unfit = ({ published, file }: ShownParts, { name }: McpServer): Warning[] => {
  const named = published.of(name).unfit
  if (named.length === 0) return []
  const shown = named.slice(0, mostUnfit).map((one) => visibleLine(one).slice(0, 100))
  const more = named.length > mostUnfit ? ` and ${named.length - mostUnfit} more` : ''
  return [
    {
      severity: 'warning',
      code: 'mcp_tool_name_fits_nothing',
      related_id: name,
      message:
        `[mcp_servers.${name}] of ${file} names what fits no tool of the server: ` + `${shown.join(', ')}${more}.`,
      action:
        'Correct it in enabled_tools, disabled_tools or effects: the file is read again when it is saved. ' +
        `See the tools that count: ${commandLine('mcp tools')}`,
    },
  ]
}

export const mcpHealth = (parts: ShownParts): HealthCheck => ({
  id: 'mcp',
  check: () => [
    ...credentialWarnings(parts.credentials),
    ...parts.servers
      .all()
      .flatMap((server) => [
        ...notConnected(parts, server),
        ...notRead(parts, server),
        ...leftOut(parts, server),
        ...unfit(parts, server),
      ]),
  ],
})

/** What `GET /metrics` says of servers. */
export const mcpMetrics = (parts: ShownParts, calls: Count): readonly Metric[] => [
  ...gauges(
    ['service_mcp_servers', 'MCP servers of the list that are enabled.', () => parts.servers.all().length],
    ['service_mcp_servers_connected', 'MCP servers that are connected.', () => connectedOf(parts).length],
    ['service_mcp_tools', 'Tools of MCP servers that models may see.', () => parts.published.all().length],
  ),
  {
    name: 'service_mcp_connections_total',
    help: 'Connections that were made to MCP servers.',
    type: 'counter',
    collect: () =>
      parts.servers.all().map((server) => ({ labels: { server: server.name }, value: server.facts().connections })),
  },
  calls.metric,
]
