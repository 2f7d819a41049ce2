/** Texts of `--help`. */
import type { Command } from '../plugin/command.js'
import { daemonSettings, Settings } from '../base/settings.js'
import { fieldSchemas, type JsonSchema } from '../base/schema.js'

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

const placeholder = (name: string): string => (name.endsWith('?') ? `[${name.slice(0, -1)}]` : `<${name}>`)
export const usage = ({ path, args = [] }: Command): string => [...path, ...args.map(placeholder)].join(' ')

const clientFlags: readonly (readonly [string, string])[] = [
  ['--base-url <url>', 'The daemon to call; SERVICE_DAEMON_URL, else http://127.0.0.1:4000.'],
  ['--token <token>', 'Bearer token; SERVICE_DAEMON_TOKEN.'],
  ['--token-file <file>', 'File with the bearer token; SERVICE_DAEMON_TOKEN_FILE.'],
  ['--output pretty|json', 'Readable text, or JSON for programs.'],
]

export const commandHelp = (command: Command): string => {
  const own = Object.entries(command.flags ?? {}).map(
    ([flag, { kind, summary }]) => [`--${flag}${kind === 'text' ? ' <text>' : ''}`, summary] as const,
  )
  return [`holdfast ${usage(command)}`, '', command.summary, '', 'Flags', columns([...own, ...clientFlags])].join('\n')
}

const listed = (commands: readonly Command[]): (readonly [string, string])[] =>
  commands.map((command) => [usage(command), command.summary])

/** The commands that begin with the same words. */
export const groupHelp = (words: readonly string[], commands: readonly Command[]): string =>
  [`holdfast ${words.join(' ')}`, '', 'Commands', columns(listed(commands)), '', 'Flags', columns(clientFlags)].join(
    '\n',
  )

export const overview = (commands: readonly Command[]): string =>
  [
    'holdfast: a daemon that hosts durable agent sessions',
    '',
    'Commands',
    columns([['serve', 'Start the daemon; also what holdfast without a command does.'], ...listed(commands)]),
    '',
    'Flags of every command but serve',
    columns(clientFlags),
    '',
    'holdfast <command> --help tells more about one.',
  ].join('\n')

export interface PluginFlag {
  readonly flag: string
  readonly variable: string
  readonly schema: JsonSchema
}

const properties = fieldSchemas(Settings)

/** What a flag takes: nothing, one of some words, a number, or text. */
const valueOf = ({ type, enum: words }: JsonSchema): string => {
  if (type === 'boolean') return ''
  if (Array.isArray(words)) return ` ${words.join('|')}`
  return type === 'integer' || type === 'number' ? ' <number>' : ' <text>'
}

const isShown = (fallback: unknown): boolean =>
  fallback !== undefined && fallback !== false && fallback !== '' && typeof fallback !== 'object'

const flagRow = ({ flag, variable, schema }: PluginFlag): readonly [string, string] => {
  const { description = '', default: fallback } = schema
  const shown = isShown(fallback) ? `Default: ${String(fallback)}; ` : ''
  return [`--${flag}${valueOf(schema)}`, `${String(description)} [${shown}${variable}]`]
}

export const serveHelp = (plugins: readonly PluginFlag[]): string => {
  const own = daemonSettings.map(({ flag, variable, field }) => ({ flag, variable, schema: properties[field] ?? {} }))
  return [
    'holdfast serve',
    '',
    'Start the daemon in the foreground. Logs go to standard error, one line each.',
    '',
    'Flags',
    columns([...own, ...plugins].map(flagRow)),
  ].join('\n')
}
