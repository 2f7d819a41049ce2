/** What an entry refers to, made into environments and headers at the moment of use. */
import { childEnvironment, type PassedEnvironment, type Secrets } from '../../../../core/plugin.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import type { Credentials } from './credentials.js'
import type { HttpEntry, ServerEntry, StdioEntry } from './entry.js'
import { mcpErrors } from './errors.js'

export interface ValueParts {
  readonly slots: () => SecretSlots | undefined
  /** Asked for what is not stored; it guards what it has. */
  readonly credentials: Pick<Credentials, 'find'>
  readonly redact: PassedEnvironment['redact']
  /** A value that is redacted from now on; one that is known already changes nothing. */
  readonly guard: (value: string) => void
}

/** What is read of the environment stays secret until the plugin ends: a variable does not change. */
export const createGuard = (secrets: Pick<Secrets, 'guard'>) => {
  const guarded = new Map<string, () => void>()
  return {
    guard(value: string): void {
      if (!guarded.has(value)) guarded.set(value, secrets.guard(value))
    },
    letGo(): void {
      for (const end of guarded.values()) end()
      guarded.clear()
    },
  }
}

/** Names of the secrets that a server uses. */
export const secretsOf = (entry: ServerEntry): readonly string[] => [
  ...Object.values(entry.env_secret_refs),
  ...Object.values(entry.http_header_secret_refs),
  ...[entry.bearer_token_secret_ref, entry.oauth_slot_ref].filter((ref) => ref !== undefined),
]

/** True if sessions must be allowed its credentials to use it. */
export const isCredentialed = (entry: ServerEntry): boolean =>
  secretsOf(entry).length > 0 ||
  entry.bearer_token_env_var !== undefined ||
  Object.keys(entry.env_http_headers).length > 0

/** Throws `mcp_value_missing`, or what the secrets throw: a variable never stands in for a secret. */
const secretValue = ({ slots, credentials }: ValueParts, ref: string): string => {
  const stored = slots()
  // Also one that was revoked: nothing stands in for it.
  if (stored?.find(ref) !== undefined) return stored.value(ref)
  const value = credentials.find(ref)
  if (value === undefined) throw mcpErrors.mcp_value_missing({ details: { what: `The secret ${ref}` } })
  return value
}

const secretValues = (parts: ValueParts, refs: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(refs).map(([name, ref]) => [name, secretValue(parts, ref)]))

/** A variable of the daemon's environment that the operator names; never one of the daemon's own settings. */
const variable = ({ redact, guard }: ValueParts, name: string): string => {
  const value = childEnvironment({ pass: [name], redact })[name]
  if (value === undefined || value === '')
    throw mcpErrors.mcp_value_missing({ details: { what: `The environment variable ${name}` } })
  guard(value)
  return value
}

/** Without which few programs start. */
const bare = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'USER', 'LOGNAME']

/** All that the program of a server sees. Throws what is missing. */
export const environmentOf = (parts: ValueParts, entry: StdioEntry): Record<string, string> => {
  const passed = childEnvironment({ pass: [], redact: parts.redact })
  const inherited = Object.entries(passed).filter(([name]) => entry.inherit_env || bare.includes(name))
  return { ...Object.fromEntries(inherited), ...entry.env, ...secretValues(parts, entry.env_secret_refs) }
}

/** What libraries say of a header that they refuse has its value in it. */
const checkHeader = ([name, value]: readonly [string, string]): void => {
  if (/[^\t\x20-\x7e\x80-\xff]/u.test(value.trim())) throw mcpErrors.mcp_header_unusable({ details: { name } })
}

/** Headers of the next request, but those of an account. Throws what is missing, or cannot be sent. */
export const headersOf = (parts: ValueParts, entry: HttpEntry): Record<string, string> => {
  const { headers, env_http_headers, http_header_secret_refs, bearer_token_env_var, bearer_token_secret_ref } = entry
  const token =
    bearer_token_env_var === undefined
      ? bearer_token_secret_ref === undefined
        ? undefined
        : secretValue(parts, bearer_token_secret_ref)
      : variable(parts, bearer_token_env_var)
  const all = {
    ...headers,
    ...Object.fromEntries(Object.entries(env_http_headers).map(([name, of]) => [name, variable(parts, of)])),
    ...secretValues(parts, http_header_secret_refs),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  Object.entries(all).forEach(checkHeader)
  return all
}
