/** Finds the command that a command line names and runs it against a daemon. */
import { createClock } from '../base/clock.js'
import { keepAlive } from '../base/keep-alive.js'
import type { Client, Command, CommandInput, Dialogue, NearDaemon } from '../plugin/command.js'
import type { Problem } from '../base/errors.js'
import { errors as configErrors, type Environment, type Flags } from '../base/config.js'
import { isDashed, unknownFlag } from '../base/text/unknown-flag.js'
import { parseOnce } from '../base/parse.js'
import { unsafeCast, type Json } from '../base/schema.js'
import { globals, globalsOf, refuseTwice, switchValue, type Arguments } from './arguments.js'
import { readSecretFile } from '../state/side/secret-file.js'
import { createClient } from './client.js'
import { explain } from './told/explain.js'
import { outline } from './told/outline.js'
import { inWordsOf, namesRoute } from './told/own-words.js'
import { withDaemon, withScratch, type ShortDaemon } from './root/near-daemon.js'
import { urlOfHolder } from './root/place.js'
import { readJson, readSecret } from './secret-input.js'
import { errors } from './told/errors.js'
import { either, isSlip, unknownCommand } from './told/unknown-command.js'
import { callOf, neededForm } from './help.js'

export interface Line {
  readonly words: readonly string[]
  /** All commands, for sentences that name a route. */
  readonly commands: () => Promise<readonly Command[]>
  readonly flags: Flags
  /** What flags that are given again are given as; nothing when absent. */
  readonly again?: Arguments['again']
  readonly environment: Environment
  readonly signal: AbortSignal
  readonly print: (text: string) => void
  /** A part of a text; `print` when absent. */
  readonly write?: (text: string) => void
  /** Writes a block in place of the one before; `print` when absent. */
  readonly redraw?: (block: string, above?: string) => void
  /** Standard output is a terminal; false when absent. */
  readonly attended?: boolean
  /** Columns of that terminal; 80 when absent. */
  readonly columns?: () => number
  /** Prints a whole answer for a person; `print` when absent. */
  readonly show?: (text: string) => Promise<void>
  /** Starts a daemon on a root that nobody holds; a bare one heeds no setting of the environment. */
  readonly start?: (root: string, bare?: boolean) => Promise<ShortDaemon>
  /** Talks with who gives the line; nobody says anything when absent. */
  readonly talk?: () => Dialogue
  /** From now on SIGTERM aborts the signal; what it returns takes that back. */
  readonly onTerminate?: () => () => void
}

export const matches = (words: readonly string[], { path }: Command): boolean =>
  path.every((word, at) => words[at] === word)

const nameOf = ({ path }: Command): string => path.join(' ')

const knownFlags = (command: Command): readonly string[] => [...Object.keys(command.flags ?? {}), ...globalsOf(command)]

/** The command with the longest path that the words begin with. */
export const findCommand = ({ words, flags }: Omit<Arguments, 'again'>, commands: readonly Command[]): Command => {
  const [found] = commands
    .filter((command) => matches(words, command))
    .toSorted((a, b) => b.path.length - a.path.length)
  if (found !== undefined && !isSlip(words, found, commands)) return found
  if (found === undefined) refuseStrangeFlags(flags, commands)
  throw unknownCommand(words, commands)
}

const argsOf = (command: Command, words: readonly string[]): Readonly<Record<string, string>> => {
  const given = words.slice(command.path.length)
  const names = command.args ?? []
  const surplus = given[names.length]
  if (surplus !== undefined && isDashed(surplus))
    throw unknownFlag(surplus, { command: nameOf(command), known: knownFlags(command) })
  if (surplus !== undefined) throw errors.argument_surplus({ details: { command: callOf(command), word: surplus } })
  const missing = names.slice(given.length).find((name) => !name.endsWith('?'))
  if (missing !== undefined) throw errors.argument_missing({ details: { command: nameOf(command), argument: missing } })
  const named = given.map((word, at) => [names[at]?.replace(/\?$/u, '') ?? '', word] as const)
  const empty = named.find(([, word]) => word.trim() === '')
  if (empty !== undefined) throw errors.argument_empty({ details: { argument: empty[0] } })
  return Object.fromEntries(named)
}

/** What other programs call the form of their output. */
const strangeFlag = (flag: string, known: readonly string[], command = ''): Problem =>
  unknownFlag(flag, { command, known, meant: flag === 'json' ? 'output json' : undefined })

