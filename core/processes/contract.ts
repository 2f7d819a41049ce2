/** Programs that the daemon starts: commands of tools, searches, servers beside it. */
import type { Readable, Writable } from 'node:stream'
import { defineToken, type Token } from '../base/token.js'

/** What is to be started. */
export interface ProgramWish {
  /** A path, or a name that is looked up in the `PATH` of the environment. */
  readonly file: string
  readonly args: readonly string[]
  /** Absolute path of the folder that it runs in. */
  readonly folder: string
  /** All that it sees: nothing of the daemon's own is added. */
  readonly environment: Readonly<Record<string, string>>
  /** True to have a standard input; without one it reads its end at once. */
  readonly input?: boolean
}

/**
 * How a program ended. `refused`: it never began, for the system's reason, such as `ENOENT`. `lost`: nobody could wait
 * for it, so it was killed with its group; what it did until then stays done.
 */
export type ProgramEnd =
  | { readonly type: 'ended'; readonly code: number | null; readonly signal: string | null }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'lost' }

/**
 * A program in a session and a process group of its own. Its descriptor 3 reads the end of file
 * when the daemon is gone, or whoever waits for the program: it should end then.
 */
export interface Program {
  /** Undefined if it was refused, or lost before anybody knew its number. It is the number of its group too. */
  readonly pid: number | undefined
  /** Clock ticks since boot at which it began; empty where the system does not tell. */
  readonly started: string
  /** Its standard input, if the wish had one. What is written after its end is lost without a word. */
  readonly input: Writable | undefined
  /** Must be read or let go: what is not read holds the program up. */
  readonly stdout: Readable
  readonly stderr: Readable
  /** Never rejects. What it put out may still be on the way. */
  readonly ended: Promise<ProgramEnd>
  /** Both outputs were read to their end, or let go. */
  readonly closed: Promise<void>
  /** Ends what is left of its group by SIGKILL. */
  kill(): void
  /** Closes both outputs, also while others hold their other end. */
  letGo(): void
}

/** Starts programs, at a cost that does not grow with the memory of the daemon. */
export interface Processes {
  /** Never rejects: a refusal is the end of a program that never was. */
  start(wish: ProgramWish): Promise<Program>
}
export const Processes: Token<Processes> = defineToken<Processes>('processes@1')

/** How the first process of a program ended. */
export interface Exit {
  readonly started: boolean
  /** Nobody could wait for its end, so it was killed. */
  readonly lost: boolean
  readonly code: number | null
  readonly signal: string | null
}

/** What came of a stop. */
export interface Stopped {
  readonly found: number
  /** Still there at the end; empty when the stop is confirmed. */
  readonly remaining: readonly number[]
  /** False where nobody can look at the processes: then nothing was found, whatever is there. */
  readonly supported: boolean
}

/** A program that is to be ended with everything it started. */
export interface SupervisedWish extends Omit<ProgramWish, 'file' | 'args'> {
  /** A command for bash, or sh where there is none; or a program, found by `PATH`, and its arguments. */
  readonly run: string | readonly string[]
  /** Names it among those of this life of the daemon; made if absent. */
  readonly name?: string
  /** True to have both outputs in standard output, in the order in which they came. */
  readonly merged?: boolean
  /** True where the first process holds the others and takes them along when it ends: a stop leaves it for the last. */
  readonly holds?: boolean
}

/** A program with all that it starts: its group, its session, their descendants, and whoever carries its marker. */
export interface SupervisedProgram extends Pick<Program, 'pid' | 'started' | 'input' | 'stdout' | 'stderr'> {
  /** False if nothing was started. */
  readonly isThere: boolean
  /** The first process has ended. Never rejects. */
  readonly exited: Promise<Exit>
  /**
   * Ends all of it: SIGTERM (not for a first process that holds the others), SIGKILL after `grace_ms`, until
   * a look at all processes finds none. May be called again, and after the end of the first process, for what
   * that has left.
   */
  stop(grace_ms: number): Promise<Stopped>
  /** SIGKILL for its group. Must be called before the daemon forgets it, at its end at the latest. */
  kill(): void
  /** Closes both outputs when all was read, or a second later while others hold their other end. */
  letGo(): Promise<void>
}

/**
 * Starts programs that leave nothing behind. They go with the daemon; what an earlier life of it left all the same is
 * ended at a start, before plugins start.
 */
export interface Supervised {
  /** Never rejects: a refusal is the end of a program that never was. */
  start(wish: SupervisedWish): Promise<SupervisedProgram>
  /**
   * Finds what belongs to them now, for a stop that comes later: a program that ends by itself meanwhile leaves behind
   * what nobody could tell to be its own.
   */
  remember(programs: readonly SupervisedProgram[]): Promise<void>
  /** Ends several at once, as each would by itself. */
  stop(programs: readonly SupervisedProgram[], grace_ms: number): Promise<Stopped>
}
export const Supervised: Token<Supervised> = defineToken<Supervised>('supervised@1')
