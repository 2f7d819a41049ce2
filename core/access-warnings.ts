/** Core's own warnings about who may call. */
import type { Warning } from './base/health.js'
import type { ControlPlaneReport, TokenFileReport } from './host/contract.js'

/** Shorter tokens can be guessed by who may try for long. */
const shortestToken = 16

const fileWarning = ({ role, path, readable }: TokenFileReport): Warning => ({
  severity: 'error',
  code: 'control_plane_token_file_unreadable',
  message:
    `The ${role === 'admin' ? 'admin' : 'read-only'} token file ${path} ${readable ? 'is empty' : 'cannot be read'}, ` +
    (role === 'admin' ? 'so nobody can call as admin.' : 'so nobody can call with this token.'),
  related_id: path,
  action: 'Put the token into the file; it is read again on each request.',
})

const duplicate: Warning = {
  severity: 'error',
  code: 'control_plane_duplicate_token',
  message: 'The admin token and the read-only token are equal, so every token is refused.',
  action: 'Give two different tokens, such as two of these: openssl rand -hex 32',
}
const exposed: Warning = {
  severity: 'warning',
  code: 'control_plane_exposed_without_auth',
  message: 'Other machines can call this daemon without a token.',
  action: 'Give an admin token or bind a loopback address.',
}
const short: Warning = {
  severity: 'warning',
  code: 'control_plane_short_token',
  message: `Other machines can reach this daemon, and one of its tokens has fewer than ${shortestToken} characters.`,
  action: 'Take tokens that cannot be guessed, such as: openssl rand -hex 32',
}

/** `shortest` is the length of the shortest token in force; undefined if there is none. */
export const accessWarnings = (report: ControlPlaneReport, shortest: number | undefined): readonly Warning[] => [
  ...(report.auth_duplicate_token ? [duplicate] : []),
  ...(report.auth_token_files ?? []).filter(({ token_loaded: loaded }) => !loaded).map(fileWarning),
  ...(report.externally_exposed_without_auth ? [exposed] : []),
  ...(!report.bind_is_loopback && shortest !== undefined && shortest < shortestToken ? [short] : []),
]
