/** What the program of a connector sees (external-52), and what a connector may not ask for. */
import { childEnvironment, type Issue, type PassedEnvironment } from '../../../../core/plugin.js'

/** What a connector says of its program. */
export interface ChildSettings {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Secrets by the name under which the program asks for them. */
  readonly credential_slots: Readonly<Record<string, string>>
  readonly working_dir?: string | undefined
}

/** What the daemon tells a program. */
export interface ChildFacts {
  readonly name: string
  readonly base_url: string
  readonly daemon_base_url: string
  readonly shared_token?: string | undefined
  /** A token for its credentials, and their names. */
  readonly lent?: { readonly token: string; readonly keys: readonly string[] } | undefined
}

const beginning = 'SERVICE_EXTERNAL_CONNECTOR_'
const reserved: ReadonlySet<string> = new Set(
  ['NAME', 'BASE_URL', 'DAEMON_BASE_URL', 'SHARED_TOKEN', 'CREDENTIAL_TOKEN', 'CREDENTIAL_KEYS_JSON'].map(
    (name) => `${beginning}${name}`,
  ),
)

/** Of the daemon's own environment; nothing else of it. */
const kept = (
  'PATH HOME LANG LC_ALL SSL_CERT_FILE SSL_CERT_DIR TMPDIR TMP TEMP ' +
  'PYTHONHOME PYTHONPATH VIRTUAL_ENV SYSTEMROOT WINDIR'
).split(' ')

const factsOf = ({ name, base_url, daemon_base_url, shared_token, lent }: ChildFacts): Record<string, string> => ({
  [`${beginning}NAME`]: name,
  [`${beginning}BASE_URL`]: base_url,
  [`${beginning}DAEMON_BASE_URL`]: daemon_base_url,
  ...(shared_token !== undefined && { [`${beginning}SHARED_TOKEN`]: shared_token }),
  ...(lent !== undefined && {
    [`${beginning}CREDENTIAL_TOKEN`]: lent.token,
    [`${beginning}CREDENTIAL_KEYS_JSON`]: JSON.stringify(lent.keys),
  }),
})

/** All that a program sees. */
export const environmentOf = (
  { env }: Pick<ChildSettings, 'env'>,
  facts: ChildFacts,
  redact: PassedEnvironment['redact'],
): Record<string, string> => {
  const passed = childEnvironment({ pass: kept, redact })
  const inherited = Object.entries(passed).filter(([name]) => kept.includes(name))
  return { ...Object.fromEntries(inherited), ...env, ...factsOf(facts) }
}

const isBlank = (text: string): boolean => text.trim() === ''
const isOdd = (name: string): boolean => /[=\0]/u.test(name)

const refusedName = (path: string, name: string): Issue | undefined => {
  if (isBlank(name)) return { path, rule: 'must not have a blank name' }
  if (isOdd(name)) return { path, rule: 'must have names that a variable can have' }
  return reserved.has(name) ? { path, rule: `must not have ${name}, which the daemon sets` } : undefined
}

/** What is wrong with what a connector says of its program: names of the daemon, blanks, what no program can be given. */
export const refusedChild = ({
  command,
  args,
  env,
  credential_slots,
  working_dir,
}: ChildSettings): Issue | undefined => {
  const path = 'child_process'
  if (isBlank(command)) return { path: `${path}.command`, rule: 'must not be blank' }
  const blankSlot = Object.values(credential_slots).some(isBlank)
  if (blankSlot) return { path: `${path}.credential_slots`, rule: 'must not have a blank secret' }
  const texts = { command: [command], args, env: Object.values(env), working_dir: [working_dir ?? ''] }
  const broken = Object.entries(texts).find(([, values]) => values.some((value) => value.includes('\0')))
  if (broken !== undefined) return { path: `${path}.${broken[0]}`, rule: 'must not have a NUL' }
  for (const [member, of] of Object.entries({ env, credential_slots }))
    for (const name of Object.keys(of)) {
      const refused = refusedName(`${path}.${member}`, name)
      if (refused !== undefined) return refused
    }
  return undefined
}
