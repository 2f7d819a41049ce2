import {
  array,
  defineRoute,
  doc,
  jsonObject,
  jsonReply,
  named,
  object,
  optional,
  string,
  visibleLine,
  type Route,
} from '../../../../core/plugin.js'
import { mcpErrors } from '../config/errors.js'
import { lookForServers, type FoundParts } from './found.js'

const FoundServerView = named(
  'McpFoundServer',
  object({
    name: string(),
    file: doc(string(), 'The file of the list: a path, or `config/mcp.toml` of the state root.'),
    entry: doc(
      jsonObject(),
      'What the file says of it, as its table would stand in the list: variables and headers that may be secrets are ' +
        'named as such, and their values are not told.',
    ),
    secret_refs: doc(array(string()), 'Secrets that the table refers to, to be stored first.'),
    problem: optional(doc(string(), 'Why the list would not take it as it is.')),
  }),
)

export const foundRoute = (parts: FoundParts): Route =>
  defineRoute({
    id: 'mcp.found',
    method: 'GET',
    path: '/v1/runtime/mcp/found/:server',
    access: 'admin',
    summary: 'A server that .mcp.json of the workspace names and that is not on the list. Nothing of it is started.',
    params: object({ server: doc(string({ min: 1, max: 200 }), 'Its name in the file.') }),
    reply: jsonReply(FoundServerView),
    problems: [mcpErrors.mcp_found_unknown],
    handler: async ({ params: { server } }) => {
      const found = (await lookForServers(parts)).servers.find(({ name }) => name === server)
      if (found === undefined) throw mcpErrors.mcp_found_unknown({ details: { server: visibleLine(server) } })
      const { is_cut: _, ...shown } = found
      return { ...shown, secret_refs: [...found.secret_refs], file: parts.list.source }
    },
  })
