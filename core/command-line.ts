/** The command line: maps a sub-command to a function and an error to an exit code. */
import { outputOf, parseArguments, refuseTwice, serveSwitches, type Arguments } from './cli/arguments.js'
import { explain } from './cli/told/explain.js'
import {
  afterPrinting,
  columns,
  endEcho,
  isAttended,
  onReaderGone,
  openDialogue,
  print,
  printError,
  redraw,
  screen,
  watchSize,
  write,
  type OpenDialogue,
} from './cli/terminal.js'
import type { ShortDaemon } from './cli/root/near-daemon.js'
import { createClock } from './base/clock.js'
import { environment } from './base/config.js'
import { sameKeyMs } from './same-key.js'

const exit = (code: number): never => process.exit(code)

/** A daemon goes on when nobody reads its log any more. */
let serves = false

const versionWords: ReadonlySet<string> = new Set(['--version', '-v', 'version'])
const serveWords: ReadonlySet<string> = new Set(['serve', 'start'])

/** A pager reads Ctrl-C itself, and ends as the person wishes. */
let pages = false

/** What is longer than the screen goes through a pager: nothing scrolls by unseen. */
const show = async (text: string): Promise<void> => {
  const at = screen()
  if (at === undefined) return print(text)
  const { isLonger, page, pagerOf } = await import('./cli/screen/pager.js')
  pages = isLonger(text, at)
  const paged = pages && (await page(text, pagerOf(environment())))
  pages = false
  if (!paged) print(text)
}

/**
 * The first interrupt asks a command to end, a second one does not wait: unless it is a word in a dialogue, or the same
 * key.
 */
const onInterrupts = () => {
  const interrupted = new AbortController()
  const clock = createClock()
  let asked = 0
  let talking: OpenDialogue | undefined
  process.on('SIGINT', () => {
    if (pages) return
    if (talking?.attended !== true) endEcho()
    if (talking !== undefined) talking.interrupt()
    else if (!interrupted.signal.aborted) ask()
    else if (clock.elapsed() - asked > sameKeyMs) exit(130)
  })
  const ask = (): void => {
    asked = clock.elapsed()
    interrupted.abort()
  }
  const talk = (): OpenDialogue => (talking = openDialogue())
  const onTerminate = () => {
    const abort = (): void => interrupted.abort()
    process.on('SIGTERM', abort)
    return (): void => void process.off('SIGTERM', abort)
  }
  return { signal: interrupted.signal, talk, onTerminate }
}

const runClient = async (args: readonly string[]): Promise<number> => {
  const [client, { shipped }] = await Promise.all([import('./cli/client-line.js'), import('./shipped.js')])
  const { signal, talk, onTerminate } = onInterrupts()
  watchSize()
  const printing = { print, write, redraw, show, attended: isAttended(), columns, talk }
  const start = async (root: string, bare?: boolean): Promise<ShortDaemon> =>
    (await import('./short-daemon.js')).startShort(root, environment(), { signal, bare })
  return client.runClient({ args, shipped, environment: environment(), signal, start, onTerminate, ...printing })
}

const runServe = async (line: Arguments): Promise<number> => {
  const { words, flags } = line
  refuseTwice(line)
  const [surplus] = words
  if (surplus !== undefined)
    throw (await import('./cli/told/errors.js')).errors.argument_surplus({
      details: { command: 'serve', word: surplus },
    })
  if (flags.has('help')) {
    const { pluginFlags } = await import('./cli/plugin-commands.js')
    const plugins = await (await import('./shipped.js')).shipped.plugins()
    return (print((await import('./cli/help.js')).serveHelp(pluginFlags(plugins))), 0)
  }
  serves = true
  return (await import('./serve.js')).serve({ flags, environment: environment(), exit, print })
}

const runVersion = async (): Promise<number> => (print((await import('./base/version.js')).version), 0)

/** Serve with its flags around it, or only flags, is serve; `--help` alone is that of all commands. */
const run = async (args: readonly string[]): Promise<number> => {
  const [first] = args
  if (first !== undefined && versionWords.has(first)) return runVersion()
  const line = parseArguments(args, serveSwitches)
  const { words, flags } = line
  const [command] = words
  if (command !== undefined && serveWords.has(command)) return runServe({ ...line, words: words.slice(1) })
  const bare = first === undefined || (first.startsWith('--') && !flags.has('help') && words.length === 0)
  return bare ? runServe(line) : runClient(args)
}

const told = (error: unknown): number => {
  const { text, code } = explain(error, outputOf(process.argv.slice(2)))
  printError(text)
  return code
}

/** Runs the process's command line and ends the process with its exit code. */
export const main = (): void => {
  onReaderGone(() => {
    if (!serves) exit(0)
  })
  void run(process.argv.slice(2))
    .catch(told)
    .then((code) => afterPrinting(() => exit(code)))
}
