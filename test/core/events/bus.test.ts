import test from 'ava'
import fc from 'fast-check'
import { createClock } from '../../../core/base/clock.js'
import { createBus, type EventFault, type Sink } from '../../../core/events/bus.js'
import { createLagCheck } from '../../../core/events/lagged.js'
import { defineEvent } from '../../../core/events/contract.js'
import { epochAfter } from '../../../core/events/epoch.js'
import { integer, object, open } from '../../../core/base/schema.js'
import { parseJson } from '../../support/json.js'

const ticked = defineEvent({ name: 'ticked', summary: 'A tick.', data: object({ n: integer() }) })
const other = defineEvent({ name: 'other', summary: 'Another.', data: open({}) })
const still = { clock: createClock() }
const start = (more: { epoch?: number; capacity?: number; bytes?: number } = {}) => {
  const faults: EventFault[] = []
  return {
    faults,
    bus: createBus({ ...still, epoch: 7, capacity: 16, onFault: (fault) => faults.push(fault), ...more }),
  }
}
const first = (7n << 32n) + 1n
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** A sink in memory that can be full. */
const collect = () => {
  const state = { full: false, text: '' }
  const sink: Sink = {
    ready: () => !state.full,
    roomy: () => !state.full,
    write: (bytes) => {
      state.text += Buffer.from(bytes).toString('utf8')
    },
  }
  const frames = (): any[] => [...state.text.matchAll(/^data: (.*)$/gmu)].map(([, json]) => parseJson(json ?? ''))
  return {
    state,
    sink,
    frames,
    numbers: (): number[] =>
      frames()
        .filter(({ type }) => type === 'ticked')
        .map(({ n }) => n),
  }
}

test('events-5: ids rise over restarts, also when the clock went back', (t) => {
  t.is(epochAfter(0, 1_700_000_000_999), 1_700_000_000)
  t.is(epochAfter(1_700_000_000, 1_600_000_000_000), 1_700_000_001)
  const [before, after] = [start({ epoch: 5 }).bus, start({ epoch: 6 }).bus]
  for (const bus of [before, after]) bus.publish(ticked, {}, () => ({ n: 1 }))
  t.true(BigInt(after.since('0')[0]?.id ?? 0) > BigInt(before.since('0')[0]?.id ?? 0))
  t.is(before.since('0')[0]?.id, ((5n << 32n) + 1n).toString())
})

test('since gives what is kept after an id, by scope', (t) => {
  const { bus } = start({ capacity: 3 })
  for (let n = 1; n <= 5; n += 1) bus.publish(ticked, { run: n % 2 === 0 ? 'even' : 'odd' }, () => ({ n }))
  const seen = (id: string, filter?: { scope: string; id: string }): number[] =>
    bus.since(id, filter).map((event) => parseJson(event.json()).n)
  t.deepEqual(seen('0'), [3, 4, 5])
  t.deepEqual(seen((first + 3n).toString()), [5])
  t.deepEqual(seen((first + 90n).toString()), [])
  t.deepEqual(seen('0', { scope: 'run', id: 'odd' }), [3, 5])
  t.deepEqual(seen('nonsense'), [])
})

test('events-20: a listener that throws or rejects is charged to its owner, and the others run', async (t) => {
  const { bus, faults } = start()
  const seen: number[] = []
  bus.on(
    ticked,
    () => {
      throw new TypeError('one')
    },
    { owner: 'plugin-a' },
  )
  bus.on(
    ticked,
    async () => {
      throw new TypeError('two')
    },
    { owner: 'plugin-b' },
  )
  bus.on(
    ticked,
    ({ n }) => {
      seen.push(n)
    },
    { owner: 'plugin-c' },
  )
  const off = bus.on(ticked, ({ n }) => {
    seen.push(-n)
  })
  bus.publish(ticked, {}, () => ({ n: 1 }))
  off()
  bus.emit(ticked, {}, () => ({ n: 2 }))
  bus.publish(other, {}, () => ({}))
  await turn()
  t.deepEqual(seen, [1, -1, 2])
  t.deepEqual(faults.map(({ owner, event }) => `${owner} ${event}`).sort(), [
    'plugin-a ticked',
    'plugin-a ticked',
    'plugin-b ticked',
    'plugin-b ticked',
  ])
})

