/** What flags say of MCP servers. */
import { array, defaulted, doc, enums, object, optional, string, type Infer } from '../../../../core/plugin.js'
import { profileNames } from './catalog.js'

export const config = object({
  mcp_config: doc(
    optional(string({ min: 1, max: 4_096 })),
    'File of MCP servers that is read in place of config/mcp.toml.',
  ),
  mcp_credentials: doc(
    optional(string({ min: 1, max: 4_096 })),
    'File of secrets that servers refer to and that are not stored, as KEY = "value".',
  ),
  mcp_discovery: doc(
    defaulted(enums(['auto', 'off']), 'auto'),
    'Whether servers that .mcp.json of the workspace names are shown; none is ever started by that.',
  ),
  mcp_profile: doc(
    defaulted(array(enums(profileNames)), []),
    'Profiles of the catalogue of MCP servers whose servers are there without a table of their own.',
  ),
})
/** The value form of `config`. */
export type Config = Infer<typeof config>

export const flags = {
  mcp_config: 'mcp-config',
  mcp_credentials: 'mcp-credentials',
  mcp_discovery: 'mcp-discovery',
  mcp_profile: 'mcp-profile',
} as const
