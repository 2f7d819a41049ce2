#!/usr/bin/env node
/** The command line: maps a sub-command to a function and an error to an exit code. */
import { parseArguments } from './cli/arguments.js'
import { usageCodes } from './cli/errors.js'
import { afterPrinting, onReaderGone, print, printError } from './cli/terminal.js'
import type { Command } from './command.js'
import { environment } from './config.js'
import { Problem } from './errors.js'

const exit = (code: number): never => process.exit(code)

const serveWords: ReadonlySet<string> = new Set(['serve', 'start'])

const allCommands = async (): Promise<readonly Command[]> => {
  const [{ coreCommands }, { pluginCommands }] = await Promise.all([
    import('./cli/commands.js'),
    import('./cli/plugin-commands.js'),
  ])
  return [...(await pluginCommands()), ...coreCommands]
}

const runClient = async (args: readonly string[]): Promise<number> => {
  const [commands, { findCommand, runCommand }, help] = await Promise.all([
    allCommands(),
    import('./cli/dispatch.js'),
    import('./cli/help.js'),
  ])
  const switches = commands.flatMap(({ flags = {} }) =>
    Object.entries(flags)
      .filter(([, { kind }]) => kind === 'switch')
      .map(([flag]) => flag),
  )
  const { words, flags } = parseArguments(args, new Set([...switches, 'help']))
  if (words.length === 0 || words[0] === 'help') return (print(help.overview(commands)), 0)
  const group = commands.filter(
    ({ path }) => words.length < path.length && words.every((word, at) => path[at] === word),
  )
  if (flags.has('help') && group.length > 0) return (print(help.groupHelp(words, group)), 0)
  const command = findCommand(words, commands)
  if (flags.has('help')) return (print(help.commandHelp(command)), 0)
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  return runCommand(command, { words, flags, environment: environment(), signal: interrupted.signal, print })
}

const runServe = async (args: readonly string[]): Promise<number> => {
  const { words, flags } = parseArguments(args, new Set(['safe', 'help']))
  const [surplus] = words
  if (surplus !== undefined)
    throw (await import('./cli/errors.js')).errors.argument_surplus({ details: { command: 'serve', word: surplus } })
  if (flags.has('help'))
    return (
      print((await import('./cli/help.js')).serveHelp(await (await import('./cli/plugin-commands.js')).pluginFlags())),
      0
    )
  return (await import('./cli/serve.js')).serve({ flags, environment: environment(), exit, print })
}

/** No command, or only flags of serve, is serve. */
const run = (args: readonly string[]): Promise<number> => {
  const [first] = args
  if (first !== undefined && serveWords.has(first)) return runServe(args.slice(1))
  const bare =
    first === undefined ||
    (first.startsWith('--') &&
      !args.some((word) => word === '--help') &&
      parseArguments(args, new Set(['safe'])).words.length === 0)
  return bare ? runServe(args) : runClient(args)
}

const explain = (error: unknown): number => {
  if (!(error instanceof Problem)) {
    printError(`holdfast: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    return 1
  }
  const { action } = error.spec
  printError(`holdfast: ${error.message} (${error.code})${action === undefined ? '' : `\n${action}`}`)
  return usageCodes.has(error.code) ? 2 : 1
}

onReaderGone(() => exit(0))
const code = await run(process.argv.slice(2)).catch(explain)
afterPrinting(() => exit(code))