test('a listener that publishes does not overtake: all see events in the order of their ids', (t) => {
  const { bus } = start()
  const seen: string[] = []
  bus.on(ticked, ({ n }) => {
    if (n < 3) bus.publish(ticked, {}, () => ({ n: n + 1 }))
    seen.push(`a${n}`)
  })
  bus.on(ticked, ({ n }) => {
    seen.push(`b${n}`)
  })
  bus.publish(ticked, {}, () => ({ n: 1 }))
  t.deepEqual(seen, ['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
})

test('a listener is not told what it does not want, and nothing is made for it', (t) => {
  const { bus, faults } = start()
  const seen: string[] = []
  let wanted = false
  let made = 0
  const tick = (n: number): void => bus.publish(ticked, {}, () => ((made += 1), { n }))
  bus.on(
    ticked,
    ({ n }) => {
      seen.push(`a${n}`)
    },
    { wanted: () => wanted },
  )
  tick(1)
  t.is(made, 0)
  wanted = true
  tick(2)
  wanted = false
  const off = bus.on(ticked, ({ n }) => {
    seen.push(`b${n}`)
  })
  tick(3)
  off()
  bus.on(
    ticked,
    () => {
      seen.push('c')
    },
    {
      wanted: () => {
        throw new TypeError('odd')
      },
      owner: 'plugin-c',
    },
  )
  tick(4)
  t.deepEqual([seen, made], [['a2', 'b3'], 2])
  t.like(faults, [{ owner: 'plugin-c', event: 'ticked' }])
})

test('data is made once, only when somebody looks, and a fault in it harms nobody', async (t) => {
  const { bus, faults } = start()
  let made = 0
  const make = (n: number) => () => {
    made += 1
    return { n }
  }
  bus.publish(ticked, {}, make(1))
  t.is(made, 0)
  const [one, two] = [collect(), collect()]
  bus.subscribe(one.sink, { cursor: 0n })
  bus.subscribe(two.sink, {})
  bus.publish(ticked, {}, () => {
    throw new TypeError('broken')
  })
  const cyclic: { n: number; self?: object } = { n: 0 }
  cyclic.self = cyclic
  bus.publish(ticked, {}, () => cyclic)
  bus.publish(ticked, {}, make(4))
  await turn()
  t.deepEqual([one.numbers(), two.numbers(), made], [[1, 4], [4], 2])
  t.deepEqual(
    faults.map(({ owner, event }) => `${owner} ${event}`),
    ['events ticked', 'events ticked'],
  )
})

test('a subscriber that throws is dropped, and the others go on', async (t) => {
  const { bus, faults } = start()
  const good = collect()
  const broken: Sink = {
    ready: () => true,
    roomy: () => true,
    write: () => {
      throw new TypeError('gone')
    },
  }
  bus.subscribe(broken, {})
  bus.subscribe(broken, { cursor: 1n })
  bus.subscribe(good.sink, {})
  bus.publish(ticked, {}, () => ({ n: 1 }))
  await turn()
  bus.publish(ticked, {}, () => ({ n: 2 }))
  await turn()
  t.deepEqual(good.numbers(), [1, 2])
  t.is(faults.length, 2)
  t.is(bus.statistics().subscriber_count, 1)
})

test(
  'whatever the order of publishing, joining, filling and draining, a subscriber gets each event once or is told ' +
    'how many it lost',
  async (t) => {
    const seed = fc.sample(fc.integer(), 1)[0] ?? 0
    t.log(`seed ${seed}`)
    const action = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant('publish' as const),
          count: fc.integer({ min: 1, max: 12 }),
          run: fc.constantFrom('x', 'y'),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constantFrom('turn' as const, 'full' as const, 'drain' as const),
          who: fc.nat(3),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('join' as const),
          cursor: fc.option(fc.nat(40), { nil: undefined }),
          run: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
        }),
      },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const { bus } = start({ capacity: 8, bytes: 6000 })
        const log: { n: number; run: string }[] = []
        const subscribers: {
          box: ReturnType<typeof collect>
          subscription: { catchUp(): void; leave(): void }
          from: number
          run: string | undefined
        }[] = []
        for (const step of actions) {
          if (step.kind === 'publish')
            for (let n = 0; n < step.count; n += 1) {
              const event = { n: log.length + 1, run: step.run }
              log.push(event)
              bus.publish(ticked, { run: event.run }, () => ({ n: event.n, pad: 'x'.repeat(step.count * 150) }))
            }
          if (step.kind === 'join') {
            const box = collect()
            const from = step.cursor === undefined ? log.length : Math.min(step.cursor, log.length)
            const subscription = bus.subscribe(box.sink, {
              ...(step.run !== undefined && { filter: { scope: 'run', id: step.run } }),
              ...(step.cursor !== undefined && { cursor: (7n << 32n) + BigInt(step.cursor) }),
            })
            subscribers.push({ box, subscription, from, run: step.run })
          }
          if (step.kind === 'turn') await turn()
          if (!('who' in step)) continue
          const subscriber = subscribers[step.who]
          if (subscriber === undefined) continue
          if (step.kind === 'full') subscriber.box.state.full = true
          if (step.kind === 'drain') {
            subscriber.box.state.full = false
            subscriber.subscription.catchUp()
          }
        }
        for (const subscriber of subscribers) {
          subscriber.box.state.full = false
          subscriber.subscription.catchUp()
        }
        await turn()
        for (const { box, from, run } of subscribers) {
          const wanted = log
            .slice(from)
            .filter((event) => run === undefined || event.run === run)
            .map(({ n }) => n)
          const got = box.numbers()
          const gaps = box.frames().filter(({ type }) => type === 'stream_gap')
          const lost = gaps.reduce((sum, { skipped }) => sum + skipped, 0)
          if (got.some((n, index) => index > 0 && n <= (got[index - 1] ?? 0)) || got.some((n) => !wanted.includes(n)))
            return false
          if (
            gaps.some((gap) => gap.skipped_is_estimate)
              ? got.length > wanted.length
              : got.length + lost !== wanted.length
          )
            return false
        }
        return true
      }),
      { numRuns: 300, seed },
    )
    t.pass()
  },
)

