/** A sub-command of the command line: a client of the HTTP API. */
import type { Json } from './schema.js'

/** Calls a daemon. A problem answer is thrown and printed as one sentence with its code. */
export interface Client {
  readonly baseUrl: string
  get(path: string): Promise<Json>
  send(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: Json,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Json>
  /** Frames of an SSE stream until it ends or the signal aborts. A frame above 1 MiB is an error. */
  stream(path: string, signal: AbortSignal): AsyncIterable<{ event: string; id?: string; data: Json }>
}

export interface CommandInput {
  readonly client: Client
  /** Positional arguments by name. */
  readonly args: Readonly<Record<string, string>>
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  readonly output: 'pretty' | 'json'
  /** Unix ms, by the clock of the one who calls. */
  now(): number
  /** One line or block of text on standard output. */
  print(text: string): void
  readonly signal: AbortSignal
}

export interface Command {
  /** `['runs', 'cancel']` is `holdfast runs cancel`. */
  readonly path: readonly string[]
  readonly summary: string
  /** Names of positional arguments; a trailing `?` makes one optional. */
  readonly args?: readonly string[]
  readonly flags?: Readonly<Record<string, { readonly kind: 'text' | 'switch'; readonly summary: string }>>
  /**
   * The answer is printed as JSON with `--output json`; otherwise through `show`. Return nothing if you printed
   * yourself.
   */
  run(input: CommandInput): Promise<Json | void>
  /** Readable text for the answer. */
  show?(answer: Json): string
  /** Exit code for the answer; 0 when absent. */
  status?(answer: Json): number
}
export const defineCommand = (command: Command): Command => command
