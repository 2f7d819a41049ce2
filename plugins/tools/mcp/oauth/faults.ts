/** What went wrong at an authorization server, in words of ours: what others wrote is not repeated. */
import { Problem } from '../../../../core/plugin.js'
import type { Kit } from '../connection/kit.js'

/** A code of OAuth, such as `invalid_grant`, as it may be shown. */
export const shownCode = (code: string): string => (/^[a-z0-9_-]{1,64}$/u.test(code) ? code : 'a code that is none')

/** The code that the authorization server refused with; undefined if it did not refuse but fail. */
export const refusalOf = (kit: Kit, error: unknown): string | undefined => {
  if (!(error instanceof kit.OAuthError)) return undefined
  const code = shownCode(error.code)
  return code === 'server_error' || code === 'temporarily_unavailable' ? undefined : code
}

/** Words that end a sentence. Throws what is a problem already. */
export const reasonOf = (kit: Kit, error: unknown): string => {
  if (error instanceof Problem) throw error
  if (error instanceof kit.IssuerMismatchError) return 'it calls itself by another issuer than the one that was asked'
  if (error instanceof kit.InsecureTokenEndpointError) return 'its token endpoint is not https'
  if (error instanceof kit.RegistrationRejectedError) return `it refused to register the daemon (${error.status})`
  const code = refusalOf(kit, error)
  if (code !== undefined) return `it answered ${code}`
  if (error instanceof kit.OAuthError) return 'it had an error of its own'
  return 'what it answered does not fit the protocol'
}
