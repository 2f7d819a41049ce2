/** What the program of a connector sees (external-52). */
import { childEnvironment, valuesNamed, type PassedEnvironment } from '../../../../core/plugin.js'
import type { ChildLease } from './credentials.js'
import { reservedVariables as reserved } from '../setup/kind.js'
import type { ChildProcess } from '../setup/settings.js'

/** What looks like a credential, whatever its variable is called: long, and neither a path nor several words. */
const opaque = /^[\w.:+=~-]{16,}$/u

/** Values of its own variables that nobody is to read in what it writes. */
export const hiddenIn = ({ env = {} }: Pick<ChildProcess, 'env'>): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) => [...valuesNamed(name, value), ...(opaque.test(value) ? [value] : [])])

/** What the daemon tells a program. */
export interface ChildFacts {
  readonly name: string
  readonly base_url: string
  readonly daemon_base_url: string
  readonly shared_token?: string | undefined
  /** A token for its credentials, and their names. */
  readonly lent?: ChildLease | undefined
}

/** Of the daemon's own environment; nothing else of it. */
const kept = (
  'PATH HOME LANG LC_ALL SSL_CERT_FILE SSL_CERT_DIR TMPDIR TMP TEMP ' +
  'PYTHONHOME PYTHONPATH VIRTUAL_ENV SYSTEMROOT WINDIR'
).split(' ')

const factsOf = ({ name, base_url, daemon_base_url, shared_token, lent }: ChildFacts): Record<string, string> => ({
  [reserved.name]: name,
  [reserved.base_url]: base_url,
  [reserved.daemon_base_url]: daemon_base_url,
  ...(shared_token !== undefined && { [reserved.shared_token]: shared_token }),
  ...(lent !== undefined && {
    [reserved.credential_token]: lent.token,
    [reserved.credential_keys]: JSON.stringify(lent.env_keys),
  }),
})

/** All that a program sees. */
export const environmentOf = (
  { env = {} }: Pick<ChildProcess, 'env'>,
  facts: ChildFacts,
  redact: PassedEnvironment['redact'],
): Record<string, string> => {
  const passed = childEnvironment({ pass: kept, redact })
  const inherited = Object.entries(passed).filter(([name]) => kept.includes(name))
  return { ...Object.fromEntries(inherited), ...env, ...factsOf(facts) }
}
