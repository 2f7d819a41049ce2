/**
 * What a child process sees of the daemon's environment: what programs usually need, what the operator names, nothing
 * that is secret, and nothing that changes how a shell starts. What is secret cannot be told by names: so what is
 * passed is listed, as `sudo` does.
 */
import { environment, type Environment } from '../config.js'
import { redactSecrets } from './shape/redact.js'
import { secretsInAddress } from '../words/in-address.js'
import { valuesNamed } from '../words/named-values.js'
import { tellsOfSecret } from '../words/secret-names.js'

const neverPassed =
  /^(?:SERVICE_|npm_|BASH_FUNC_|NODE_CHANNEL_|BASH_ENV$|ENV$|NODE_OPTIONS$|INIT_CWD$|SHELLOPTS$|BASHOPTS$)/u

/** Who and where one is, in which language, and how the network is reached. */
const usual = new RegExp(
  '^(?:PATH|HOME|USER|LOGNAME|SHELL|HOSTNAME|TMP|TEMP|TMPDIR|LANG|LANGUAGE|LC_[A-Z]+|TZ|EDITOR|VISUAL|DISPLAY|' +
    'WAYLAND_DISPLAY|SSH_AUTH_SOCK|SSL_CERT_FILE|NIX_SSL_CERT_FILE|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|AWS_CA_BUNDLE|' +
    'NODE_EXTRA_CA_CERTS|GIT_SSL_CAINFO|PIP_CERT|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)|KUBECONFIG|VIRTUAL_ENV|' +
    'GO(?:PATH|ROOT|BIN|CACHE|MODCACHE)|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|MAKEFLAGS|CI|NO_COLOR|DEBIAN_FRONTEND|' +
    'PYTHONPATH|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|RUST_BACKTRACE|DOCKER_HOST|' +
    'https?_proxy|all_proxy|no_proxy|HTTPS?_PROXY|ALL_PROXY|NO_PROXY)$',
  'u',
)
/** Where something is installed: `JAVA_HOME`, `PKG_CONFIG_PATH`, `XDG_RUNTIME_DIR`. */
const folder = /_(?:HOME|ROOT|PATH|PREFIX|DIRS?)$/u

const secretName = new RegExp(
  'PASS|PWD|SECRET|TOKEN|KEY|AUTH(?!ORS?(?:_|$))|COOKIE|CREDENTIAL|DSN|CONN(?:ECTION)?_?STR|' +
    'PRIVATE|SIGN|SALT|(?:^|_)PAT(?:_|$)',
  'iu',
)
const urlWithPassword = /:\/\/[^/\s:@]*:[^/\s@]+@/u

/** What may be passed on. */
export interface PassedEnvironment {
  /** Names beside the usual ones; with a star at the end, all that begin so and do not look secret. */
  readonly pass: readonly string[]
  /** Replaces known secret values in a text. */
  readonly redact: (text: string) => string
}

/**
 * What is secret of the variables that an operator names to be passed on nevertheless: the value, of an address what
 * stands in it; a path is none.
 */
export const secretsPassed = (pass: readonly string[], from: Environment = environment()): string[] =>
  pass.flatMap((name) => {
    const value = from[name]
    if (value === undefined || value.startsWith('/')) return []
    return tellsOfSecret(name) ? valuesNamed(name, value) : secretsInAddress(value)
  })

/** The part of an environment that may be passed on. */
export const passedFrom = (from: Environment, { pass, redact }: PassedEnvironment): Record<string, string> => {
  const named = new Set(pass)
  const beginnings = pass.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  const isSecret = (value: string): boolean =>
    urlWithPassword.test(value) || redact(value) !== value || redactSecrets(value) !== value
  const isWanted = (name: string, value: string): boolean =>
    usual.test(name) ||
    (folder.test(name) && value.startsWith('/')) ||
    (beginnings.some((beginning) => name.startsWith(beginning)) && !secretName.test(name))
  const mayPass = (name: string, value: string): boolean =>
    !neverPassed.test(name) && (named.has(name) || (isWanted(name, value) && !isSecret(value)))
  const kept = Object.entries(from).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && mayPass(entry[0], entry[1]),
  )
  return { PATH: '/usr/local/bin:/usr/bin:/bin', ...Object.fromEntries(kept) }
}

/** The part of the daemon's environment that a child process may have. */
export const childEnvironment = (passed: PassedEnvironment): Record<string, string> => passedFrom(environment(), passed)
