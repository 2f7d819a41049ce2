/** The crash suite: workloads from one seed on until enough states were recovered and judged. */
import type { ExecutionContext } from 'ava'
import { explore, type Tally } from './explore.js'
import { loadEngine } from './life.js'
import type { WorkloadOptions } from './workload.js'

export interface Suite {
  readonly states: number
  readonly ends: WorkloadOptions['ends']
  readonly rounds: number
  readonly images: number
}

/** The first seed of a run; FAULT_SEED brings another one. */
export const firstSeed = (): number => Number(process.env['FAULT_SEED'] ?? 1)

export const crashSuite = async (t: ExecutionContext, { states, ...rest }: Suite): Promise<void> => {
  const engine = await loadEngine()
  const tally: Tally = { states: 0, operations: 0, insideRecovery: 0, afterRecovery: 0 }
  const started = performance.now()
  let seed = firstSeed()
  for (; tally.states < states; seed += 1)
    await explore({ engine, seed, ...rest, enough: () => tally.states >= states }, tally)
  const seconds = (performance.now() - started) / 1000
  t.log(
    `seeds ${firstSeed()} to ${seed - 1}: ${tally.states} crash states (${tally.insideRecovery} of crashes ` +
      `inside a recovery, ${tally.afterRecovery} after one) at ${tally.operations} operations in ` +
      `${seconds.toFixed(0)} s, ${Math.round(tally.states / seconds)} a second`,
  )
  t.true(tally.states >= states)
}
