/** Problems of a daemon in the words of who typed a command line: its flags, arguments and commands. */
import type { Command, CommandInput } from '../../plugin/command.js'
import { Problem } from '../../base/errors.js'
import { span } from '../../base/text/command-text.js'
import { inCommands } from './route-names.js'

/** What was typed: the command, its flags and arguments; and all commands, for sentences that name a route. */
export interface Typed {
  readonly command: Command
  readonly flags?: CommandInput['flags']
  readonly args?: CommandInput['args']
  readonly commands?: readonly Command[]
}

/** A field of a request and the words that stand for it on the command line. */
interface Named {
  readonly field: string
  readonly words: readonly string[]
  /** True if the words take all of it, as JSON: a part is told by its place. */
  readonly isWhole: boolean
}

const ownName = ({ args = [], flags = {} }: Command, path: string): Named[] => {
  const [, name = ''] = path.split('.')
  const flag = name.replaceAll('_', '-')
  const words = [
    ...(Object.hasOwn(flags, flag) ? [`--${flag}`] : []),
    ...args
      .map((arg) => arg.replace(/\?$/u, ''))
      .filter((arg) => arg === name)
      .map((arg) => `<${arg}>`),
  ].slice(0, 1)
  return words.length === 0 ? [] : [{ field: path, words, isWhole: false }]
}

/** What is known of a field and of those that it is part of, the closest first. */
const namedOf = (command: Command, path: string): Named[] => {
  const known = Object.entries(command.fields ?? {})
    .map(([form, words]): Named => {
      const field = form.replace(/\.\*$/u, '')
      return { field, words: typeof words === 'string' ? [words] : words, isWhole: field !== form }
    })
    .filter(({ field }) => path === field || path.startsWith(`${field}.`))
    .toSorted((a, b) => b.field.length - a.field.length)
  return known.length > 0 ? known : ownName(command, path)
}

/**
 * The flag or argument that a field was given with, or could be; of a part of what it takes `hooks.0.name of --file`.
 * The path itself if the command line has no word for it.
 */
const nameOf = ({ command, flags = {} }: Typed, path: string): string => {
  const isGiven = (word: string): boolean => !word.startsWith('--') || flags[word.slice(2)] !== undefined
  const candidates = namedOf(command, path)
  const chosen = candidates.find(({ words }) => words.some(isGiven)) ?? candidates[0]
  if (chosen === undefined) return path
  const { field, words, isWhole } = chosen
  const place = isWhole && path !== field ? `${path.slice(field.length + 1)} of ` : ''
  return place + (words.find(isGiven) ?? words[0] ?? '')
}

type FieldError = NonNullable<Problem['occurrence']['errors']>[number]

const units = new Map([
  ['_seconds', 'seconds'],
  ['_ms', 'milliseconds'],
  ['_bytes', 'bytes'],
])

/** A field has its unit in its name; a flag that takes it in many units has not. */
const ruleOf = (typed: Typed, { path, rule }: FieldError): string => {
  const [ending, unit] = [...units].find(([one]) => path.endsWith(one)) ?? []
  const name = nameOf(typed, path)
  const isTold = ending === undefined || name === path || name.replaceAll('-', '_').includes(ending)
  return isTold || !/^must be at (?:least|most) \d+$/u.test(rule) ? rule : `${rule} ${unit}`
}

/** Also where a sentence names the field without its part of the request, as in `cadence.expression must ...`. */
const inFlags = (typed: Typed, sentence: string, errors: readonly FieldError[]): string => {
  const ruled = errors.reduce(
    (text, one) => text.replaceAll(`${one.path} ${one.rule}`, () => `${one.path} ${ruleOf(typed, one)}`),
    sentence,
  )
  const whole = ruled.replaceAll(/\b(?:body|query|path|header)\.[\w.-]*\w/gu, (path) => nameOf(typed, path))
  return errors.reduce((text, one) => {
    const field = one.path.replace(/^\w+\./u, '')
    const said = `${nameOf(typed, one.path)} ${ruleOf(typed, one)}`
    return /[._]/u.test(field) ? text.replaceAll(`${field} ${one.rule}`, () => said) : text
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
])

/** `clear_token_budget` and `skip_hooks true` are flags where the command has them. */
const withOwnFlags = (sentence: string, { flags = {} }: Command): string =>
  sentence.replaceAll(/\b([a-z]+(?:_[a-z]+)+)( true)?\b/gu, (all, name: string, isTrue = '') => {
    const flag = flags[name.replaceAll('_', '-')]
    if (flag === undefined) return all
    return `--${name.replaceAll('_', '-')}${flag.kind === 'switch' ? '' : isTrue}`
  })

const said = (typed: Typed, sentence: string): string =>
  withOwnFlags(inCommands(sentence, typed.commands ?? [], typed.args), typed.command)

/** Only a header says how long to wait, and nobody who types sees it; without one, waiting does not help. */
const adviceOf = ({ code, action, occurrence: { retryAfter } }: Problem): string => {
  if (code === 'rate_limited' && retryAfter !== undefined) return `Wait ${span(retryAfter * 1000)} and try again.`
  return actions.get(code) ?? action ?? ''
}

/** The rules of flags and arguments say what to do; of the action, what names a command says more. */
const actionOf = (typed: Typed, problem: Problem, errors: readonly FieldError[]) => {
  const action = said(typed, adviceOf(problem))
  return action === '' || (isOfTheLine(errors) && !action.includes('holdfast ')) ? undefined : action
}

/** What the daemon refused is what the command line itself gave: every field is a flag or an argument. */
export const isOfTheLine = (errors: readonly FieldError[] = []): boolean =>
  errors.length > 0 && errors.every(({ path }) => /^(?:.* of )?(?:--|<)/u.test(path))

/** True where commands must be known to say it: all of them take long to import. */
export const namesRoute = (error: unknown): boolean =>
  error instanceof Problem && `${error.message} ${adviceOf(error)}`.includes('/v1/')

/** The same problem in the words of the command line; its cause is the problem as it was given. */
export const inWordsOf = (typed: Typed, error: unknown): unknown => {
  if (!(error instanceof Problem)) return error
  const { code, spec, occurrence, message } = error
  const given = occurrence.errors ?? []
  const detail = said(typed, inFlags(typed, message, given))
  const errors = given.map((one) => ({ path: nameOf(typed, one.path), rule: ruleOf(typed, one) }))
  const action = actionOf(typed, error, errors)
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
