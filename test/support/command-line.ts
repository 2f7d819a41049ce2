/** The command line in this process, against one daemon. */
import { outputOf } from '../../core/cli/arguments.js'
import { runClient } from '../../core/cli/client-line.js'
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

/** What the command prints and its exit code, as `holdfast` with these words would. */
export const createCommandLine =
  ({ url }: { readonly url: string }, signal: AbortSignal = never, attended = false): CommandLine =>
  async (...args) => {
    const printed: string[] = []
    const print = (text: string): void => void printed.push(`${visible(text)}\n`)
    const write = (text: string): void => void printed.push(visible(text))
    const given = [`--base-url=${url}`, ...args]
    const end = await runClient({ shipped, args: given, environment: {}, signal, print, write, attended })
      .then((code) => ({ code, text: '' }))
      .catch((error: unknown) => explain(error, outputOf(args)))
    return { code: end.code, out: printed.join(''), err: end.text === '' ? '' : `${visible(end.text)}\n` }
  }
