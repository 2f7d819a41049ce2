/** Other processes that want a root's lock. */
import type { ExecutionContext } from 'ava'
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Mechanism } from '../../core/state/root/owner.js'
import { findBundle } from './bundle.js'

const { lockChild } = await findBundle()

export interface Contender {
  readonly process: ChildProcess
  /** `locked <generation>` or `refused <code> <pid>`, in words. */
  readonly answer: string[]
  kill(): Promise<void>
  end(): Promise<void>
}

export const contend = async (t: ExecutionContext, root: string, guard: Mechanism = 'flock'): Promise<Contender> => {
  const started = spawn(process.execPath, [lockChild, root, guard], { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = new Promise<void>((resolve) => started.once('exit', () => resolve()))
  t.teardown(() => started.kill('SIGKILL'))
  const lines = createInterface({ input: started.stdout })
  const line = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    lines.once('close', () => setImmediate(() => reject(new Error('ended and said nothing'))))
  })
  return {
    process: started,
    answer: line.split(' '),
    kill: async () => {
      started.kill('SIGKILL')
      await gone
    },
    end: async () => {
      started.stdin.end()
      await gone
    },
  }
}
