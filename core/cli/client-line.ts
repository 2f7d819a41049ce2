/** One command line that is no serve: from its words to its exit code. */
import { Problem } from '../base/errors.js'
import type { Command } from '../plugin/command.js'
import { errors } from '../state/errors.js'
import { globals, parseArguments, switchesOf, type Arguments } from './arguments.js'
import { coreCommands } from './commands.js'
import { completionCommand } from './completion.js'
import { findCommand, matches, runCommand, type Line } from './dispatch.js'
import { commandHelp, groupHelp, leadingHelp, overview, serveFlags } from './help.js'
import { pluginFlags } from './plugin-commands.js'
import { errors as usage } from './told/errors.js'
import type { ShippedView } from './shipped-view.js'

export interface ClientLine extends Omit<Line, 'words' | 'flags' | 'commands'> {
  readonly args: readonly string[]
  readonly shipped: ShippedView
}

export const allCommands = async (shipped: ShippedView): Promise<readonly Command[]> => {
  const commands = [...(await shipped.commands()), ...coreCommands(shipped)]
  const serve = async () => serveFlags(pluginFlags(await shipped.plugins()))
  return [...commands, completionCommand(commands, serve)]
}

/** What a line says, and the commands among which it is to be found. */
interface Read extends Arguments {
  readonly commands: readonly Command[]
}

const readWith = (args: readonly string[], commands: readonly Command[]): Read => ({
  ...parseArguments(args, switchesOf(commands)),
  commands,
})

/** Imports only the commands that begin with the first word where it names one of them: all of them take longer. */
const read = async (args: readonly string[], shipped: ShippedView): Promise<Read> => {
  const [word = ''] = args
  const some = readWith(args, [...(await shipped.commands(word)), ...coreCommands(shipped)])
  const isFound = some.commands.some((command) => matches(some.words, command))
  return isFound ? some : readWith(args, await allCommands(shipped))
}

/** What was interrupted says how things stand; all else that an interrupt ends was wanted so. */
const isTold = (error: unknown): boolean => error instanceof Problem && error.code === errors.interrupted.code

/** Refuses flags of commands without a command. */
const refuseCommandless = (flags: Arguments['flags']): void => {
  const flag = globals.find((one) => flags.has(one))
  if (flag === undefined || flags.has('help')) return
  throw (flags.get(flag) === true ? usage.flag_value_missing : usage.command_missing)({ details: { flag } })
}

/** Resolves with the exit code; 130 when it was interrupted. */
export const runClient = async ({ args, shipped, ...line }: ClientLine): Promise<number> => {
  const { signal, show = async (text) => line.print(text) } = line
  const say = async (text: string): Promise<number> => {
    await show(text)
    return 0
  }
  const { words, flags, again, commands } = await read(args, shipped)
  if (words.length === 0) refuseCommandless(flags)
  if (words.length === 0 || (words[0] === 'help' && words.length === 1)) return say(overview(commands))
  if (words[0] === 'help') return runClient({ args: [...words.slice(1), '--help'], shipped, ...line })
  const group = commands.filter(
    ({ path }) => words.length < path.length && words.every((word, at) => path[at] === word),
  )
  const leader = commands.find(({ path }) => path.join(' ') === words.join(' '))
  if (flags.has('help') && group.length > 0)
    return say(leader === undefined ? groupHelp(words, group) : leadingHelp(leader, group))
  const command = findCommand({ words, flags }, commands)
  if (flags.has('help')) return say(commandHelp(command))
  const named = { words, flags, again, commands: () => allCommands(shipped) }
  return runCommand(command, { ...line, ...named }).catch((error: unknown) => {
    if (signal.aborted && !isTold(error)) return 130
    throw error
  })
}
