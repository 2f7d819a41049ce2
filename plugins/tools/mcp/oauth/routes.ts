import {
  array,
  boolean,
  defaulted,
  defineRoute,
  doc,
  integer,
  jsonReply,
  literal,
  object,
  open,
  optional,
  string,
  textReply,
  timestamp,
  type Route,
} from '../../../../core/plugin.js'
import { secretErrors } from '../../../operator/secrets/contract.js'
import { oauthErrors } from './errors.js'
import { callbackPath, type Oauth } from './oauth.js'
import { OauthView } from './views.js'

const base = '/v1/runtime/mcp/oauth'
const path = `${base}/:server` as const
const params = object({ server: doc(string({ min: 1, max: 64 }), 'Name of the server on the list.') })
const unknown = oauthErrors.mcp_oauth_unknown
const stored = [secretErrors.secrets_full, secretErrors.secrets_key_unusable] as const
const finishing = [
  oauthErrors.mcp_oauth_login_unknown,
  oauthErrors.mcp_oauth_login_refused,
  oauthErrors.mcp_oauth_failed,
  ...stored,
] as const

const text = (max: number) => optional(string({ min: 1, max }))

/** What a browser brings back; authorization servers add what they like. */
const Redirect = open({
  state: doc(string({ min: 1, max: 200 }), 'Of the login.'),
  code: text(4_096),
  iss: text(2_048),
  error: text(200),
})

export const oauthRoutes = (oauth: Oauth): readonly Route[] => [
  ...reads(oauth),
  begin(oauth),
  finish(oauth),
  callback(oauth),
  refresh(oauth),
  logout(oauth),
]

const reads = (oauth: Oauth): readonly Route[] => [
  defineRoute({
    id: 'mcp_oauth.list',
    method: 'GET',
    path: base,
    summary: 'MCP servers that are asked with an account, and whether somebody is logged in.',
    access: 'admin',
    reply: jsonReply(array(OauthView)),
    handler: () => [...oauth.list()],
  }),
  defineRoute({
    id: 'mcp_oauth.get',
    method: 'GET',
    path,
    summary: 'One MCP server that is asked with an account, and whether somebody is logged in.',
    access: 'admin',
    params,
    query: object({
      wait_ms: defaulted(
        doc(
          integer({ min: 0, max: 60_000 }),
          'How long the answer may wait for a login that is pending. Milliseconds.',
        ),
        0,
      ),
    }),
    reply: jsonReply(OauthView),
    problems: [unknown],
    handler: async ({ params: { server }, query: { wait_ms }, signal }) => {
      oauth.get(server)
      await oauth.loginOver(server, { wait_ms, signal })
      return oauth.view(oauth.get(server))
    },
  }),
]

const begin = (oauth: Oauth): Route =>
  defineRoute({
    id: 'mcp_oauth.login',
    method: 'POST',
    path: `${path}/login`,
    summary: 'Begins a login: an address to open in a browser, which is sent back here. The earlier one is over.',
    access: 'admin',
    params,
    body: object({
      client_id: optional(doc(string({ min: 1, max: 2_048 }), 'Of a client that was registered by hand.')),
      client_secret_ref: optional(doc(string({ min: 1, max: 200 }), 'The secret that holds the secret of the client.')),
    }),
    bodyOptional: true,
    reply: jsonReply(
      object({
        server: string(),
        authorization_url: doc(string(), 'To open in a browser.'),
        redirect_uri: doc(string(), 'Where the browser is sent back to.'),
        expires_at_ms: timestamp(),
      }),
    ),
    problems: [
      unknown,
      oauthErrors.mcp_oauth_client_incomplete,
      oauthErrors.mcp_oauth_login_refused,
      oauthErrors.mcp_oauth_failed,
      secretErrors.secret_not_found,
      secretErrors.secret_revoked,
      secretErrors.secret_unreadable,
      secretErrors.secret_without_value,
    ],
    durability: 'C',
    example: { body: { client_id: 'holdfast' } },
    handler: ({ params: { server }, body }) => oauth.logins.begin(oauth.get(server), body),
  })

const finish = (oauth: Oauth): Route =>
  defineRoute({
    id: 'mcp_oauth.finish',
    method: 'POST',
    path: `${path}/finish`,
    summary: 'Finishes a login with the address that the browser ended at, where it could not reach the daemon.',
    access: 'admin',
    params,
    body: object({ address: doc(string({ min: 1, max: 8_192 }), 'The whole address, with its code and state.') }),
    reply: jsonReply(OauthView),
    problems: [unknown, ...finishing],
    durability: 'A',
    example: { body: { address: 'http://127.0.0.1:4000/v1/mcp/oauth/callback?code=…&state=…' } },
    handler: async ({ params: { server }, body }) => {
      const { name } = oauth.get(server)
      const query = URL.canParse(body.address) ? new URL(body.address).searchParams : new URLSearchParams()
      const [state, code, iss, error] = ['state', 'code', 'iss', 'error'].map((key) => query.get(key) ?? undefined)
      return oauth.view(await oauth.logins.finish({ state: state ?? '', code, iss, error }, name))
    },
  })

const callback = (oauth: Oauth): Route =>
  defineRoute({
    id: 'mcp_oauth.callback',
    method: 'GET',
    path: callbackPath,
    summary: 'Where a browser is sent back to after a login. The state of the login is the check.',
    access: 'public',
    query: Redirect,
    reply: textReply(),
    problems: [unknown, ...finishing],
    handler: async ({ query }) => {
      const { name } = await oauth.logins.finish(query)
      return `The login at the MCP server ${name} is done. This window can be closed.\n`
    },
  })

const refresh = (oauth: Oauth): Route =>
  defineRoute({
    id: 'mcp_oauth.refresh',
    method: 'POST',
    path: `${path}/refresh`,
    summary: 'Gets new tokens for the account of an MCP server now.',
    access: 'admin',
    params,
    reply: jsonReply(OauthView),
    problems: [unknown, oauthErrors.mcp_oauth_login_required, oauthErrors.mcp_oauth_failed, ...stored],
    durability: 'A',
    handler: (input) => oauth.refresh(oauth.get(input.params.server)),
  })

const logout = (oauth: Oauth): Route =>
  defineRoute({
    id: 'mcp_oauth.logout',
    method: 'POST',
    path: `${path}/logout`,
    summary: 'Forgets the tokens of an MCP server, and has the authorization server take them back.',
    access: 'admin',
    params,
    reply: jsonReply(
      object({
        server: string(),
        logged_out: literal(true),
        told_server: doc(boolean(), 'The authorization server took the tokens back.'),
        reason: optional(doc(string(), 'Why it did not.')),
      }),
    ),
    problems: [unknown, secretErrors.secrets_key_unusable],
    durability: 'A',
    handler: (input) => oauth.logout(oauth.get(input.params.server)),
  })
