/** MCP servers from the command line. */
import {
  array,
  boolean,
  commandLine,
  defineCommand,
  integer,
  json,
  ofFile,
  open,
  optional,
  sentence,
  showWrong,
  string,
  visible,
  visibleLine,
  withWrong,
  wrongField,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
  withMembers,
} from '../../../core/plugin.js'
import { catalogCommands } from './catalog/commands.js'
import { foundCommands } from './found/commands.js'
import { oauthCommands } from './oauth/commands.js'
import { promptCommands } from './prompts/commands.js'
import { slotCommands } from './slot-commands.js'

const base = '/v1/runtime/mcp'

const Servers = open({
  file: optional(string()),
  servers: array(
    open({
      name: string(),
      transport: string(),
      state: string(),
      tool_count: integer(),
      profile: optional(string()),
      problem: optional(string()),
    }),
  ),
  found: optional(array(string())),
  found_problem: optional(string()),
  wrong: wrongField,
})
const Tools = open({ tools: array(open({ name: string(), effect: string(), description: string() })) })
const Tool = open({ name: string(), effect: string(), description: string(), input_schema: json() })
const Called = open({ output: open({ output: json(), is_error: boolean() }) })

type Server = Infer<typeof Servers>['servers'][number]

const showServer = ({ name, transport, state, tool_count, profile, problem }: Server): string =>
  [
    `${visibleLine(name)}  ${transport}  ${state}  ${tool_count} tools` +
      (profile === undefined ? '' : `  (${visibleLine(profile)})`),
    ...(problem === undefined ? [] : [`  ${visibleLine(problem)}`]),
  ].join('\n')

/** A name is shown with its odd signs as `\\u001b`, and without secrets: by what is shown it is not found. */
const isShownWhole = (name: string): boolean => name !== '' && name.length <= 200 && !/\\|redacted[\]>]/u.test(name)
const wayTo = (name: string): string =>
  isShownWhole(name) ? `: ${commandLine('mcp found', name)}` : '; by such a name it cannot be asked for'

const showServers = ({
  file = 'config/mcp.toml',
  servers,
  found = [],
  found_problem,
  wrong,
}: Infer<typeof Servers>): string =>
  [
    ...showWrong(
      servers.map(showServer),
      `No MCP servers. Name one in ${visibleLine(file)}, or see holdfast mcp catalog list.`,
      wrong,
    ),
    ...found.map((name) => `${visibleLine(name)}  found in .mcp.json, not started${wayTo(name)}`),
    ...(found_problem === undefined ? [] : [sentence(visibleLine(found_problem))]),
  ].join('\n')

const shortest = (text: string): string => {
  const line = visibleLine(text.split('\n')[0] ?? '')
  return line.length > 100 ? `${line.slice(0, 99)}…` : line
}

const showTools = ({ tools }: Infer<typeof Tools>): string =>
  tools.length === 0
    ? 'No tools of MCP servers.'
    : tools
        .map(({ name, effect, description }) => `${visibleLine(name)}  ${effect}  ${shortest(description)}`)
        .join('\n')

const showCalled = ({ output: { output, is_error } }: Infer<typeof Called>): string => {
  const said: unknown = typeof output === 'object' && output !== null ? Reflect.get(output, 'text') : undefined
  const text = typeof said === 'string' ? visible(said) : visible(JSON.stringify(output, undefined, 2))
  return is_error ? `The tool says that it failed:\n${text}` : text
}

const inputOf = async ({ json }: CommandInput): Promise<Json> => withMembers(await json('input-json'), {})

/** Beside the tools it is a word of their group, for who looks for it there. */
const callCommand = (path: readonly string[]): Command =>
  defineCommand({
    path,
    route: `POST ${base}/tools/{tool_name}/call`,
    summary: 'Calls a tool of an MCP server.',
    args: ['tool_name'],
    flags: {
      'input-json': { kind: 'text', value: 'json', summary: 'What the tool is to be given; {} when absent.' },
      file: { kind: 'text', value: 'file', summary: 'Read the input from this file.' },
      stdin: { kind: 'switch', summary: 'Read the input from standard input.' },
      session: { kind: 'text', value: 'session_id', summary: 'The session whose ledger has the call.' },
    },
    fields: { 'body.input.*': ['--input-json', '--file', '--stdin'], 'body.session_id': '--session' },
    async run(input) {
      const { client, args, flags } = input
      return client.send('POST', `${base}/tools/${encodeURIComponent(args['tool_name'] ?? '')}/call`, {
        input: await inputOf(input),
        ...(typeof flags['session'] === 'string' && { session_id: flags['session'] }),
      })
    },
    answer: Called,
    show: showCalled,
    status: ({ output: { is_error } }) => (is_error ? 1 : 0),
  })

export const commands: readonly Command[] = [
  ...oauthCommands,
  ...promptCommands,
  ...catalogCommands,
  ...slotCommands,
  ...foundCommands,
  defineCommand({
    path: ['mcp', 'list'],
    route: `GET ${base}/servers`,
    summary: 'MCP servers, and how they are.',
    run: async (input) => withWrong(input, ofFile('mcp'), await input.client.get(`${base}/servers`)),
    answer: Servers,
    show: showServers,
  }),
  defineCommand({
    path: ['mcp', 'tools'],
    route: `GET ${base}/tools`,
    summary: 'Tools of MCP servers.',
    flags: { server: { kind: 'text', value: 'name', summary: 'Those of this server alone.' } },
    run: ({ client, flags }) =>
      client.get(
        typeof flags['server'] === 'string'
          ? `${base}/tools?server=${encodeURIComponent(flags['server'])}`
          : `${base}/tools`,
      ),
    answer: Tools,
    show: showTools,
  }),
  defineCommand({
    path: ['mcp', 'tool'],
    route: `GET ${base}/tools/{tool_name}`,
    summary: 'A tool of an MCP server, and what it takes.',
    args: ['tool_name'],
    run: ({ client, args }) => client.get(`${base}/tools/${encodeURIComponent(args['tool_name'] ?? '')}`),
    answer: Tool,
    show: ({ name, effect, description, input_schema }) =>
      [
        `${visibleLine(name)}  ${effect}`,
        visible(description),
        visible(JSON.stringify(input_schema, undefined, 2)),
      ].join('\n'),
  }),
  callCommand(['mcp', 'call']),
  callCommand(['mcp', 'tools', 'call']),
]
