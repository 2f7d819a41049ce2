import { linkErrors } from './errors.js'

/** The address of the server without a trailing slash. Throws `base_url_missing` or `base_url_invalid`. */
export const checkedBaseUrl = (text: string | undefined, provider: string): string => {
  if (text === undefined || text.trim() === '') throw linkErrors.base_url_missing({ details: { provider } })
  const reason = URL.canParse(text.trim()) ? flaw(new URL(text.trim())) : 'it is not a URL'
  if (reason !== undefined) throw linkErrors.base_url_invalid({ details: { reason } })
  return new URL(text.trim()).href.replace(/\/+$/u, '')
}

const flaw = (url: URL): string | undefined => {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'it is neither http nor https'
  if (url.username !== '' || url.password !== '') return 'it names a user'
  if (url.href.includes('?')) return 'it has a query'
  return url.href.includes('#') ? 'it has a fragment' : undefined
}
