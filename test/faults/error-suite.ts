/** The suite of a failing disk: calls fail in each way at each operation of one life, and every crash after them is judged. */
import type { ExecutionContext } from 'ava'
import { firstSeed } from './crash-suite.js'
import { countOperations, explore, type Tally } from './explore.js'
import { loadEngine } from './life.js'
import type { FaultKind, Operation } from './simulated-disk.js'

const kinds: readonly FaultKind[] = ['EIO', 'ENOSPC', 'EMFILE', 'short']

export interface ErrorSuite {
  /** Calls that fail one after the other. */
  readonly span: number
  readonly rounds: number
  /** Operations between the first calls that fail; 1 tries each. */
  readonly step: number
  /** Crash states that must have been judged, with the usual seed. */
  readonly least: number
}

export const errorSuite = async (t: ExecutionContext, { span, rounds, step, least }: ErrorSuite): Promise<void> => {
  const engine = await loadEngine()
  const tally: Tally = { states: 0, operations: 0, insideRecovery: 0, afterRecovery: 0 }
  const plain = {
    engine,
    seed: firstSeed() + span,
    rounds,
    ends: ['close', 'kill', 'power'] as const,
    images: 1,
    every: 31,
  }
  const operations = await countOperations(plain)
  const started = performance.now()
  for (let first = 1; first <= operations; first += step) {
    for (const kind of kinds) {
      const fail = ({ number }: Operation): FaultKind | undefined =>
        number >= first && number < first + span ? kind : undefined
      await explore({ ...plain, fail }, tally).catch((cause: unknown) => {
        throw new TypeError(`${kind} at operation ${first}: ${cause instanceof Error ? cause.message : String(cause)}`)
      })
    }
  }
  const seconds = (performance.now() - started) / 1000
  t.log(
    `seed ${plain.seed}: ${Math.ceil(operations / step) * kinds.length} faults, ${tally.states} crash states after them in ` +
      `${seconds.toFixed(0)} s, ${Math.round(tally.states / seconds)} a second`,
  )
  t.true(firstSeed() !== 1 || tally.states >= least)
}
