/** Texts of `--help`. */
import type { Command } from '../plugin/command.js'
import { daemonSettings, Settings } from '../base/settings.js'
import { fieldSchemas, type JsonSchema } from '../base/schema.js'
import { columns, hanging, wrapped } from './screen/columns.js'

const placeholder = (name: string): string => (name.endsWith('?') ? `[${name.slice(0, -1)}]` : `<${name}>`)

/** A flag of the command with what it takes. */
const flagForm = ({ flags = {}, choices = {} }: Command, flag: string): string => {
  const { kind, value = 'text', several } = flags[flag] ?? { kind: 'text' }
  const more = several === true ? ' …' : ''
  return `--${flag}${kind === 'switch' ? '' : ` ${choices[flag]?.join('|') ?? `<${value}>`}${more}`}`
}

/** Each flag that must be given with what it takes. */
export const neededForm = (command: Command, word: string): string => flagForm(command, word.slice(2))

/** A command with its arguments. */
export const callOf = ({ path, args = [] }: Command): string => [...path, ...args.map(placeholder)].join(' ')

/** A command with all that it cannot do without. */
export const usage = (command: Command): string => {
  const { path, args = [], needs = [], oneOf = [] } = command
  const own = args.filter((arg) => !oneOf.includes(`<${arg.replace(/\?$/u, '')}>`)).map(placeholder)
  const needed = needs.map((word) => neededForm(command, word))
  return [...path, ...own, ...needed, ...(oneOf.length > 0 ? [oneOf.join('|')] : [])].join(' ')
}

const outputFlag = ['--output pretty|json', 'Readable text, or JSON for programs; errors too.'] as const
const daemonFlags: readonly (readonly [string, string])[] = [
  ['--base-url <url>', 'The daemon to call; SERVICE_DAEMON_URL, else http://127.0.0.1:4000.'],
  ['--token <token>', 'Bearer token; SERVICE_DAEMON_TOKEN.'],
  ['--token-file <file>', 'File with the bearer token; SERVICE_DAEMON_TOKEN_FILE.'],
]
const clientFlags = [...daemonFlags, outputFlag]

/** Flags of a command beside its own. */
const sharedFlags = ({ alone, talks }: Command): readonly (readonly [string, string])[] => [
  ...(alone === true ? [] : daemonFlags),
  ...(talks === true ? [] : [outputFlag]),
]

export const commandHelp = (command: Command): string => {
  const own = Object.entries(command.flags ?? {}).map(
    ([flag, { summary }]) => [flagForm(command, flag), summary] as const,
  )
  return [
    hanging(`holdfast ${usage(command)}`, 4),
    '',
    ...wrapped(command.summary),
    '',
    'Flags',
    columns([...own, ...sharedFlags(command)]),
  ].join('\n')
}

/** Help of a command that others begin with. */
export const leadingHelp = (command: Command, others: readonly Command[]): string =>
  [
    commandHelp(command),
    '',
    'Commands that begin so',
    columns(others.map((other) => [callOf(other), other.summary] as const)),
  ].join('\n')

/** The commands that begin with the same words. */
export const groupHelp = (words: readonly string[], commands: readonly Command[]): string => {
  const rows = commands.map((command) => [callOf(command), command.summary] as const)
  return [
    `holdfast ${words.join(' ')}`,
    '',
    'Commands',
    columns(rows),
    '',
    'Flags',
    columns(clientFlags, rows),
    '',
    'holdfast COMMAND --help tells more about one, and its flags.',
  ].join('\n')
}

/** What stands under a heading of its own has a first word in common. */
const headed = (commands: readonly Command[]): readonly (readonly [string, readonly Command[]])[] => {
  const groups = new Map<string, Command[]>()
  for (const command of commands) {
    const [word = ''] = command.path
    const isAlone = commands.every((other) => other === command || other.path[0] !== word)
    const heading = isAlone ? 'daemon' : word
    groups.set(heading, [...(groups.get(heading) ?? []), command])
  }
  return [...groups].toSorted(([a], [b]) => (a === 'daemon' ? -1 : b === 'daemon' ? 1 : a < b ? -1 : 1))
}

/** A word of consonants is an abbreviation. */
const titled = (word: string): string =>
  /[aeiou]/u.test(word) ? word.charAt(0).toUpperCase() + word.slice(1) : word.toUpperCase()

const firstSentence = (text: string): string => /^.*?[.!?](?= |$)/u.exec(text)?.[0] ?? text

const serveRow = ['serve', 'Start the daemon; also what holdfast without a command does.'] as const

export const overview = (commands: readonly Command[]): string => {
  const rowOf = (command: Command) => [callOf(command), firstSentence(command.summary)] as const
  const all = [serveRow, ...commands.map(rowOf)]
  return [
    'holdfast: a daemon that hosts durable agent sessions',
    '',
    ...headed(commands).flatMap(([heading, own]) => [
      titled(heading),
      columns([...(heading === 'daemon' ? [serveRow] : []), ...own.map(rowOf)], all),
      '',
    ]),
    'Flags of every command that calls a daemon',
    columns(clientFlags, all),
    '',
    'holdfast COMMAND --help tells more about one, and its flags.',
  ].join('\n')
}

export interface PluginFlag {
  readonly flag: string
  readonly variable: string
  readonly schema: JsonSchema
}

const properties = fieldSchemas(Settings)

/** The words that a flag of serve may be; none if it is free. What is true without it is of use with `false` alone. */
export const choicesOf = ({ type, enum: words, default: fallback }: JsonSchema): readonly string[] => {
  if (type === 'boolean' && fallback === true) return ['true', 'false']
  return Array.isArray(words) ? words.map(String) : []
}

/** What a flag takes: nothing, one of some words, a number, or text. */
const valueOf = (schema: JsonSchema): string => {
  const { type } = schema
  const words = choicesOf(schema)
  if (words.length > 0) return ` ${words.join('|')}`
  if (type === 'boolean') return ''
  return type === 'integer' || type === 'number' ? ' <number>' : ' <text>'
}

const isShown = (fallback: unknown): boolean =>
  fallback !== undefined && fallback !== false && fallback !== '' && typeof fallback !== 'object'

const flagRow = ({ flag, variable, schema }: PluginFlag): readonly [string, string] => {
  const { description = '', default: fallback } = schema
  const shown = isShown(fallback) ? `Default: ${String(fallback)}; ` : ''
  return [`--${flag}${valueOf(schema)}`, `${String(description)} [${shown}${variable}]`]
}

/** All flags of serve. */
export const serveFlags = (plugins: readonly PluginFlag[]): readonly PluginFlag[] => [
  ...daemonSettings.map(({ flag, variable, field }) => ({ flag, variable, schema: properties[field] ?? {} })),
  ...plugins,
]

export const serveHelp = (plugins: readonly PluginFlag[]): string =>
  [
    'holdfast serve',
    '',
    ...wrapped('Start the daemon in the foreground. Logs go to standard error, one line each.'),
    '',
    'Flags',
    columns(serveFlags(plugins).map(flagRow)),
  ].join('\n')
