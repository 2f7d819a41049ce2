/** What the operator is told of the file of credentials. */
import { sentence, shellWord, visibleLine, type Warning } from '../../../../core/plugin.js'
import type { Credentials } from './credentials.js'

const unusable = (credentials: Credentials): Warning[] => {
  const fault = credentials.fault()
  if (fault === undefined) return []
  return [
    {
      severity: 'warning',
      code: 'mcp_credentials_unusable',
      message: `${sentence(fault)} Servers get nothing of the file that --mcp-credentials names.`,
      action: 'Correct the file that --mcp-credentials names: it is read whenever a server is connected.',
    },
  ]
}

const exposed = (credentials: Credentials): Warning[] => {
  const file = credentials.exposed()
  if (file === undefined) return []
  return [
    {
      severity: 'warning',
      code: 'mcp_credentials_exposed',
      message: sentence(`Others than its owner may read or change ${file}, which --mcp-credentials names`),
      action: `Leave it to its owner: chmod 600 ${visibleLine(shellWord(file))}`,
    },
  ]
}

export const credentialWarnings = (credentials: Credentials): Warning[] => [
  ...unusable(credentials),
  ...exposed(credentials),
]
