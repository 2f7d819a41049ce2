import { defineErrors } from '../../../../core/plugin.js'

export const mcpErrors = defineErrors({
  mcp_tool_name_empty: {
    status: 400,
    domain: 'mcp',
    detail: 'The name of the tool is empty.',
    action: 'Name a tool of GET /v1/runtime/mcp/tools.',
  },
  mcp_tool_not_found: {
    status: 404,
    domain: 'mcp',
    detail: 'No MCP server has a tool {name}.',
    action: 'List the tools with GET /v1/runtime/mcp/tools.',
  },
  mcp_input_invalid: {
    status: 400,
    domain: 'mcp',
    detail: 'The input does not fit the tool {name}.',
    action: 'Correct what is named; GET /v1/runtime/mcp/tools/{name} shows what the tool takes.',
  },
  mcp_server_unknown: {
    status: 404,
    domain: 'mcp',
    detail: 'There is no MCP server {server} that is enabled.',
    action: 'Name one of GET /v1/runtime/mcp/servers.',
  },
  mcp_catalog_server_unknown: {
    status: 404,
    domain: 'mcp',
    detail: 'The catalogue of MCP servers has no {server}.',
    action: 'Name one of GET /v1/runtime/mcp/catalog, or write the table of another server yourself.',
  },
  mcp_found_unknown: {
    status: 404,
    domain: 'mcp',
    detail: '.mcp.json of the workspace names no server {server} that is not on the list.',
    action: 'Name one of `found` of GET /v1/runtime/mcp/servers.',
  },
  mcp_profile_unknown: {
    status: 404,
    domain: 'mcp',
    detail: 'There is no profile {profile} of MCP servers.',
    action: 'Name one of GET /v1/runtime/mcp/profiles.',
  },
  mcp_slot_is_account: {
    status: 409,
    domain: 'mcp',
    detail: 'The slot {slot} is the account that the MCP server {server} is asked with.',
    action: 'Log in: holdfast mcp oauth login {server}',
  },
  mcp_server_not_found: {
    status: 404,
    domain: 'mcp',
    detail: 'There is no MCP server {server}, or it may not be used here.',
    action: 'Name one of GET /v1/runtime/mcp/servers; as a model, one that list_mcp_resources names.',
  },
  mcp_server_unavailable: {
    status: 503,
    domain: 'mcp',
    detail: 'The MCP server {server} could not be asked, so the call was not made: {reason}.',
    action: 'See what the reason says; try again later, or go on without it.',
  },
  mcp_call_refused: {
    status: 502,
    domain: 'mcp',
    detail: 'The MCP server refused the call: {reason}.',
    action: 'Correct the call if the reason says how.',
  },
  mcp_outcome_unknown: {
    status: 502,
    domain: 'mcp',
    detail: 'The MCP server {server} did not answer to the end, so nobody can tell what came of this call: {reason}.',
    action: 'Check what it did before you try again.',
  },
  mcp_value_missing: {
    status: 409,
    domain: 'mcp',
    detail: '{what} is not there.',
    action: 'Set what is named; the server is connected then.',
  },
  mcp_header_unusable: {
    status: 409,
    domain: 'mcp',
    detail: 'The header {name} cannot be sent: its value has signs that no header may have, such as a line end.',
    action: 'Correct the variable or the secret that it is made of; the server is connected then.',
  },
  mcp_connection_failed: {
    status: 502,
    domain: 'mcp',
    detail: '{reason}',
    action: 'See the log for what the server wrote, and its table.',
  },
})
