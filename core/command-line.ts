/** The command line: maps a sub-command to a function and an error to an exit code. */
import { globals, outputOf, parseArguments, refuseTwice, serveSwitches, type Arguments } from './cli/arguments.js'
import { explain } from './cli/told/explain.js'
import {
  afterPrinting,
  columns,
  endEcho,
  endProcess,
  isAttended,
  isPrinting,
  openDialogue,
  print,
  printError,
  redraw,
  screen,
  watchOutput,
  watchSize,
  write,
  type OpenDialogue,
} from './cli/terminal.js'
import type { Problem } from './base/errors.js'
import type { ShortDaemon } from './cli/root/near-daemon.js'
import { createClock } from './base/clock.js'
import { environment } from './base/config.js'
import { sameKeyMs } from './same-key.js'

const exit = endProcess

/** A daemon goes on when nobody reads its log any more. */
let serves = false

const versionWords: ReadonlySet<string> = new Set(['--version', '-v', 'version'])
const serveWords: ReadonlySet<string> = new Set(['serve', 'start'])

/** A pager reads Ctrl-C itself, and ends as the person wishes. */
let pages = false

/** What is longer than the screen goes through a pager: nothing scrolls by unseen. */
const showWith =
  (say: (text: string) => void) =>
  async (text: string): Promise<void> => {
    const at = screen()
    if (at === undefined) return say(text)
    const { isLonger, page, pagerOf } = await import('./cli/screen/pager.js')
    pages = isLonger(text, at)
    const paged = pages && (await page(text, pagerOf(environment())))
    pages = false
    if (!paged) say(text)
  }

/** Nobody reads along any more: what a command has half made it takes back first. */
let isUnread = false
let heedUnread = (): void => exit(0)

/** A text that is longer is written for as long as its reader likes: then the system heeds an interrupt. */
const longText = 64 * 1024

/**
 * The first interrupt asks a command to end, a second one does not wait: unless it is a word in a dialogue, or the same
 * key.
 */
const onInterrupts = () => {
  const interrupted = new AbortController()
  const clock = createClock()
  let asked = 0
  let talking: OpenDialogue | undefined
  const hear = (): void => {
    if (pages) return
    if (talking?.attended !== true) endEcho()
    if (talking !== undefined) talking.interrupt()
    else if (!interrupted.signal.aborted) ask()
    else if (clock.elapsed() - asked > sameKeyMs) exit(130)
  }
  process.on('SIGINT', hear)
  heedUnread = () => interrupted.abort()
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
  const printLong = (text: string): void => {
    if (text.length <= longText) return print(text)
    process.off('SIGINT', hear)
    print(text)
    process.on('SIGINT', hear)
  }
  return { signal: interrupted.signal, talk, onTerminate, print: printLong }
}

const runClient = async (args: readonly string[]): Promise<number> => {
  const [client, { shipped }] = await Promise.all([import('./cli/client-line.js'), import('./shipped.js')])
  const { signal, talk, onTerminate, print: say } = onInterrupts()
  watchSize()
  const printing = { print: say, write, redraw, show: showWith(say), attended: isAttended(), columns, talk }
  const start = async (root: string, bare?: boolean): Promise<ShortDaemon> =>
    (await import('./short-daemon.js')).startShort(root, environment(), { signal, bare })
  return client.runClient({ args, shipped, environment: environment(), signal, start, onTerminate, ...printing })
}

const surplusOf = async (word: string): Promise<Problem> => {
  const { isDashed, unknownFlag } = await import('./base/text/unknown-flag.js')
  if (isDashed(word)) return unknownFlag(word, { command: 'serve', known: [] })
  return (await import('./cli/told/errors.js')).errors.argument_surplus({ details: { command: 'serve', word } })
}

const runServe = async (line: Arguments): Promise<number> => {
  const { words, flags } = line
  refuseTwice(line)
  const [surplus] = words
  if (surplus !== undefined) throw await surplusOf(surplus)
  if (flags.has('help')) {
    const { pluginFlags } = await import('./cli/plugin-commands.js')
    const plugins = await (await import('./shipped.js')).shipped.plugins()
    return (print((await import('./cli/help.js')).serveHelp(pluginFlags(plugins))), 0)
  }
  serves = true
  return (await import('./serve.js')).serve({ flags, environment: environment(), exit, print })
}

const runVersion = async (): Promise<number> => (print((await import('./base/version.js')).version), 0)

/**
 * Serve with its flags around it, or only flags, is serve; `--help` alone is that of all commands, and so are flags of
 * those that call a daemon.
 */
const run = async (args: readonly string[]): Promise<number> => {
  const [first] = args
  if (first !== undefined && versionWords.has(first)) return runVersion()
  const line = parseArguments(args, serveSwitches)
  const { words, flags } = line
  const [command, about = ''] = words
  if (command === 'help' && serveWords.has(about))
    return runServe({ ...line, words: words.slice(2), flags: new Map(flags).set('help', true) })
  if (command !== undefined && serveWords.has(command)) return runServe({ ...line, words: words.slice(1) })
  const bare =
    first === undefined || (first.startsWith('--') && words.length === 0 && !globals.some((one) => flags.has(one)))
  return bare ? runServe(line) : runClient(args)
}

/** What failed has failed, also where nobody reads why. */
let hasFailed = false

const told = (error: unknown): number => {
  hasFailed = true
  const { text, code } = explain(error, outputOf(process.argv.slice(2)))
  printError(text)
  return code
}

const unwritten = async (reason: string): Promise<never> => {
  const { errors } = await import('./cli/told/errors.js')
  return exit(told(errors.output_unwritten({ details: { reason } })))
}

/** Runs the process's command line and ends the process with its exit code. */
export const main = (): void => {
  watchOutput({
    onReaderGone() {
      if (serves) return
      isUnread = true
      heedUnread()
    },
    onUnwritten(reason) {
      if (!serves) ending ??= unwritten(reason)
    },
  })
  let ending: Promise<never> | undefined
  void run(process.argv.slice(2))
    .catch(told)
    .then((code) => {
      // What is left is written for as long as its reader likes.
      if (isPrinting()) process.removeAllListeners('SIGINT')
      afterPrinting(() => ending ?? exit(isUnread && !hasFailed ? 0 : code))
    })
}
