import test, { type ExecutionContext } from 'ava'
import { createAudit, ringSize, type Refusal } from '../../../core/records/audit.js'
import { createClock, type Clock } from '../../../core/base/clock.js'
import type { AuthRecord } from '../../../core/http/access/auth.js'
import { createIds } from '../../../core/base/ids.js'
import { createDisk } from '../../../core/state/disk/real-disk.js'
import { openState } from '../../../core/state/store/root.js'
import { tempRoot } from '../../support/notes.js'

const refusal = (more: Partial<AuthRecord> = {}): AuthRecord => ({
  timestamp_ms: 1000,
  event: 'cors_origin_rejected',
  method: 'GET',
  path: '/v1/status',
  reason: 'origin_not_allowed',
  origin: 'http://evil.example',
  remote_addr: '127.0.0.1',
  required_access: null,
  ...more,
})
const start = async (t: ExecutionContext, root = tempRoot(t)) => {
  const timers = new Set<() => void>()
  const real = createClock()
  const clock: Clock = {
    ...real,
    after: (_ms, callback) => {
      timers.add(callback)
      return () => void timers.delete(callback)
    },
  }
  const warnings: string[] = []
  const log = { debug: () => {}, info: () => {}, error: () => {}, warn: (fact: string) => void warnings.push(fact) }
  const opened = await openState({
    root,
    disk: createDisk(),
    clock: real,
    ids: createIds(real),
    log,
    publish: () => {},
    generation: 1,
    tuning: { ballastBytes: 4096, freeBytes: 0 },
  })
  const audit = createAudit({ state: opened.state, clock, log })
  await opened.load()
  return {
    root,
    opened,
    audit,
    warnings,
    timers,
    sequence: () => opened.state.health.sequence,
    records: (): Refusal[] =>
      Array.from({ length: ringSize }, (_, n) => audit.refusals.find(String(n).padStart(4, '0'))).flatMap(
        (one) => one ?? [],
      ),
  }
}

test('http-29: any number of refusals is one commit a minute, and like ones are one record with a count', async (t) => {
  const { audit, opened, timers, sequence, records } = await start(t)
  const before = sequence()
  for (let n = 0; n < 100_000; n += 1) audit.record(refusal({ timestamp_ms: 1000 + n }))
  audit.record(refusal({ event: 'auth_failure', reason: 'invalid_token', origin: null, required_access: 'admin' }))
  t.is(sequence(), before, 'no refusal is a commit of its own')
  t.is(timers.size, 1)
  for (const fire of timers) fire()
  await opened.state.durable()
  t.is(sequence(), before + 1)
  t.like(records(), [
    { number: 0, count: 100_000, last_ms: 100_999, first: refusal() },
    { number: 1, count: 1, first: { reason: 'invalid_token', required_access: 'admin' } },
  ])
  await opened.close()
})

test('a flood of different refusals is counted together', async (t) => {
  const { audit, opened, records } = await start(t)
  for (let n = 0; n < 5000; n += 1) audit.record(refusal({ path: `/v1/${n}` }))
  await audit.close()
  t.true(records().length <= 33)
  t.is(
    records().reduce((sum, { count }) => sum + count, 0),
    5000,
  )
  await opened.close()
})

test('the oldest refusals give way to new ones, and a restart goes on behind the newest', async (t) => {
  const first = await start(t)
  for (let minute = 0; minute < 40; minute += 1) {
    for (let n = 0; n < 32; n += 1) first.audit.record(refusal({ path: `/v1/${minute}/${n}` }))
    await first.audit.close()
  }
  await first.opened.close()
  const second = await start(t, first.root)
  second.audit.record(refusal({ path: '/v1/last' }))
  await second.audit.close()
  const numbers = second.records().map(({ number }) => number)
  t.is(numbers.length, ringSize)
  t.deepEqual([Math.min(...numbers), Math.max(...numbers)], [40 * 32 + 1 - ringSize, 40 * 32])
  await second.opened.close()
})

test('refusals that cannot be kept are logged and harm nobody', async (t) => {
  const { audit, opened, warnings } = await start(t)
  await opened.close()
  audit.record(refusal())
  await audit.close()
  t.deepEqual(warnings, ['refused requests could not be recorded'])
})
