/** Tells the authorization server that tokens are not used any more. */
import { clientOf, type Account } from './account.js'
import { createAsk, type AskParts } from './ask.js'

export interface RevocationParts extends AskParts {
  readonly account: Account
}

/** Name and secret of the client, in the form that the server registered it with. */
const signed = (account: Account, form: URLSearchParams): Readonly<Record<string, string>> => {
  const { client_id = '', client_secret } = clientOf(account) ?? {}
  const methods = account.authorization_server?.token_endpoint_auth_methods_supported
  const method = account.token_endpoint_auth_method ?? methods?.[0] ?? 'client_secret_basic'
  if (client_secret === undefined || method !== 'client_secret_basic') {
    form.set('client_id', client_id)
    if (client_secret !== undefined) form.set('client_secret', client_secret)
    return {}
  }
  const pair = [client_id, client_secret].map(encodeURIComponent).join(':')
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** Why the server does not know of it, in words that end a sentence; undefined if it does. Never rejects. */
export const revokeTokens = async (parts: RevocationParts): Promise<string | undefined> => {
  const { account } = parts
  const url = account.authorization_server?.revocation_endpoint
  if (url === undefined) return 'it says of no address that takes tokens back'
  const ask = createAsk(parts)
  const tokens = [
    ['refresh_token', account.refresh_token],
    ['access_token', account.access_token],
  ] as const
  for (const [kind, token] of tokens) {
    if (token === undefined) continue
    const form = new URLSearchParams({ token, token_type_hint: kind })
    const headers = signed(account, form)
    const status = await ask(url, { method: 'POST', headers, body: form }).then(
      (response) => response.status,
      () => 0,
    )
    if (status !== 200) return status === 0 ? 'it could not be asked' : `it answered ${status}`
  }
  return undefined
}