/** Refuses a flag of no command: it may have taken a word of the command for its value. */
const refuseStrangeFlags = (flags: Flags, commands: readonly Command[]): void => {
  const known = [...commands.flatMap((command) => Object.keys(command.flags ?? {})), ...globals]
  const [strange] = [...flags.keys()].filter((flag) => !known.includes(flag))
  if (strange !== undefined) throw strangeFlag(strange, known)
}

/** The command's own flags; a switch that is turned off is as good as none. */
const flagsOf = (command: Command, flags: Flags): Readonly<Record<string, string | boolean>> => {
  const own = command.flags ?? {}
  const known = knownFlags(command)
  const given: Record<string, string | boolean> = {}
  for (const [flag, value] of flags) {
    if (!known.includes(flag)) throw strangeFlag(flag, known, nameOf(command))
    if (own[flag]?.kind === 'switch') {
      if (switchValue(flag, value)) given[flag] = true
    } else if (value === true && flag !== 'help') throw errors.flag_value_missing({ details: { flag } })
    else if (Object.hasOwn(own, flag)) given[flag] = value
  }
  return given
}

type Given = Pick<CommandInput, 'args' | 'flags' | 'all'>
/** Refuses a line that lacks a flag that must be given, or has none of what one must be given of. */
const refuseLacking = (command: Command, { args, flags }: Omit<Given, 'all'>): void => {
  const { needs = [], oneOf = [] } = command
  const isGiven = (word: string): boolean =>
    word.startsWith('--') ? Object.hasOwn(flags, word.slice(2)) : Object.hasOwn(args, word.slice(1, -1))
  const lacking = needs.find((word) => !isGiven(word))
  const wanted = lacking !== undefined ? [neededForm(command, lacking)] : oneOf.some(isGiven) ? [] : oneOf
  if (wanted.length > 0) throw errors.flag_required({ details: { command: nameOf(command), flags: either(wanted) } })
}

const textOf = (flags: Flags, flag: string): string | undefined => {
  const value = flags.get(flag)
  return typeof value === 'string' ? value : undefined
}

const tokenOf = ({ flags, environment }: Line): string | undefined => {
  const file = textOf(flags, 'token-file')
  const token = textOf(flags, 'token') ?? (file === undefined ? environment['SERVICE_DAEMON_TOKEN'] : undefined)
  if (token !== undefined && token !== '') return token
  const path = file ?? environment['SERVICE_DAEMON_TOKEN_FILE']
  return path === undefined || path === '' ? undefined : readSecretFile(path)
}

const usualUrl = 'http://127.0.0.1:4000'

/** The daemon that the line names, else the environment. */
const namedUrl = ({ flags, environment }: Line): string =>
  textOf(flags, 'base-url') ?? environment['SERVICE_DAEMON_URL'] ?? ''

/** That daemon, else the one that holds the root which the command is about. */
const urlOf = (line: Line, command: Command, own: CommandInput['flags']): string => {
  const text = namedUrl(line)
  const holder = (): string | undefined => (command.flags?.['state-root'] && urlOfHolder(own)) ?? undefined
  const url = text === '' ? (holder() ?? usualUrl) : text
  const wrong = (problem: string): Problem => {
    const source = line.flags.has('base-url') ? '--base-url' : 'SERVICE_DAEMON_URL'
    return configErrors.config_invalid({ details: { source, problem } })
  }
  if (!/^https?:\/\//u.test(url) || !URL.canParse(url)) throw wrong('must be an http or https URL')
  const { pathname } = new URL(url)
  if (pathname !== '/') throw wrong(`must have no path: leave ${pathname} out`)
  return url
}

const outputOf = (flags: Flags): CommandInput['output'] => {
  const output = textOf(flags, 'output') ?? 'pretty'
  if (output !== 'pretty' && output !== 'json') throw errors.output_unknown()
  return output
}

/** What is known of an answer; undefined if it is of another shape than the command reads. */
const parsedAnswer = ({ answer: struct }: Command, answer: unknown): { readonly value: unknown } | undefined => {
  if (struct === undefined) return { value: answer }
  const parsed = parseOnce(struct, answer)
  return parsed.ok ? parsed : undefined
}

/** For a person; an answer that the command has no words for is told member by member. */
const textOfAnswer = ({ show }: Command, { answer, known, columns }: Answered): string =>
  // Whatever else is printed as JSON can be told so.
  known === undefined || show === undefined ? outline(unsafeCast<Json>(answer)) : show(known.value, columns)

interface Answered {
  readonly answer: unknown
  readonly known: ReturnType<typeof parsedAnswer>
  readonly columns: number
}

/** What a line gives to its command. Throws what a line is refused with before anybody is asked. */
export const givenOf = (command: Command, { words, flags, again = new Map() }: GivenLine): Given => {
  const given = { args: argsOf(command, words), flags: flagsOf(command, flags) }
  refuseTwice({ again }, severalOf(command))
  refuseLacking(command, given)
  return { ...given, all: (flag) => [given.flags[flag], ...(again.get(flag) ?? [])].flatMap(valueOf(flag)) }
}

type GivenLine = Pick<Line, 'words' | 'flags' | 'again'>

/** Flags that may be given again. */
const severalOf = ({ flags = {} }: Command): string[] =>
  Object.keys(flags).filter((flag) => flags[flag]?.several === true)

const valueOf =
  (flag: string) =>
  (value: string | boolean | undefined): string[] => {
    if (value === true) throw errors.flag_value_missing({ details: { flag } })
    return typeof value === 'string' ? [value] : []
  }

/** A dialogue in which nothing is said. */
export const nobody: Dialogue = {
  attended: false,
  hear: () => Promise.resolve({ type: 'end' }),
  onInterrupt: () => {},
  onStop: () => {},
  note: () => {},
  close: () => {},
}

/** The dialogue of a command: there is one, and it ends with the command. */
const dialogueOf = ({ talk = () => nobody }: Line) => {
  let opened: Dialogue | undefined
  return { open: (): Dialogue => (opened ??= talk()), close: (): void => opened?.close() }
}

/** The process lives until then. */
const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  const release = keepAlive()
  await createClock().sleep(ms, signal)
  release()
}

