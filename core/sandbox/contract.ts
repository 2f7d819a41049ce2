/** Work on files that may be hostile, in processes of its own. Rules: docs/rules/sandbox.md. */
import type { Json, StructOf } from '../base/schema.js'
import { defineToken, type Token } from '../base/token.js'

/** What one job may take. */
export interface JobLimits {
  /** Milliseconds, from its begin. */
  readonly ms: number
  /** Bytes of memory that its process may have for data. Node itself takes 50 MiB of them. */
  readonly memoryBytes: number
  /** Bytes of the files that come back, all together. */
  readonly resultBytes: number
}

/** One kind of work: its jobs share a process, one after the other. Its value is its identity. */
export interface JobFamily<A> {
  /** Kebab-case. */
  readonly name: string
  /**
   * A compiled module of the plugin, as in `new URL('./image.js', import.meta.url)`. It exports `work`, a
   * `JobProgram`. It and its packages are all that it sees.
   */
  readonly program: URL
  /** What the answer must be: it comes from where a hostile file was read. */
  readonly answer: StructOf<A>
  readonly limits: JobLimits
}

/** What the program of a family is given. */
export interface JobInput {
  readonly bytes: Uint8Array
  readonly options: Json
}
/** What it makes of it. */
export interface JobOutput {
  readonly answer: Json
  readonly files?: Readonly<Record<string, Uint8Array>>
}
/** Ends a job: the file is not taken, for this reason, which is told to who sent it. */
export type Refuse = (reason: string) => never
/** What the program of a family exports as `work`. What it throws refuses the file for a reason of ours. */
export type JobProgram = (input: JobInput, refuse: Refuse) => Promise<JobOutput>

/** A file with what is to be done with it. */
export interface Job extends JobInput {
  /** Aborts a job that waits or runs; it rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** What came of a job. `failed`: the file was too much, or broke what read it. */
export type JobResult<A> =
  | { readonly type: 'done'; readonly answer: A; readonly files: ReadonlyMap<string, Uint8Array> }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'failed'; readonly code: 'timed_out' | 'crashed' | 'unfit'; readonly reason: string }

/** How well jobs are kept apart. */
export interface Walls {
  /** True behind bubblewrap: no network, no files but the program's own. */
  readonly in_force: boolean
  /** Why not. */
  readonly reason?: string
}

/** Runs jobs; a hostile file costs its job and nothing else. */
export interface Sandbox {
  /** Rejects with `sandbox_busy` (503) where too much waits, and `sandbox_not_begun` (503) where no process begins. */
  run<A>(family: JobFamily<A>, job: Job): Promise<JobResult<A>>
  /** As of the last process that began; undefined before the first. */
  walls(): Walls | undefined
}
/** Runs jobs on files that may be hostile. */
export const Sandbox: Token<Sandbox> = defineToken<Sandbox>('sandbox@1')
