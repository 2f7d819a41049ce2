/** The hard limit of a stop. It is kept by a thread of its own, because the event loop may be what does not end. */
import { Worker } from 'node:worker_threads'

export interface StopLimit {
  readonly ms: number
  /** Written to standard error, with its newline, when the limit is over. */
  readonly line: string
}

/** Text instead of a file: the folder of the daemon may have been replaced since it started. */
const thread = `
const { workerData: { ms, line } } = require('node:worker_threads')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
try { require('node:fs').writeSync(2, line) } finally { process.kill(process.pid, 'SIGKILL') }
`

/** Kills the process when the time is over. To the state that is a crash, which the next start repairs. */
export const limitStop = (limit: StopLimit): void => {
  new Worker(thread, { eval: true, workerData: limit, env: {}, execArgv: [] }).unref()
}
