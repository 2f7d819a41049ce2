/** One command line that is no serve: from its words to its exit code. */
import type { Command } from '../plugin/command.js'
import { parseArguments, switchesOf } from './arguments.js'
import { coreCommands } from './commands.js'
import { completionCommand } from './completion.js'
import { findCommand, runCommand, type Line } from './dispatch.js'
import { commandHelp, groupHelp, leadingHelp, overview, serveFlags } from './help.js'
import { pluginFlags } from './plugin-commands.js'
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

/** Resolves with the exit code; 130 when it was interrupted. */
export const runClient = async ({ args, shipped, ...line }: ClientLine): Promise<number> => {
  const { print, signal } = line
  const commands = await allCommands(shipped)
  const { words, flags, again } = parseArguments(args, switchesOf(commands))
  if (words.length === 0 || (words[0] === 'help' && words.length === 1)) return (print(overview(commands)), 0)
  if (words[0] === 'help') return runClient({ args: [...words.slice(1), '--help'], shipped, ...line })
  const group = commands.filter(
    ({ path }) => words.length < path.length && words.every((word, at) => path[at] === word),
  )
  const leader = commands.find(({ path }) => path.join(' ') === words.join(' '))
  if (flags.has('help') && group.length > 0)
    return (print(leader === undefined ? groupHelp(words, group) : leadingHelp(leader, group)), 0)
  const command = findCommand({ words, flags }, commands)
  if (flags.has('help')) return (print(commandHelp(command)), 0)
  return runCommand(command, { ...line, commands, words, flags, again }).catch((error: unknown) => {
    if (signal.aborted) return 130
    throw error
  })
}
