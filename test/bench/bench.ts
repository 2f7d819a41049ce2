/** What every part of the bench shares: its rounds, its rows, and the two programs that it measures in turns. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { quantile, send, submitAndComplete, type Sample } from './load.js'
import { startServer, type Server } from './server.js'

export interface Row {
  readonly what: string
  readonly unit: string
  readonly floor?: number
  readonly holdfast: number
  readonly ratio?: number
  readonly better: 'more' | 'less'
}

/** Adds a row and prints it: a figure of the daemon, and that of the floor beside it if there is one. */
export type Note = (what: string, unit: string, better: Row['better'], holdfast: number, floor?: number) => void

export interface Bench {
  readonly note: Note
  readonly quick: boolean
  readonly rounds: number
  /** How long one measurement takes. */ readonly milliseconds: number
  /** Stored runs of the largest history, if somebody wants another number. */ readonly runs: number | undefined
}

/** A part of the bench: what `--only` calls it, and its rows. */
export interface Part {
  readonly name: string
  measure(bench: Bench): Promise<void>
}

const here = import.meta.dirname
export const main = resolve(here, '../../core/main.js')
export const programOf = (name: string): string => join(here, `${name}.js`)

export const temporaryRoot = (): string => mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
export const startDaemon = (root: string, flags: readonly string[] = []): Promise<Server> =>
  startServer([main, 'serve', '--bind', '127.0.0.1:0', '--state-root', root, '--log-level', 'error', ...flags])
/** `model`: the address of the model that it asks for each run. */
export const startFloor = (model?: string): Promise<Server> =>
  startServer([programOf('floor'), ...(model === undefined ? [] : [model])])

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Makes the sessions that the clients of a load submit to. */
export const prepare = async (base: string, prefix: string, clients: number): Promise<void> => {
  await Promise.all(
    Array.from({ length: clients }, (_, n) => send(`${base}/v1/sessions`, { session_id: `${prefix}${n}` })),
  )
}

/** What a load of runs gave, and milliseconds of the server's CPU time for each. */
export type Measured = Sample & { readonly cpuPerRun: number }

export const measureRuns = async (
  server: Server,
  options: { clients: number; prefix: string; milliseconds: number },
): Promise<Measured> => {
  const before = server.cpu()
  const sample = await submitAndComplete(server.url, options)
  return { ...sample, cpuPerRun: (server.cpu() - before) / sample.count }
}