const noStart = (root: string): Promise<ShortDaemon> =>
  Promise.reject(errors.daemon_unreachable({ details: { url: root } }))

/** Bytes of an answer of a server that nobody need trust: the models of a large one take a third of it. */
const mostOfOthers = 4 * 1024 * 1024

/** What a command reaches beside its daemon. */
const around = ({ environment, signal, start = noStart }: Line) => ({
  variable: (name: string): string | undefined => environment[name] || undefined,
  reach: (url: string, ms: number): Client =>
    createClient({
      baseUrl: url,
      token: undefined,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ms)]),
      most: mostOfOthers,
    }),
  near:
    (input: Parameters<typeof withDaemon>[0]): CommandInput['withDaemon'] =>
    (work) =>
      withDaemon(input, start, work),
  scratch: <T>(config: Readonly<Record<string, string>>, work: (near: NearDaemon) => Promise<T>): Promise<T> =>
    withScratch(start, config, work),
})

const printing =
  (print: Line['print']): CommandInput['redraw'] =>
  (block, above) =>
    print(above === undefined ? block : `${above}\n${block}`)

const usual = (): number => 80

/** Resolves with the exit code. */
export const runCommand = async (command: Command, line: Line): Promise<number> => {
  const { flags, print, write = print, redraw = printing(print), attended = false, columns = usual, signal } = line
  const output = outputOf(flags)
  const dialogue = dialogueOf(line)
  let code = 0
  const { variable, reach, near, scratch } = around(line)
  const input: Omit<CommandInput, 'client' | 'withDaemon'> = {
    ...givenOf(command, line),
    output,
    addressed: namedUrl(line) !== '',
    print,
    write,
    redraw,
    attended,
    columns,
    signal,
    now: createClock().now,
    variable,
    reach,
    scratch,
    pause,
    lasting: async (work) => (await import('./lasting.js')).lasting(line, work),
    dialogue: dialogue.open,
    told: async (error) => explain(await inOwnWords(error), output).text,
    secret: () => readSecret({ flags: input.flags, environment: line.environment }),
    json: (flag) => readJson(input, flag),
    exitWith: (given: number): void => {
      code = given
    },
  }
  const inOwnWords = async (error: unknown): Promise<unknown> => {
    const commands = namesRoute(error) ? await line.commands() : []
    return inWordsOf({ command, flags: input.flags, args: input.args, commands }, error)
  }
  const client = createClient({ baseUrl: urlOf(line, command, input.flags), token: tokenOf(line), signal })
  const answer = await command
    .run({ ...input, client, withDaemon: near({ ...input, client }) })
    .catch(async (error: unknown) => {
      throw await inOwnWords(error)
    })
    .finally(dialogue.close)
  if (answer === undefined) return code
  const known = parsedAnswer(command, answer)
  if (output === 'json') print(JSON.stringify(answer, null, 2))
  else await (line.show ?? print)(textOfAnswer(command, { answer, known, columns: columns() }))
  return known === undefined ? code : (command.status?.(known.value) ?? code)
}
