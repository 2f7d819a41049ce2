import test from 'ava'
import { firstSeed } from './crash-suite.js'
import { countOperations, explore, type Tally } from './explore.js'
import { loadEngine } from './life.js'
import type { FaultKind, Operation } from './simulated-disk.js'

const kinds: readonly FaultKind[] = ['EIO', 'ENOSPC', 'EMFILE', 'short']

/** Together with the crash suites more than 200,000 states. */
for (const { title, span, rounds, least } of [
  {
    title:
      'every call that fails once, in each way, costs nothing that was acknowledged, also after a kill or a power cut',
    span: 1,
    rounds: 14,
    least: 42_000,
  },
  {
    title: 'a disk that fails for a while costs nothing that was acknowledged, also after a kill or a power cut',
    span: 12,
    rounds: 10,
    least: 23_000,
  },
]) {
  test(title, async (t) => {
    t.timeout(900_000)
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
    for (let first = 1; first <= operations; first += 1) {
      for (const kind of kinds) {
        const fail = ({ number }: Operation): FaultKind | undefined =>
          number >= first && number < first + span ? kind : undefined
        await explore({ ...plain, fail }, tally).catch((cause: unknown) => {
          throw new TypeError(
            `${kind} at operation ${first}: ${cause instanceof Error ? cause.message : String(cause)}`,
          )
        })
      }
    }
    const seconds = (performance.now() - started) / 1000
    t.log(
      `seed ${plain.seed}: ${operations * kinds.length} faults, ${tally.states} crash states after them in ` +
        `${seconds.toFixed(0)} s, ${Math.round(tally.states / seconds)} a second`,
    )
    t.true(firstSeed() !== 1 || tally.states >= least)
  })
}
