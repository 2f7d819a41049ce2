/** What is shown of the catalogue: whether a server can run here, what it needs, and its table. */
import { delimiter, join } from 'node:path'
import {
  array,
  boolean,
  childEnvironment,
  doc,
  enums,
  isThere,
  jsonObject,
  named,
  object,
  optional,
  string,
  type Infer,
  type JsonObject,
  type List,
  type PassedEnvironment,
} from '../../../../core/plugin.js'
import type { ServerEntry } from '../config/entry.js'
import { mcpErrors } from '../config/errors.js'
import { catalog, profiles, type CatalogServer, type Profile, type ProfileName } from './catalog.js'

export const CatalogServerView = named(
  'McpCatalogServer',
  object({
    name: string(),
    summary: doc(string(), 'One line for people.'),
    transport: enums(['stdio', 'http']),
    profiles: doc(array(string()), 'Profiles that it is in.'),
    supported: doc(boolean(), 'True if it can run here: its program is found, or it is asked over HTTP.'),
    problem: optional(doc(string(), 'Why it cannot run here.')),
    listed: doc(boolean(), 'True if a server of its name is on the list.'),
    file: doc(string(), 'The file of the list: a path, or `config/mcp.toml` of the state root.'),
    secret_ref: optional(doc(string(), 'The secret that it needs.')),
    secret: optional(doc(string(), 'What that secret is.')),
    oauth_slot_ref: optional(doc(string(), 'The account that it needs: a person logs in.')),
    entry: doc(jsonObject(), 'Its table, as it would stand in the list.'),
  }),
)
export type CatalogServerView = Infer<typeof CatalogServerView>

export const ProfileView = named(
  'McpProfile',
  object({
    name: string(),
    summary: doc(string(), 'One line for people.'),
    on: doc(boolean(), 'True if the daemon was started with it.'),
    servers: array(string()),
  }),
)
export type ProfileView = Infer<typeof ProfileView>

export interface CatalogParts {
  readonly list: Pick<List<ServerEntry>, 'all' | 'source'>
  readonly on: readonly ProfileName[]
  readonly redact: PassedEnvironment['redact']
}

const textIn = (entry: JsonObject, member: string): string | undefined => {
  const value = entry[member]
  return typeof value === 'string' ? value : undefined
}

/** Programs are looked for where a server would be started from. */
const isInstalled = (command: string, redact: PassedEnvironment['redact']): boolean =>
  (childEnvironment({ pass: [], redact })['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && isThere(join(folder, command)))

export const viewCatalogServer = ({ list, redact }: CatalogParts, server: CatalogServer): CatalogServerView => {
  const { name, summary, entry, secret } = server
  const command = textIn(entry, 'command')
  const secret_ref = textIn(entry, 'bearer_token_secret_ref')
  const oauth_slot_ref = textIn(entry, 'oauth_slot_ref')
  const supported = command === undefined || isInstalled(command, redact)
  return {
    name,
    summary,
    transport: command === undefined ? 'http' : 'stdio',
    profiles: profiles.filter(({ servers }) => servers.includes(name)).map((profile) => profile.name),
    supported,
    ...(!supported && { problem: `The program ${command} is not found.` }),
    listed: list.all().has(name),
    file: list.source,
    ...(secret_ref !== undefined && { secret_ref }),
    ...(secret !== undefined && { secret }),
    ...(oauth_slot_ref !== undefined && { oauth_slot_ref }),
    entry,
  }
}

export const viewProfile = ({ on }: Pick<CatalogParts, 'on'>, { name, summary, servers }: Profile): ProfileView => ({
  name,
  summary,
  on: on.includes(name),
  servers: [...servers],
})

/** Throws `mcp_profile_unknown`. */
export const getProfile = (name: string, path: string): Profile => {
  const found = profiles.find((profile) => profile.name === name)
  if (found !== undefined) return found
  throw mcpErrors.mcp_profile_unknown({
    details: { profile: name },
    errors: [{ path, rule: `must be one of ${profiles.map((one) => one.name).join(', ')}` }],
  })
}

/** Throws `mcp_catalog_server_unknown`. */
export const getCatalogServer = (name: string): CatalogServer => {
  const found = catalog.find((server) => server.name === name)
  if (found === undefined) throw mcpErrors.mcp_catalog_server_unknown({ details: { server: name } })
  return found
}
