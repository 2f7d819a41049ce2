import {
  array,
  boolean,
  defaulted,
  defineRoute,
  doc,
  enums,
  json,
  jsonObject,
  jsonReply,
  named,
  object,
  optional,
  string,
  visibleLine,
  type Route,
} from '../../../core/plugin.js'
import { sessionErrors } from '../../execution/sessions/contract.js'
import { mcpErrors } from './config/errors.js'
import { lookForServers, type FoundParts } from './found/found.js'
import { oauthErrors } from './oauth/errors.js'
import { callAsOperator, getTool, type OperatorParts } from './operator-call.js'
import type { ForeignTool } from './tools/foreign-tool.js'
import { promptRoutes, type PromptRouteParts } from './prompts/routes.js'
import { McpServerView, viewServer, type ShownParts } from './status.js'

const base = '/v1/runtime/mcp'

const toolFields = {
  name: doc(string(), 'As models call it.'),
  server: string(),
  tool: doc(string(), 'As its server names it.'),
  description: string(),
  effect: doc(enums(['read', 'idempotent', 'once']), 'What a repetition would do.'),
}
const McpToolView = named('McpToolView', object(toolFields))
const McpToolDetail = named(
  'McpToolDetail',
  object({ ...toolFields, input_schema: doc(json(), 'What it takes, as its server says it: a JSON Schema.') }),
)

const viewTool = ({ name, origin, description, effect }: ForeignTool) => ({
  name,
  server: origin?.server ?? '',
  tool: origin?.tool ?? '',
  description,
  effect,
})

const { mcp_tool_name_empty, mcp_tool_not_found, mcp_input_invalid } = mcpErrors

/** Servers that a refusal names. */
const mostNamed = 20

/** Of a server that is not there nothing is listed: that would look like one without tools. */
const toolsOf = ({ servers, published }: ShownParts, wished: string | undefined): readonly ForeignTool[] => {
  if (wished === undefined) return published.all()
  const names = servers.all().map(({ name }) => name)
  if (names.includes(wished)) return published.of(wished).tools
  const more = names.length > mostNamed ? ' and others' : ''
  const rule =
    names.length === 0
      ? 'must be absent: there is no server'
      : `must be one of ${names.slice(0, mostNamed).join(', ')}${more}`
  throw mcpErrors.mcp_server_unknown({
    details: { server: visibleLine(wished) },
    errors: [{ path: 'query.server', rule }],
  })
}

const params = object({ tool_name: doc(string({ max: 400 }), 'As models call it.') })

interface ReadParts extends FoundParts {
  readonly redact: (text: string) => string
}

export const mcpRoutes = (parts: ShownParts & ReadParts & OperatorParts & PromptRouteParts): readonly Route[] => [
  ...reads(parts),
  ...promptRoutes(parts),
  call(parts),
]

const reads = (parts: ShownParts & ReadParts): readonly Route[] => [
  defineRoute({
    id: 'mcp.servers',
    method: 'GET',
    path: `${base}/servers`,
    access: 'read',
    summary: 'The MCP servers of the list that are enabled, and how they are.',
    reply: jsonReply(
      object({
        file: doc(string(), 'The file of the list: a path, or `config/mcp.toml` of the state root.'),
        servers: array(McpServerView),
        found: doc(array(string()), 'Servers that .mcp.json of the workspace names: none of them is started.'),
        found_problem: optional(doc(string(), 'Why that file cannot be read.')),
        credentials_problem: optional(doc(string(), 'Why the file of credentials cannot be used.')),
      }),
    ),
    handler: async () => {
      const { servers: found, problem } = await lookForServers(parts)
      const fault = parts.credentials.fault()
      return {
        file: parts.file,
        servers: parts.servers.all().map((server) => viewServer(parts, server)),
        found: found.map(({ name }) => visibleLine(parts.redact(name))),
        ...(problem !== undefined && { found_problem: problem }),
        ...(fault !== undefined && { credentials_problem: fault }),
      }
    },
  }),
  defineRoute({
    id: 'mcp.tools',
    method: 'GET',
    path: `${base}/tools`,
    access: 'read',
    summary: 'The tools of MCP servers that models may see.',
    query: object({ server: optional(doc(string({ max: 64 }), 'Those of this server alone.')) }),
    reply: jsonReply(object({ tools: array(McpToolView) })),
    problems: [mcpErrors.mcp_server_unknown],
    handler: ({ query: { server } }) => ({ tools: toolsOf(parts, server).map(viewTool) }),
  }),
  defineRoute({
    id: 'mcp.tool',
    method: 'GET',
    path: `${base}/tools/:tool_name`,
    access: 'read',
    summary: 'One tool of an MCP server, and what it takes.',
    params,
    reply: jsonReply(McpToolDetail),
    problems: [mcp_tool_name_empty, mcp_tool_not_found],
    handler: ({ params: { tool_name } }) => {
      const tool = getTool(parts.published, tool_name)
      return { ...viewTool(tool), input_schema: tool.input_schema }
    },
  }),
]

const call = (parts: OperatorParts): Route =>
  defineRoute({
    id: 'mcp.call',
    method: 'POST',
    path: `${base}/tools/:tool_name/call`,
    access: 'admin',
    summary: 'Calls a tool of an MCP server. Permission rules are not asked: the operator is who they ask.',
    params,
    body: object({
      input: doc(defaulted(jsonObject(), {}), 'What the tool is to be given.'),
      session_id: optional(doc(string({ min: 1, max: 200 }), 'The session whose ledger has the call.')),
    }),
    reply: jsonReply(
      object({
        tool_name: string(),
        output: object({
          output: json(),
          is_error: doc(boolean(), 'True if the tool says that it failed.'),
          context_updates: array(json()),
          hook_contexts: array(json()),
        }),
      }),
    ),
    problems: [
      mcp_tool_name_empty,
      mcp_tool_not_found,
      mcp_input_invalid,
      mcpErrors.mcp_server_unavailable,
      mcpErrors.mcp_call_refused,
      mcpErrors.mcp_outcome_unknown,
      oauthErrors.mcp_oauth_login_required,
      sessionErrors.session_not_found,
    ],
    durability: 'A',
    example: { body: { input: { path: '/tmp' } } },
    handler: async ({ params: { tool_name }, body: { input, session_id } }) => ({
      tool_name: tool_name.trim(),
      output: {
        ...(await callAsOperator(parts, { tool_name, input, session_id })),
        context_updates: [],
        hook_contexts: [],
      },
    }),
  })
