/** A sub-command of the command line: a client of the HTTP API. */
import type { Clock } from '../base/clock.js'
import type { Ids } from '../base/ids.js'
import { isJsonObject, type AnyStruct, type Json, type JsonObject, type StructOf } from '../base/schema.js'
import type { Supervised } from '../processes/contract.js'
import type { Disk } from '../state/disk/disk.js'

/** One event of an SSE stream. */
export interface Frame {
  readonly event: string
  readonly id?: string
  readonly data: Json
}

/** Calls a daemon. A problem answer is thrown and printed as one sentence with its code. */
export interface Client {
  readonly baseUrl: string
  get(path: string): Promise<Json>
  /** The headers of the answer to `OPTIONS`, by their names in small letters. */
  options(
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string | undefined>>>
  /** The whole of a file, in memory. */
  bytes(path: string): Promise<Uint8Array>
  send(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: Json,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Json>
  /**
   * Resolves once the daemon follows: nothing that happens later is missed. The frames end with the stream or when the
   * signal aborts. A frame above 1 MiB is an error.
   */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Frame>>
}

/** What somebody says to a command: a text of one line or more, Ctrl-C where nothing was typed, or the end of input. */
export type Said =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'interrupt' }
  | { readonly type: 'end' }

/** How a person is asked. */
export interface Hearing {
  /** Takes the question back. */
  readonly signal?: AbortSignal
  /** True for what the person may want to type again. */
  readonly remembered?: boolean
  /** What a line that begins so may become with the Tab key; nothing when absent. */
  readonly complete?: (line: string) => readonly string[]
}

/** Talks with who types at the terminal, or takes the lines of standard input one by one. */
export interface Dialogue {
  /** True where a person types and reads at a terminal: else no prompt is shown. */
  readonly attended: boolean
  /**
   * What is said next; undefined once the signal aborts. A line that ends with a backslash, or that is pasted, goes on
   * in the next one. One question at a time.
   */
  hear(prompt: string, hearing?: Hearing): Promise<Said | undefined>
  /** What Ctrl-C does from now on while nobody is asked. */
  onInterrupt(act: () => void): void
  /**
   * Draws a line on the terminal in place of the one that this drew before, as long as nobody is asked; an empty one
   * takes it away, which is to be done before anything else is printed.
   */
  note(text: string): void
  /** What is done before Ctrl-Z gives the terminal to the shell: from then on others write on it. */
  onStop(act: () => void): void
  /** Gives the terminal back. */
  close(): void
}

/** A daemon on the root that a command is about, and the files that people keep there for it. */
export interface NearDaemon {
  readonly client: Client
  readonly root: string
  /** True if it goes on when the command is done. */
  readonly serves: boolean
  /** The text of `config/NAME.toml`; undefined if there is none. */
  config(name: string): string | undefined
  /** Replaces it whole; without a text it is removed. */
  writeConfig(name: string, text: string | undefined): Promise<void>
}

/** What a command works with that goes on until it is ended, on a machine that may have no daemon. */
export interface Lasting {
  readonly clock: Clock
  readonly ids: Ids
  readonly disk: Disk
  /**
   * Holds a folder for this process alone, until it ends or lets it go; undefined if another process holds it. What
   * programs of an earlier holder have left is ended first.
   */
  hold(folder: string): Promise<HeldFolder | undefined>
}

/** A folder that this process alone works with. */
export interface HeldFolder {
  /** Starts programs that go with this process, at the latest with the next one that holds the folder. */
  readonly programs: Supervised
  release(): Promise<void>
}

export interface CommandInput {
  readonly client: Client
  /** Positional arguments by name. */
  readonly args: Readonly<Record<string, string>>
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  /** Every value of a flag of which the command takes several; none if it was not given. */
  all(flag: string): readonly string[]
  readonly output: 'pretty' | 'json'
  /** True if the line or the environment names the daemon: `--base-url`, `SERVICE_DAEMON_URL`. */
  readonly addressed: boolean
  /** Unix ms, by the clock of the one who calls. */
  now(): number
  /** A variable of the environment; undefined if it is not set or empty. */
  variable(name: string): string | undefined
  /** Calls another server on this machine, without a token; it has so many milliseconds in all, and 4 MiB. */
  reach(url: string, ms: number): Client
  /**
   * The daemon that holds the root of `--state-root`; where none does, one that is started for this and begins nothing.
   */
  withDaemon<T>(work: (near: NearDaemon) => Promise<T>): Promise<T>
  /** A daemon on a root of its own, with these files in its `config/` by their names; both are gone afterwards. */
  scratch<T>(config: Readonly<Record<string, string>>, work: (near: NearDaemon) => Promise<T>): Promise<T>
  /** Goes on until it is ended: meanwhile the process lives, and SIGTERM aborts the signal as an interrupt does. */
  lasting<T>(work: (tools: Lasting) => Promise<T>): Promise<T>
  /** Resolves after so many milliseconds, or when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** Begins to talk with the person; Ctrl-C no longer ends the command. The same one at each call. */
  dialogue(): Dialogue
  /** What went wrong, in the sentences that the command line has for it. */
  told(error: unknown): Promise<string>
  /** One line or block of text on standard output. */
  print(text: string): void
  /** A part of a text on standard output, which ends no line. */
  write(text: string): void
  /**
   * A block of text on standard output in place of the one that this wrote before, cut to the lines that the terminal
   * shows at once; where nobody reads along, it is printed behind that. Nothing where it would look the same, unless
   * the terminal has another size now. What is `above` stands over it for good, and from then on half of the rows are
   * for such texts.
   */
  redraw(block: string, above?: string): void
  /** True if standard output is a terminal, where a person reads along. */
  readonly attended: boolean
  /** Columns of that terminal as it is now; 80 where it is none. */
  columns(): number
  /**
   * The secret that one of `secretFlags` names, without the end of its line: never a part of the command line, and a
   * terminal does not show it.
   */
  secret(): Promise<string>
  /**
   * The JSON that this flag, `--file` or `--stdin` gives; undefined if none of them was given. What is no JSON is
   * refused before the daemon is asked.
   */
  json(flag: string): Promise<Json | undefined>
  /** Aborts when the person interrupts the command. */
  readonly signal: AbortSignal
  /** Sets the exit code, for a command that prints by itself. */
  exitWith(code: number): void
}

export interface CommandFlag {
  readonly kind: 'text' | 'switch'
  readonly summary: string
  /** What help calls its value; `text` when absent. */
  readonly value?: string
  /** May be given again; `all` has the values. */
  readonly several?: true
}

/** Flags of a command that takes a secret: one of them says where it comes from. */
export const secretFlags: Readonly<Record<string, CommandFlag>> = {
  stdin: { kind: 'switch', summary: 'Read the value from standard input; a terminal does not show it.' },
  'from-env': { kind: 'text', value: 'variable', summary: 'Read the value from this variable of the environment.' },
  'from-file': { kind: 'text', value: 'file', summary: 'Read the value from this file.' },
}

interface CommandForm {
  /** `['runs', 'cancel']` is `holdfast runs cancel`. */
  readonly path: readonly string[]
  readonly summary: string
  /** Names of positional arguments; a trailing `?` makes one optional. */
  readonly args?: readonly string[]
  readonly flags?: Readonly<Record<string, CommandFlag>>
  /** Flags that must be given, each of them, as `--to`. */
  readonly needs?: readonly string[]
  /** Of these at least one must be given: flags as `--to`, optional arguments as `<answer>`. */
  readonly oneOf?: readonly string[]
  /** It calls no daemon that its line names: it has no flags for that. */
  readonly alone?: true
  /** It talks with a person: help does not offer `--output`, and it refuses `json` itself. */
  readonly talks?: true
  /** What a flag or an argument may be, by its name, where there are a few words: for help and completion. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  /**
   * The route that the command stands for, as in `GET /v1/runs/{run_id}`: what a daemon says of the route is told of
   * the command.
   */
  readonly route?: string
  /**
   * What a field of the request is on the command line, as in `{ 'body.content': '<text>' }`, for the errors that name
   * it or a part of it; of several flags the one that was given, else the first. `body.input.*` is one that the flag
   * takes whole, as JSON: the errors name the place in it. A field with the name of an argument or a flag need not be
   * here.
   */
  readonly fields?: Readonly<Record<string, string | readonly string[]>>
}

/** A command as `defineCommand` checked it. */
export interface Command extends CommandForm {
  /** What an answer must look like to be shown; one of another shape is told member by member. */
  readonly answer?: AnyStruct
  /** The answer is printed: nothing is if there is none. */
  run(input: CommandInput): Promise<unknown>
  /**
   * Readable text for the answer, for a terminal of so many columns; its members are told line by line if this is
   * absent. With `--output json` it is printed as JSON instead.
   */
  show?(answer: unknown, columns: number): string
  /** Exit code for the answer; 0 when absent. */
  status?(answer: unknown): number
}

interface Showing<T> extends CommandForm {
  show?(answer: T, columns: number): string
  status?(answer: T): number
}
/** The answer of a daemon is parsed before it is shown. */
interface CallingCommand<T> extends Showing<T> {
  readonly answer: StructOf<T>
  run(input: CommandInput): Promise<Json | void>
}
/** What a command worked out by itself needs no check. */
interface OwnCommand<T> extends Showing<T> {
  readonly answer?: never
  run(input: CommandInput): Promise<T | void>
}
interface Define {
  <T>(command: CallingCommand<T>): Command
  <T>(command: OwnCommand<T>): Command
}
export const defineCommand: Define = (command: Command): Command => command

/** A body that was given as JSON, with what flags say of it; what is no object is the daemon's to refuse. */
export const withMembers = (body: Json | undefined, said: JsonObject): Json =>
  body === undefined ? said : isJsonObject(body) ? { ...body, ...said } : body
