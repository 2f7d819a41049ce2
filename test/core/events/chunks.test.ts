import test from 'ava'
import fc from 'fast-check'
import { createClock } from '../../../core/base/clock.js'
import { createBus, type Sink } from '../../../core/events/bus.js'
import { createChunks, joinFrames, type Framed } from '../../../core/events/chunks.js'
import { shortOnly, volume } from '../../support/volume.js'

const cheap = shortOnly(test)

const epoch = 7
const start = (more: { capacity?: number; bytes?: number } = {}) =>
  createBus({
    clock: createClock(),
    epoch,
    capacity: 16,
    onFault: ({ error }) => {
      throw error
    },
    ...more,
  })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

const collect = () => {
  const state = { bytes: Buffer.alloc(0), full: false }
  const sink: Sink = {
    ready: () => !state.full,
    roomy: () => !state.full,
    write: (bytes) => {
      state.bytes = Buffer.concat([state.bytes, bytes])
    },
  }
  return { sink, state, text: () => state.bytes.toString('utf8') }
}

const jsonOf = (n: number, text: string): string => JSON.stringify({ type: 'told', n, text })
const frameOf = (n: number, text: string): string =>
  `event: told\nid: ${(BigInt(epoch) << 32n) + BigInt(n)}\ndata: ${jsonOf(n, text)}\n\n`
const tell = (bus: ReturnType<typeof start>, n: number, text: string): void =>
  bus.post({ name: 'told', keys: { run: n % 2 === 0 ? 'even' : 'odd' }, bytes: 0, data: () => ({ n, text }) })

test('frames are the same bytes live, in a filtered view, from the window and as JSON, whatever their size and signs', async (t) => {
  const seed = fc.sample(fc.integer(), 1)[0] ?? 0
  t.log(`seed ${seed}`)
  const text = fc
    .tuple(
      fc.constantFrom('a', 'é', '語', '😀', '\ud800', '"\n'),
      fc.constantFrom(0, 1, 90, 2700, 4080, 8100, 33_000, 70_000),
    )
    .map(([sign, count]) => sign.repeat(count))
  const step = fc.record({ texts: fc.array(text, { maxLength: 12 }), join: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const bus = start({ capacity: 400 })
      const told: string[] = []
      const [all, odd] = [collect(), collect()]
      bus.subscribe(all.sink, {})
      bus.subscribe(odd.sink, { filter: { scope: 'run', id: 'odd' } })
      const wanted = (): string => told.map((one, index) => frameOf(index + 1, one)).join('')
      for (const { texts, join } of steps) {
        for (const one of texts) tell(bus, told.push(one), one)
        const late = collect()
        if (join) bus.subscribe(late.sink, { cursor: 0n })
        if (join && late.text() !== wanted()) return false
        await turn()
      }
      return (
        all.text() === wanted() &&
        odd.text() === told.map((one, index) => (index % 2 === 0 ? frameOf(index + 1, one) : '')).join('') &&
        bus.since('0').every((event, index) => event.json() === jsonOf(index + 1, told[index] ?? ''))
      )
    }),
    { numRuns: volume(15, 100), seed },
  )
  t.pass()
})

cheap(
  'an event that leaves the window before it is written, or while somebody holds it, keeps its frame',
  async (t) => {
    const bus = start({ capacity: 2 })
    const [live, next] = [collect(), collect()]
    bus.subscribe(live.sink, {})
    for (const n of [1, 2]) tell(bus, n, 'early')
    // Makes their frames, which the next two would be written over.
    bus.subscribe(collect().sink, { cursor: 0n })
    for (const n of [3, 4]) tell(bus, n, 'other')
    bus.subscribe(next.sink, { cursor: 0n })
    await turn()
    t.is(live.text(), [1, 2].map((n) => frameOf(n, 'early')).join('') + [3, 4].map((n) => frameOf(n, 'other')).join(''))
    const held = bus.since('0')
    for (const n of [5, 6]) tell(bus, n, 'third')
    await turn()
    t.deepEqual(
      held.map((event) => event.json()),
      [jsonOf(3, 'other'), jsonOf(4, 'other')],
    )
  },
)

cheap('a replay whose own frames push events out of the window still writes those that it began with', (t) => {
  const bus = start({ capacity: 64, bytes: 20_000 })
  const text = '語'.repeat(1000)
  for (let n = 1; n <= 20; n += 1) tell(bus, n, text)
  const late = collect()
  bus.subscribe(late.sink, { cursor: 0n })
  t.is(late.text(), Array.from({ length: 20 }, (_, index) => frameOf(index + 1, text)).join(''))
})

const framed = (counter: number): Framed => ({ counter, frame: undefined, start: 0, end: 0, lent: 0 })

cheap('chunks are filled again when their events have left: what is published takes no more memory', (t) => {
  const chunks = createChunks()
  const window: Framed[] = []
  const used = new Set<Buffer>()
  for (let counter = 1; counter <= 20_000; counter += 1) {
    const event = framed(counter)
    window.push(event)
    used.add(chunks.place(event, 1000))
    const oldest = window.length > 200 ? window.shift() : undefined
    if (oldest !== undefined) chunks.release(oldest)
  }
  // 201 kB in chunks of 64 KiB, of which the first and the last are in use in part.
  t.true(used.size <= 5, `${used.size} chunks`)
})

cheap('a frame that would keep a chunk from being filled again has bytes of its own', (t) => {
  const chunks = createChunks()
  const [old, late, gone, large] = [framed(1), framed(2), framed(3), framed(9)]
  const shared = chunks.place(framed(4), 100)
  t.true(shared.length > 100)
  t.is(chunks.place(late, 100).length, 100)
  chunks.release(old)
  for (const event of [late, gone, framed(4)]) chunks.release(event)
  t.is(chunks.place(gone, 100).length, 100)
  t.is(chunks.place(large, 60_000).length, 60_000)
  t.is(chunks.place(framed(8), 100), shared)
})

cheap('joined frames are copies, of neighbours and of others', (t) => {
  const chunks = createChunks()
  const events = [1, 2, 2, 3, 4].map(framed)
  for (const [index, event] of events.entries()) {
    const bytes = chunks.place(event, 3)
    bytes.fill(`${index}${index}${index}`, event.start, event.end)
  }
  const joined = joinFrames(events.toSpliced(3, 0, framed(9)), 15)
  events[0]?.frame?.fill('x')
  t.is(joined.toString(), '000111222333444')
  t.is(joinFrames([], 0).length, 0)
})

cheap('a chunk is not filled again while an event of it is in the window', (t) => {
  const chunks = createChunks()
  const size = 4096
  const kept = 40
  const events: Framed[] = []
  for (let counter = 1; counter <= 400; counter += 1) {
    const event: Framed = { counter, frame: undefined, start: 0, end: 0, lent: 0 }
    events.push(event)
    if (events.length > kept) chunks.release(events.shift() ?? event)
    const bytes = chunks.place(event, size)
    bytes.fill(counter % 251, event.start, event.end)
    for (const { counter: n, frame, start: from, end } of events)
      if (frame?.[from] !== n % 251 || frame[end - 1] !== n % 251) return t.fail(`frame ${n} is overwritten`)
  }
  t.pass()
})
