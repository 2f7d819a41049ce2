import {
  array,
  commandLine,
  defineCommand,
  jsonObject,
  open,
  optional,
  string,
  visibleLine,
  type Command,
} from '../../../../core/plugin.js'
import { tableLines } from '../catalog/table-text.js'

const base = '/v1/runtime/mcp/found'

export const foundCommands: readonly Command[] = [
  defineCommand({
    path: ['mcp', 'found'],
    route: `GET ${base}/{server}`,
    summary:
      'A server that .mcp.json of the workspace names: its table, for who wants it on the list. It is not started.',
    args: ['server'],
    run: ({ client, args }) => client.get(`${base}/${encodeURIComponent(args['server'] ?? '')}`),
    answer: open({
      name: string(),
      file: optional(string()),
      entry: jsonObject(),
      secret_refs: optional(array(string())),
      problem: optional(string()),
    }),
    show: ({ name, file = 'config/mcp.toml', entry, secret_refs = [], problem }) =>
      [
        `Read what it would start before you put it into ${visibleLine(file)}:`,
        '',
        ...tableLines(name, entry),
        ...(secret_refs.length === 0 ? [] : ['', 'Store what .mcp.json has there, each whole value:']),
        ...secret_refs.map((ref) => `  ${commandLine('secrets set --stdin', ref)}`),
        ...(problem === undefined ? [] : ['', `It would not be taken as it is: ${visibleLine(problem)}`]),
      ].join('\n'),
  }),
]
