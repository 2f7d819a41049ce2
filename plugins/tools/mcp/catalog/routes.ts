import {
  array,
  boolean,
  defineRoute,
  doc,
  jsonReply,
  object,
  optional,
  string,
  visibleLine,
  type Route,
} from '../../../../core/plugin.js'
import { mcpErrors } from '../config/errors.js'
import { catalog, profiles } from './catalog.js'
import {
  CatalogServerView,
  getCatalogServer,
  getProfile,
  ProfileView,
  viewCatalogServer,
  viewProfile,
  type CatalogParts,
} from './views.js'

const base = '/v1/runtime/mcp'
const nameOf = () => string({ min: 1, max: 64 })

export const catalogRoutes = (parts: CatalogParts): readonly Route[] => [
  defineRoute({
    id: 'mcp.catalog.list',
    method: 'GET',
    path: `${base}/catalog`,
    access: 'read',
    summary: 'MCP servers that are widely used, and whether they can run here. None of them is on the list by that.',
    query: object({
      profile: optional(doc(nameOf(), 'Those of this profile alone.')),
      supported_only: optional(doc(boolean(), 'Those alone that can run here.')),
    }),
    reply: jsonReply(object({ servers: array(CatalogServerView) })),
    problems: [mcpErrors.mcp_profile_unknown],
    handler: ({ query: { profile, supported_only = false } }) => {
      const names = profile === undefined ? undefined : getProfile(visibleLine(profile), 'query.profile').servers
      const servers = catalog.filter(({ name }) => names?.includes(name) !== false)
      return {
        servers: servers
          .map((server) => viewCatalogServer(parts, server))
          .filter(({ supported }) => supported || !supported_only),
      }
    },
  }),
  defineRoute({
    id: 'mcp.catalog.get',
    method: 'GET',
    path: `${base}/catalog/:server`,
    access: 'read',
    summary: 'One server of the catalogue, with its table for the list.',
    params: object({ server: doc(nameOf(), 'Its name in the catalogue.') }),
    reply: jsonReply(CatalogServerView),
    problems: [mcpErrors.mcp_catalog_server_unknown],
    handler: ({ params: { server } }) => viewCatalogServer(parts, getCatalogServer(visibleLine(server))),
  }),
  defineRoute({
    id: 'mcp.profiles.list',
    method: 'GET',
    path: `${base}/profiles`,
    access: 'read',
    summary: 'Servers of the catalogue that go together, and which of these the daemon was started with.',
    reply: jsonReply(object({ profiles: array(ProfileView) })),
    handler: () => ({ profiles: profiles.map((profile) => viewProfile(parts, profile)) }),
  }),
  defineRoute({
    id: 'mcp.profiles.get',
    method: 'GET',
    path: `${base}/profiles/:profile`,
    access: 'read',
    summary: 'One profile.',
    params: object({ profile: doc(nameOf(), 'Its name.') }),
    reply: jsonReply(ProfileView),
    problems: [mcpErrors.mcp_profile_unknown],
    handler: ({ params: { profile } }) => viewProfile(parts, getProfile(visibleLine(profile), 'path.profile')),
  }),
]
