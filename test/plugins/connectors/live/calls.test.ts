import test from 'ava'
import { keepAlive } from '../../../../core/base/keep-alive.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { createCalls } from '../../../../plugins/connectors/live/calls.js'
import type { LiveKind, LiveOutcome } from '../../../../plugins/connectors/live/contract.js'
import { placesOf } from '../../../../plugins/connectors/live/places.js'
import { createLatch } from '../../../support/latch.js'

const chat = { stream_replies: false, approver_ids: [], most_text: 4096, edit_ms: 1000 }
/** The connector of an address is what stands before its slash. */
const kind = unsafeCast<LiveKind>({
  plugin: 'telegram',
  chat: (address: string) =>
    address.startsWith('gone') ? undefined : { ...chat, connector: address.slice(0, address.indexOf('/')) },
})
const place = (address: string) => ({ kind, address })
const done: LiveOutcome = { type: 'done' }
const log = unsafeCast<Parameters<typeof createCalls>[0]['log']>({ error: () => {} })

const start = () => {
  const [clock, told] = [createLeapingClock({ still: true }), [] as string[]]
  const connectors = {
    trouble: (_: string, name: string, { state }: { state: string }) => void told.push(`${name} ${state}`),
    well: (_: string, name: string) => void told.push(`${name} well`),
  }
  const calls = createCalls({ clock, log, connectors: () => unsafeCast(connectors) })
  return { clock, told, calls, end: (outcome: LiveOutcome, at = 'a/1') => calls.make(place(at), async () => outcome) }
}

test('live-2: one call at a time for an address, four for a connector, 32 for the daemon', async (t) => {
  const { calls } = start()
  const latch = createLatch()
  const begun: string[] = []
  const make = (address: string) =>
    calls.make(place(address), async () => {
      begun.push(address)
      await latch.wait()
      return done
    })
  const first = make('a/1')
  t.is(await make('a/1'), undefined)
  const more = ['a/2', 'a/3', 'a/4'].map(make)
  t.is(await make('a/5'), undefined)
  const others = Array.from({ length: 28 }, (_, at) => make(`b${at}/1`))
  t.is(await make('c/1'), undefined)
  t.is(begun.length, 32)
  latch.open()
  for (const outcome of await Promise.all([first, ...more, ...others])) t.deepEqual(outcome, done)
  t.deepEqual(await make('a/1'), done)
  t.deepEqual(await make('gone/1'), { type: 'refused' })
})

test('live-12: a platform that asks for time gets it, and one that fails three times is left alone and told of', async (t) => {
  const { clock, told, end } = start()
  t.deepEqual(await end({ type: 'later', retry_after_ms: 5000 }), { type: 'later', retry_after_ms: 5000 })
  t.is(await end(done, 'a/2'), undefined)
  t.deepEqual(await end(done, 'b/1'), done)
  clock.leap(5001)
  t.deepEqual(await end(done), done)
  await end({ type: 'later', retry_after_ms: 1e12 })
  clock.leap(3_600_001)
  t.deepEqual(await end(done), done)
  t.deepEqual(told, [])
  for (let n = 0; n < 3; n += 1) await end({ type: 'later' })
  t.deepEqual(told, ['a degraded'])
  t.is(await end(done), undefined)
  clock.leap(30_001)
  await end(done)
  t.deepEqual(told, ['a degraded', 'a well'])
  await end({ type: 'refused', trouble: { state: 'degraded', cause: 'No.', action: 'Do it.' } })
  t.is(told.at(-1), 'a degraded')
})

test('live-4: a call that hangs or throws is cut off, and an end of all cuts off what is under way', async (t) => {
  const { clock, calls } = start()
  t.teardown(keepAlive())
  let aborted = false
  const hangs = calls.make(
    place('a/1'),
    (signal) =>
      new Promise<LiveOutcome>(() => {
        signal.addEventListener('abort', () => void (aborted = true))
      }),
  )
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))
  await turn()
  clock.leap(10_001)
  await turn()
  t.true(aborted)
  clock.leap(2001)
  t.deepEqual(await hangs, { type: 'later' })
  t.deepEqual(await calls.make(place('b/1'), () => Promise.reject(new TypeError('no'))), { type: 'later' })
  const latch = createLatch()
  const last = calls.make(place('c/1'), async (signal) => {
    signal.addEventListener('abort', () => latch.open())
    await latch.wait()
    return done
  })
  await calls.close()
  t.deepEqual(await last, done)
  t.is(await calls.make(place('d/1'), async () => done), undefined)
})

test('live-2, live-3: four targets at most, and none of a run whose outputs stay here', (t) => {
  const run = (more: object) => unsafeCast<Parameters<typeof placesOf>[1]>({ session_id: 's1', ...more })
  const targets = ['gone/1', 'a/1', 'b/1', 'c/1', 'd/1', 'e/1'].map((address) => ({ plugin: 'telegram', address }))
  const sessions = unsafeCast<Parameters<typeof placesOf>[0]['sessions']>({
    find: () => ({ reply_targets: [{ plugin: 'http', address: 'https://a.example' }, ...targets.slice(1, 2)] }),
  })
  const parts = { sessions, kinds: () => [kind] }
  const addresses = (more: object) => placesOf(parts, run(more)).map(({ address }) => address)
  t.deepEqual(addresses({ reply_targets: targets }), ['a/1', 'b/1', 'c/1', 'd/1'])
  t.deepEqual(addresses({}), ['a/1'])
  t.deepEqual(addresses({ origin: { observation_allows_output_delivery: false } }), [])
})
