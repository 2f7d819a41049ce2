/** Programs that the daemon starts: commands of tools, searches, servers beside it. */
import type { Readable } from 'node:stream'
import { defineToken } from '../base/token.js'

/** What is to be started. */
export interface ProgramWish {
  /** A path, or a name that is looked up in the `PATH` of the environment. */
  readonly file: string
  readonly args: readonly string[]
  /** Absolute path of the folder that it runs in. */
  readonly folder: string
  /** All that it sees: nothing of the daemon's own is added. */
  readonly environment: Readonly<Record<string, string>>
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
 * A program in a session and a process group of its own, without standard input. Its descriptor 3 reads the end of file
 * when the daemon is gone, or whoever waits for the program: it should end then.
 */
export interface Program {
  /** Undefined if it was refused, or lost before anybody knew its number. It is the number of its group too. */
  readonly pid: number | undefined
  /** Clock ticks since boot at which it began; empty where the system does not tell. */
  readonly started: string
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
export const Processes = defineToken<Processes>('processes@1')
