import {
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
    entry: doc(jsonObject(), 'What the file says of it, as its table would stand in the list.'),
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
      return { ...found, file: parts.list.source }
    },
  })
