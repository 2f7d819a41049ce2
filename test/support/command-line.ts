/** The command line in this process, against one daemon. */
import { outputOf } from '../../core/cli/arguments.js'
import { runClient } from '../../core/cli/client-line.js'
import { startShort } from '../../core/short-daemon.js'
import { shipped } from '../../core/shipped.js'
import { explain } from '../../core/cli/told/explain.js'
import { visible } from '../../core/base/text/visible.js'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}
export type CommandLine = (...args: readonly string[]) => Promise<Ran>

const never = new AbortController().signal

type Given = Omit<Parameters<typeof runClient>[0], 'shipped' | 'print' | 'write'>

const runIn = async (given: Given): Promise<Ran> => {
  const printed: string[] = []
  const print = (text: string): void => void printed.push(`${visible(text)}\n`)
  const write = (text: string): void => void printed.push(visible(text))
  const end = await runClient({ shipped, print, write, ...given })
    .then((code) => ({ code, text: '' }))
    .catch((error: unknown) => explain(error, outputOf(given.args)))
  return { code: end.code, out: printed.join(''), err: end.text === '' ? '' : `${visible(end.text)}\n` }
}

/** What the command prints and its exit code, as `holdfast` with these words would. */
export const createCommandLine =
  ({ url }: { readonly url: string }, signal: AbortSignal = never, attended = false): CommandLine =>
  (...args) =>
    runIn({ args: [`--base-url=${url}`, ...args], environment: {}, signal, attended })

/** The same with these words alone, for commands that know themselves whom they ask. */
export const createLine =
  (signal: AbortSignal = never): CommandLine =>
  (...args) =>
    runIn({ args, environment: {}, signal })

/** The same with these words alone: for commands that work on files or say themselves whom they ask. */
export const runLine: CommandLine = (...args) => createEnvironmentLine({})(...args)

/** The same in this environment. */
export const createEnvironmentLine =
  (environment: Readonly<Record<string, string>>): CommandLine =>
  (...args) =>
    runIn({
      args,
      environment,
      signal: never,
      start: (at, bare) => startShort(at, environment, { signal: never, bare }),
    })

/** The same on a state root that nobody holds, with this environment. */
export const createRootLine =
  (root: string, environment: Readonly<Record<string, string>>): CommandLine =>
  (...args) =>
    runIn({
      args: [...args, '--state-root', root],
      environment,
      signal: never,
      start: (at, bare) => startShort(at, environment, { signal: never, bare }),
    })
