import {
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
    answer: open({ name: string(), file: optional(string()), entry: jsonObject(), problem: optional(string()) }),
    show: ({ name, file = 'config/mcp.toml', entry, problem }) =>
      [
        `Read what it would start before you put it into ${visibleLine(file)}:`,
        '',
        ...tableLines(name, entry),
        ...(problem === undefined ? [] : ['', `It would not be taken as it is: ${visibleLine(problem)}`]),
      ].join('\n'),
  }),
]
