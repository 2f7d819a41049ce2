import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createCommitLog, type Pending } from '../../../../core/state/log/commit-log.js'
import { longestTail } from '../../../../core/state/log/replay.js'
import { defaultTuning } from '../../../../core/state/tuning.js'

test('a batch is counted in bytes, so that no batch is longer than the tail that a start takes for torn', async (t) => {
  const batches: number[] = []
  const log = createCommitLog({
    sequence: 0,
    clock: createClock(),
    failed: (_, error) => t.fail(String(error)),
    advanced: () => {},
    permitted: () => true,
    beforeForgetting: async () => {},
    halted: () => false,
  })
  log.use({
    path: '',
    no: 1,
    first: 1,
    seed: 0,
    length: 0,
    append: async (bytes) => void batches.push(bytes.length),
    close: async () => {},
  })
  const mebibyte = 1024 * 1024
  const text = `"t":1,"ops":["${'€'.repeat(mebibyte)}"]`
  const pending = (resolve: () => void): Pending => ({
    text,
    forgets: false,
    settle: resolve,
    undo: () => {},
    reject: () => t.fail(),
  })
  await Promise.all(Array.from({ length: 6 }, () => new Promise<void>((resolve) => log.push(pending(resolve)))))
  t.deepEqual(
    batches.map((bytes) => Math.floor(bytes / mebibyte)),
    [6, 6, 6],
  )
  t.true(4 * mebibyte + defaultTuning.longestLine + 4096 * 100 < longestTail)
})
