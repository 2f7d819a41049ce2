/**
 * What a command sees of the daemon's environment: nothing that is secret, and nothing that changes how the shell
 * starts.
 */

/** Names the marker that every process of one command carries. */
export const markerName = 'SERVICE_SHELL_TASK_ID'

const neverPassed =
  /^(?:SERVICE_|npm_|BASH_FUNC_|NODE_CHANNEL_|BASH_ENV$|ENV$|NODE_OPTIONS$|INIT_CWD$|SHELLOPTS$|BASHOPTS$)/u
const secretName =
  /(?:^|_)(?:TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEYS?|ACCESS_KEYS?|PRIVATE_KEYS?|PAT)(?:_|$)/iu
const urlWithPassword = /:\/\/[^/\s:@]*:[^/\s@]+@/u

export interface EnvironmentParts {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly pass: readonly string[]
  /** Replaces known secret values in a text. */
  readonly redact: (text: string) => string
  readonly marker: string
}

export const childEnvironment = ({ environment, pass, redact, marker }: EnvironmentParts): Record<string, string> => {
  const passed = new Set(pass)
  const mayPass = (name: string, value: string): boolean =>
    !neverPassed.test(name) &&
    (passed.has(name) || !(secretName.test(name) || urlWithPassword.test(value) || redact(value) !== value))
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && mayPass(entry[0], entry[1]),
  )
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    ...Object.fromEntries(kept),
    TERM: 'dumb',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    [markerName]: marker,
  }
}
