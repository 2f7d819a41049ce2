/** The command line at work on a stopped root, and the generator, each a process of its own. */
import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { fault } from '../../../core/base/assert.js'
import { unsafeCast } from '../../../core/base/schema.js'
import { main, programOf } from '../bench.js'
import type { History } from './write.js'

export interface Work {
  readonly milliseconds: number
  /** The most that was ever resident at once. MiB. */
  readonly most: number
}

/** Undefined once the process is gone. */
const mostResident = (pid: number | undefined): number | undefined => {
  try {
    const found = /VmHWM:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return found === null ? undefined : Number(found[1]) / 1024
  } catch {
    return undefined
  }
}

/** Runs the command line, or another program, to its end. Throws if it fails. */
export const workOf = async (args: readonly string[], program = main): Promise<Work> => {
  const begin = performance.now()
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  let most = 0
  const look = setInterval(() => {
    most = mostResident(child.pid) ?? most
  }, 10)
  const code = await new Promise((resolve) => {
    child.once('exit', resolve)
  })
  clearInterval(look)
  if (code !== 0) throw fault(`${args.join(' ')} ended with ${String(code)}`)
  return { milliseconds: performance.now() - begin, most }
}

const run = promisify(execFile)

/** Its memory is not the bench's. A session has about a hundred runs; there are a thousand sessions at most. */
export const generate = async (root: string, runs: number): Promise<History> => {
  const sessions = Math.max(10, Math.min(1000, Math.round(runs / 100)))
  const numbers = ['--runs', String(runs), '--sessions', String(sessions)]
  const { stdout } = await run(process.execPath, [programOf('history'), '--root', root, ...numbers], {
    maxBuffer: 2 ** 24,
  })
  return unsafeCast<History>(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''))
}
