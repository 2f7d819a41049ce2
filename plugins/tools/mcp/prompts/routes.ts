import {
  array,
  boolean,
  defaulted,
  defineRoute,
  doc,
  enums,
  jsonReply,
  named,
  object,
  optional,
  record,
  string,
  type Route,
} from '../../../../core/plugin.js'
import { mcpErrors } from '../config/errors.js'
import { oauthErrors } from '../oauth/errors.js'
import type { McpServer } from '../servers/mcp-server.js'
import type { Servers } from '../servers/servers.js'
import { getPrompt, listPrompts, type PromptParts } from './prompts.js'

export interface PromptRouteParts extends Pick<PromptParts, 'redact' | 'oauth'> {
  readonly servers: Servers
}

const path = '/v1/runtime/mcp/servers/:server/prompts' as const
const params = object({ server: doc(string({ min: 1, max: 64 }), 'Name of the server on the list.') })
const { mcp_server_not_found, mcp_server_unavailable, mcp_call_refused, mcp_outcome_unknown } = mcpErrors
const problems = [
  mcp_server_not_found,
  mcp_server_unavailable,
  mcp_outcome_unknown,
  mcp_call_refused,
  oauthErrors.mcp_oauth_login_required,
] as const

const PromptView = named(
  'McpPromptView',
  object({
    name: string(),
    description: optional(string()),
    arguments: array(object({ name: string(), description: optional(string()), required: boolean() })),
  }),
)

const getServer = (servers: Servers, name: string): McpServer => {
  const server = servers.find(name)
  if (server === undefined) throw mcp_server_not_found({ details: { server: name } })
  return server
}

export const promptRoutes = ({ servers, ...parts }: PromptRouteParts): readonly Route[] => [
  defineRoute({
    id: 'mcp.prompts',
    method: 'GET',
    path,
    access: 'admin',
    summary: 'The prompts of an MCP server, asked now; what it says is data from outside.',
    params,
    query: object({ cursor: optional(doc(string({ min: 1, max: 4_096 }), 'next_cursor of the answer before.')) }),
    reply: jsonReply(object({ prompts: array(PromptView), next_cursor: optional(string()) })),
    problems,
    handler: async ({ params: { server }, query: { cursor }, signal }) => {
      const { prompts, ...rest } = await listPrompts(getServer(servers, server), cursor, { ...parts, signal })
      return { prompts: prompts.map((one) => ({ ...one, arguments: [...one.arguments] })), ...rest }
    },
  }),
  defineRoute({
    id: 'mcp.prompt',
    method: 'POST',
    path: `${path}/:prompt_name`,
    access: 'admin',
    summary: 'A prompt of an MCP server with its arguments filled in. Nothing is submitted: that is for who asked.',
    params: object({
      server: doc(string({ min: 1, max: 64 }), 'Name of the server on the list.'),
      prompt_name: doc(string({ min: 1, max: 2_000 }), 'As the server lists it.'),
    }),
    body: object({
      arguments: doc(defaulted(record(string({ max: 65_536 })), {}), 'Values of its arguments.'),
    }),
    reply: jsonReply(
      object({
        description: optional(string()),
        messages: array(object({ role: enums(['user', 'assistant']), text: string() })),
      }),
    ),
    problems,
    durability: 'C',
    example: { body: { arguments: { language: 'en' } } },
    bodyOptional: true,
    handler: async ({ params: { server, prompt_name: name }, body, signal }) => {
      const wish = { name, arguments: body.arguments }
      const { messages, ...rest } = await getPrompt(getServer(servers, server), wish, { ...parts, signal })
      return { ...rest, messages: [...messages] }
    },
  }),
]
