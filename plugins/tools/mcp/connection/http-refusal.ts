/** Answers over HTTP that only an operator can do something about, in words. */
import { commandLine, fault } from '../../../../core/plugin.js'
import type { HttpEntry } from '../config/entry.js'
import { mcpErrors } from '../config/errors.js'

const firstOf = (values: Readonly<Record<string, string>>): string | undefined => Object.values(values)[0]

/** What is to be done where a server does not take what it is asked with. */
const wayIn = (name: string, entry: HttpEntry): string => {
  const { headers, env_http_headers, http_header_secret_refs, bearer_token_env_var, bearer_token_secret_ref } = entry
  const inTable = (setting: string): string => `(${setting} of its table)`
  const store = (ref: string, setting: string): string =>
    `store what it takes with ${commandLine('mcp auth set --stdin', ref)} ${inTable(setting)}`
  const set = (variable: string, setting: string): string =>
    `set the variable ${variable} to what it takes where the daemon is started ${inTable(setting)}`
  if (entry.oauth_slot_ref !== undefined)
    return `log in with ${commandLine('mcp oauth login', name)} ${inTable('oauth_slot_ref')}`
  if (bearer_token_secret_ref !== undefined) return store(bearer_token_secret_ref, 'bearer_token_secret_ref')
  if (bearer_token_env_var !== undefined) return set(bearer_token_env_var, 'bearer_token_env_var')
  const [ref, variable] = [firstOf(http_header_secret_refs), firstOf(env_http_headers)]
  if (ref !== undefined) return store(ref, 'http_header_secret_refs')
  if (variable !== undefined) return set(variable, 'env_http_headers')
  const nameOne = 'name a secret in bearer_token_secret_ref of its table, or an account in oauth_slot_ref'
  return Object.keys(headers).length === 0 ? nameOne : `correct headers of its table, or ${nameOne}`
}

/** Where an answer leads to; undefined if it is no redirect. Whatever may be secret in an address is left out. */
const redirectOf = ({ status, headers }: Response, url: string): URL | undefined => {
  const location = headers.get('location')
  if (status < 300 || status > 399 || location === null || !URL.canParse(location, url)) return undefined
  const target = new URL(location, url)
  target.username = target.password = target.search = target.hash = ''
  return target
}

const redirectText = (target: URL, { url }: HttpEntry, status: number): string => {
  const where = `it answered with status ${status}, a redirect to ${target.href} that is not followed`
  return target.protocol !== 'https:' && url.startsWith('https:')
    ? `${where}, as nothing is encrypted there`
    : `${where}: put that into url of its table if it is the right server`
}

/** Throws for whom an answer lets nowhere: without leave the request was not read; of a redirect nobody can tell. */
export const checkRefusal = async (answer: Response, name: string, entry: HttpEntry): Promise<void> => {
  const { status, body } = answer
  const target = redirectOf(answer, entry.url)
  if (target === undefined && status !== 401 && status !== 403) return
  await body?.cancel()
  if (target !== undefined) throw fault(redirectText(target, entry, status))
  const reason = `it answered with status ${status}, and so does not let the daemon in: ${wayIn(name, entry)}`
  throw mcpErrors.mcp_connection_failed({ details: { reason } })
}