test('statistics tell the state of the window', (t) => {
  const { bus } = start({ capacity: 4 })
  t.like(bus.statistics(), {
    history_capacity: 4,
    retained_event_count: 0,
    next_event_id: first.toString(),
    evicted_event_count: 0,
    replay_buffer_utilization_percent: 0,
  })
  t.false('oldest_event_id' in bus.statistics())
  for (let n = 1; n <= 10; n += 1) bus.publish(ticked, { session: 's', run: `r${n}` }, () => ({ n }))
  t.like(bus.statistics(), {
    retained_event_count: 4,
    oldest_event_id: (first + 6n).toString(),
    newest_event_id: (first + 9n).toString(),
    next_event_id: (first + 10n).toString(),
    replay_buffer_utilization_percent: 100,
    evicted_event_count: 6,
    evicted_session_scope_count: 1,
    evicted_run_scope_count: 6,
    subscriber_count: 0,
  })
  for (let n = 11; n <= 100; n += 1) bus.publish(ticked, { session: 's', run: `r${n}` }, () => ({ n }))
  t.like(bus.statistics(), { evicted_run_scope_count: 16, scope_eviction_floor_id: (first + 79n).toString() })
})

const kept = (bus: ReturnType<typeof start>['bus']): number => bus.statistics().retained_event_count
const heavy = (bus: ReturnType<typeof start>['bus'], bytes: number): void =>
  bus.post({ name: 'ticked', keys: { run: 'r' }, bytes, data: () => ({ n: 1, pad: 'x'.repeat(bytes) }) })

