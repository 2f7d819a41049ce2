import {
  array,
  boolean,
  commandLine,
  defineCommand,
  jsonObject,
  open,
  optional,
  string,
  visibleLine,
  type Command,
  type Infer,
} from '../../../../core/plugin.js'
import { tableLines } from './table-text.js'

const base = '/v1/runtime/mcp'

const Server = open({
  name: string(),
  summary: string(),
  supported: boolean(),
  problem: optional(string()),
  listed: boolean(),
  file: optional(string()),
  secret_ref: optional(string()),
  secret: optional(string()),
  oauth_slot_ref: optional(string()),
  entry: jsonObject(),
})
type Server = Infer<typeof Server>
const Profile = open({ name: string(), summary: string(), on: boolean(), servers: array(string()) })
type Profile = Infer<typeof Profile>

const needs = ({ secret_ref, oauth_slot_ref }: Server): string =>
  secret_ref === undefined ? (oauth_slot_ref === undefined ? '' : '  needs a login') : '  needs a secret'

const showServer = (server: Server): string => {
  const { name, summary, listed, problem } = server
  return [
    `${visibleLine(name)}  ${visibleLine(summary)}${needs(server)}${listed ? '  is on the list' : ''}`,
    ...(problem === undefined ? [] : [`  ${visibleLine(problem)}`]),
  ].join('\n')
}

const nextOf = ({ name, secret_ref, secret = 'its secret', oauth_slot_ref }: Server): string[] => {
  if (secret_ref !== undefined)
    return [`Store ${visibleLine(secret)}: ${commandLine('mcp auth set --stdin', secret_ref)}`]
  return oauth_slot_ref === undefined ? [] : [`Log in: ${commandLine('mcp oauth login', name)}`]
}

const showWhole = (server: Server): string => {
  const next = nextOf(server)
  const table = [
    `Its table for ${visibleLine(server.file ?? 'config/mcp.toml')}:`,
    '',
    ...tableLines(server.name, server.entry),
  ]
  return [showServer(server), '', ...table, ...(next.length === 0 ? [] : ['', ...next])].join('\n')
}

const showProfile = ({ name, summary, on, servers }: Profile): string =>
  `${visibleLine(name)}  ${visibleLine(summary)}${on ? '  is on' : ''}\n  ${servers.map(visibleLine).join(', ')}`

export const catalogCommands: readonly Command[] = [
  defineCommand({
    path: ['mcp', 'catalog', 'list'],
    route: `GET ${base}/catalog`,
    summary: 'MCP servers that are widely used, and whether they can run where the daemon is.',
    flags: {
      profile: { kind: 'text', value: 'name', summary: 'Those of this profile alone.' },
      'supported-only': { kind: 'switch', summary: 'Those alone that can run there.' },
    },
    run: ({ client, flags }) => {
      const query = new URLSearchParams({
        ...(typeof flags['profile'] === 'string' && { profile: flags['profile'] }),
        ...(flags['supported-only'] === true && { supported_only: 'true' }),
      }).toString()
      return client.get(`${base}/catalog${query === '' ? '' : `?${query}`}`)
    },
    answer: open({ servers: array(Server) }),
    show: ({ servers }) => (servers.length === 0 ? 'None of them can run there.' : servers.map(showServer).join('\n')),
  }),
  defineCommand({
    path: ['mcp', 'catalog', 'get'],
    route: `GET ${base}/catalog/{server}`,
    summary: 'One server of the catalogue: its table to be put into the file of the list, and what it needs.',
    args: ['server'],
    run: ({ client, args }) => client.get(`${base}/catalog/${encodeURIComponent(args['server'] ?? '')}`),
    answer: Server,
    show: showWhole,
  }),
  defineCommand({
    path: ['mcp', 'profiles', 'list'],
    route: `GET ${base}/profiles`,
    summary: 'Servers of the catalogue that go together: serve --mcp-profile NAME turns them on.',
    run: ({ client }) => client.get(`${base}/profiles`),
    answer: open({ profiles: array(Profile) }),
    show: ({ profiles }) => profiles.map(showProfile).join('\n'),
  }),
  defineCommand({
    path: ['mcp', 'profiles', 'get'],
    route: `GET ${base}/profiles/{profile}`,
    summary: 'One profile.',
    args: ['profile'],
    run: ({ client, args }) => client.get(`${base}/profiles/${encodeURIComponent(args['profile'] ?? '')}`),
    answer: Profile,
    show: showProfile,
  }),
]
