/** Problems of a daemon in the words of who typed a command line: its flags, arguments and commands. */
import type { Command } from '../plugin/command.js'
import { Problem } from '../base/errors.js'
import { inCommands } from './route-names.js'

const ownName = ({ args = [], flags = {} }: Command, path: string): string | undefined => {
  const [, name = ''] = path.split('.')
  const flag = name.replaceAll('_', '-')
  if (Object.hasOwn(flags, flag)) return `--${flag}`
  return args.some((arg) => arg.replace(/\?$/u, '') === name) ? `<${name}>` : undefined
}

/** The name of a field, or of the one that it is part of; the path itself if the command line has no word for it. */
const nameOf = (command: Command, path: string): string => {
  const { fields = {} } = command
  const known = Object.keys(fields).find((field) => path === field || path.startsWith(`${field}.`))
  return (known === undefined ? ownName(command, path) : fields[known]) ?? path
}

type FieldError = NonNullable<Problem['occurrence']['errors']>[number]

/** Also where a sentence names the field without its part of the request, as in `cadence.expression must ...`. */
const inFlags = (command: Command, sentence: string, errors: readonly FieldError[]): string => {
  const whole = sentence.replaceAll(/\b(?:body|query|path|header)\.[\w.-]*\w/gu, (path) => nameOf(command, path))
  return errors.reduce((text, { path, rule }) => {
    const field = path.replace(/^\w+\./u, '')
    return /[._]/u.test(field) ? text.replaceAll(`${field} ${rule}`, () => `${nameOf(command, path)} ${rule}`) : text
  }, whole)
}

/** What to do about problems of the HTTP layer, which speak to writers of requests; nothing where a flag says it. */
const actions: ReadonlyMap<string, string> = new Map([
  ['bad_request', ''],
  ['missing_token', 'Give one with --token-file FILE, --token TOKEN or SERVICE_DAEMON_TOKEN.'],
  ['malformed_token', 'Give it alone, without spaces, with --token-file FILE, --token TOKEN or SERVICE_DAEMON_TOKEN.'],
  ['invalid_token', 'Give the current admin or read-only token with --token-file FILE or --token TOKEN.'],
  ['insufficient_access', 'Give the admin token with --token-file FILE or --token TOKEN.'],
  ['host_not_allowed', 'Name the daemon by its own address with --base-url, or start it with --http-allow-host NAME.'],
  ['route_not_found', 'The daemon is of another version than this command; holdfast openapi tells its routes.'],
  ['method_not_allowed', 'The daemon is of another version than this command; holdfast openapi tells its routes.'],
  ['payload_too_large', 'Give less.'],
  ['rate_limited', 'Wait a minute and try again.'],
])

/** The rules of flags and arguments say what to do; of the action, what names a command says more. */
const actionOf = ({ code, spec }: Problem, errors: readonly FieldError[], commands: readonly Command[]) => {
  const action = inCommands(actions.get(code) ?? spec.action ?? '', commands)
  return action === '' || (isOfTheLine(errors) && !action.includes('holdfast ')) ? undefined : action
}

/** What the daemon refused is what the command line itself gave: every field is a flag or an argument. */
export const isOfTheLine = (errors: readonly FieldError[] = []): boolean =>
  errors.length > 0 && errors.every(({ path }) => /^(?:--|<)/u.test(path))

/** The same problem in the words of the command line; its cause is the problem as it was given. */
export const inWordsOf = (command: Command, error: unknown, commands: readonly Command[] = []): unknown => {
  if (!(error instanceof Problem)) return error
  const { code, spec, occurrence, message } = error
  const given = occurrence.errors ?? []
  const detail = inCommands(inFlags(command, message, given), commands)
  const errors = given.map(({ path, rule }) => ({ path: nameOf(command, path), rule }))
  const action = actionOf(error, errors, commands)
  const { status } = spec
  return new Problem(
    code,
    { status, detail, ...(action !== undefined && { action }) },
    { ...occurrence, details: verbatim(detail), ...(errors.length > 0 && { errors }), cause: error },
  )
}

/** Values that leave the braces of a complete sentence as they are. */
export const verbatim = (sentence: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from(sentence.matchAll(/\{(\w+)\}/gu), ([braces, name = '']) => [name, braces]))
