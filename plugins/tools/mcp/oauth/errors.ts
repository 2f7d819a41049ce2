import { defineErrors } from '../../../../core/plugin.js'

export const oauthErrors = defineErrors({
  mcp_oauth_unknown: {
    status: 404,
    domain: 'mcp',
    detail: 'There is no MCP server {server} that is asked with an account; the list is {file}.',
    action: 'Set url and oauth_slot_ref of the server there.',
  },
  mcp_oauth_login_required: {
    status: 409,
    domain: 'mcp',
    detail: 'The MCP server {server} needs a login: {reason}.',
    action: 'Log in with POST /v1/runtime/mcp/oauth/{server}/login.',
  },
  mcp_oauth_login_unknown: {
    status: 400,
    domain: 'mcp',
    detail: 'No such login is under way: it was used, a later one or a logout ended it, or its ten minutes are over.',
    action: 'Begin another one with POST /v1/runtime/mcp/oauth/{server}/login.',
  },
  mcp_oauth_client_incomplete: {
    status: 400,
    domain: 'mcp',
    detail: 'client_secret_ref names the secret of a client, and there is no client_id that says of which.',
    action: 'Give client_id too, or neither: then the daemon registers a client.',
  },
  mcp_oauth_login_refused: {
    status: 409,
    domain: 'mcp',
    detail: 'The login at the MCP server {server} failed: {reason}. What was stored before is unchanged.',
    action: 'Begin another one with POST /v1/runtime/mcp/oauth/{server}/login.',
  },
  mcp_oauth_failed: {
    status: 502,
    domain: 'mcp',
    detail: 'The authorization of the MCP server {server} cannot be asked: {reason}.',
    action:
      'See what the sentence says; url, oauth_resource, oauth_scopes and allow_cidrs stand in the table of the server.',
  },
})