test('events-15: large events leave the window before its number is reached, and the newest never', (t) => {
  const { bus } = start({ capacity: 2048, bytes: 10_000_000 })
  for (let n = 0; n < 300; n += 1) heavy(bus, 900_000)
  t.is(kept(bus), 11)
  t.like(bus.statistics(), { evicted_event_count: 289, replay_buffer_utilization_percent: 99 })
  heavy(bus, 50_000_000)
  t.is(kept(bus), 1)
  heavy(bus, 0)
  t.is(kept(bus), 1)
  for (let n = 0; n < 20; n += 1) heavy(bus, 100)
  t.is(kept(bus), 21)
})

test('an event whose text is larger than reckoned makes the window let go, and a replay tells what it missed', async (t) => {
  const { bus } = start({ capacity: 64, bytes: 20_000 })
  for (let n = 1; n <= 20; n += 1) bus.publish(ticked, {}, () => ({ n, pad: '語'.repeat(1000) }))
  t.is(kept(bus), 20)
  const box = collect()
  bus.subscribe(box.sink, { cursor: 0n })
  await turn()
  const lost = box.frames().reduce((sum, { skipped = 0 }) => sum + skipped, 0)
  t.is(box.numbers().length + lost, 20)
  t.is(box.numbers().at(-1), 20)
  t.true(kept(bus) <= 6, `${kept(bus)} events of 3 kB in 20 kB`)
})

test('a view within another sees what carries both keys, live and from the window', async (t) => {
  const { bus } = start()
  const within = { scope: 'run', id: 'r1', within: { scope: 'session', id: 's1' } }
  const [live, late] = [collect(), collect()]
  bus.subscribe(live.sink, { filter: within })
  bus.publish(ticked, { session: 's1', run: 'r1' }, () => ({ n: 1 }))
  bus.publish(ticked, { session: 's2', run: 'r1' }, () => ({ n: 2 }))
  bus.publish(ticked, { session: 's1', run: 'r2' }, () => ({ n: 3 }))
  bus.publish(ticked, { session: 's1' }, () => ({ n: 4 }))
  await turn()
  bus.subscribe(late.sink, { filter: within, cursor: 0n })
  t.deepEqual([live.numbers(), late.numbers()], [[1], [1]])
})

test('events-19: events that slow readers lost are a warning for a while', async (t) => {
  const { bus } = start({ capacity: 4 })
  let now = 0
  const { check } = createLagCheck(bus, { ...createClock(), elapsed: () => now })
  const box = collect()
  const subscription = bus.subscribe(box.sink, { cursor: 0n })
  t.deepEqual(check(), [])
  box.state.full = true
  for (let n = 1; n <= 20; n += 1) bus.publish(ticked, {}, () => ({ n }))
  await turn()
  box.state.full = false
  subscription.catchUp()
  t.like(check()[0], { severity: 'warning', code: 'event_stream_lagged' })
  now = 599_999
  t.is(check().length, 1)
  now = 600_000
  t.deepEqual(check(), [])
})

test('events-14: the capacity is clamped', (t) => {
  const capacity = (wanted: number): number => start({ capacity: wanted }).bus.statistics().history_capacity
  t.deepEqual([0, -5, 1, 2048, 10_000_000, Number.NaN].map(capacity), [1, 1, 1, 2048, 262_144, 1])
})

test('many events of one turn reach a sink that fills up without loss or repetition', async (t) => {
  const { bus } = start({ capacity: 4096 })
  const box = collect()
  let room = 3
  const sink: Sink = {
    ready: () => room > 0,
    roomy: () => room > 0,
    write: (bytes) => {
      room -= 1
      box.sink.write(bytes)
    },
  }
  const subscription = bus.subscribe(sink, {})
  for (let n = 1; n <= 2000; n += 1) bus.publish(other, { pad: 'x' }, () => ({ n, pad: 'x'.repeat(500) }))
  await turn()
  const clock = createClock()
  for (let tries = 0; box.frames().length < 2000 && tries < 100; tries += 1) {
    room = 2
    subscription.catchUp()
    await clock.sleep(0)
  }
  t.deepEqual(
    box.frames().map(({ n }) => n),
    Array.from({ length: 2000 }, (_, index) => index + 1),
  )
})
