import test from 'ava'
import fc from 'fast-check'
import { createClock } from '../../../core/base/clock.js'
import { integer, object, string } from '../../../core/base/schema.js'
import { wellFormedJson } from '../../../core/base/text/well-formed.js'
import { createBus, type EventFault, type Sink } from '../../../core/events/bus.js'
import { defineDeltas, defineEvent } from '../../../core/events/contract.js'
import { createTemplate } from '../../../core/events/delta-template.js'
import { parseJson } from '../../support/json.js'

const ticked = defineEvent({ name: 'ticked', summary: 'A tick.', data: object({ n: integer() }) })
const said = defineEvent({ name: 'said', summary: 'Said.', data: object({ of: string() }) })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** A bus whose time the test moves. */
const start = () => {
  const faults: EventFault[] = []
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>()
  let now = 1000
  let count = 0
  let made = 0
  const speech = defineDeltas<string, 'loud' | 'low', any>({
    include: 'speech',
    event: said,
    data: (of, { kind, text }) => {
      made += 1
      return { of, kind, text }
    },
    lost: (of, { count: lost, chars }) => ({ of, count: lost, chars }),
  })
  const bus = createBus({
    clock: {
      ...createClock(),
      elapsed: () => now,
      after(ms, callback) {
        const id = (count += 1)
        timers.set(id, { at: now + ms, callback })
        return () => void timers.delete(id)
      },
    },
    epoch: 7,
    capacity: 64,
    onFault: (fault) => faults.push(fault),
  })
  return {
    bus,
    speech,
    faults,
    timers,
    made: () => made,
    /** The tick is over. */
    pass(ms = 20) {
      now += ms
      for (const [id, { at, callback }] of timers) {
        if (at > now || !timers.delete(id)) continue
        callback()
      }
    },
    speak: (of = 'r1') => bus.openDeltas(speech, { run: of, session: 's1' }, of),
  }
}

const listen = () => {
  const state = { ready: true, roomy: true, writes: [] as string[] }
  const sink: Sink = {
    ready: () => state.ready,
    roomy: () => state.roomy,
    write: (bytes) => void state.writes.push(Buffer.from(bytes).toString('utf8')),
  }
  const frames = (): any[] =>
    [...state.writes.join('').matchAll(/^data: (.*)$/gmu)].map(([, json]) => parseJson(json ?? ''))
  return {
    state,
    sink,
    frames,
    texts: (): string[] => frames().flatMap(({ text }) => (text === undefined ? [] : [text])),
  }
}
const include = ['speech']

test('events-24: the first delta leaves at once, and what follows within a tick leaves with one write, joined', async (t) => {
  const { bus, pass, speak, timers } = start()
  const one = listen()
  bus.subscribe(one.sink, { include })
  const [text, other] = [speak('r1'), speak('r2')]
  text.write('loud', 'a')
  t.deepEqual(one.state.writes, [], 'what comes in one turn is joined')
  text.write('loud', 'b')
  await turn()
  t.deepEqual(one.texts(), ['ab'])
  for (const piece of ['c', 'd', 'e']) {
    pass(1)
    text.write('loud', piece)
    await turn()
  }
  t.deepEqual([one.state.writes.length, timers.size], [1, 1], 'one timer, for all that waits')
  text.write('low', '1')
  text.write('low', '2')
  text.write('loud', 'f')
  pass()
  t.is(one.state.writes.length, 2)
  t.deepEqual(
    one.frames().map((frame) => [frame.kind, frame.text]),
    [
      ['loud', 'ab'],
      ['loud', 'cde'],
      ['low', '12'],
      ['loud', 'f'],
    ],
  )
  text.write('loud', 'g')
  other.write('loud', 'first of its text')
  await turn()
  t.deepEqual(one.texts().slice(4), ['g', 'first of its text'], 'the first words of a text do not wait for a tick')
  pass()
  pass()
  text.write('loud', 'h')
  await turn()
  t.is(one.texts().at(-1), 'h', 'after a silence as at the beginning')
})

test('events-23: frames have no id, and who did not ask gets the same bytes as without any delta', async (t) => {
  const { bus, pass, speak } = start()
  const [asks, plain, silent] = [listen(), listen(), start()]
  bus.subscribe(asks.sink, { include })
  bus.subscribe(plain.sink, {})
  const quiet = listen()
  silent.bus.subscribe(quiet.sink, {})
  const text = speak()
  for (const n of [1, 2, 3]) {
    bus.publish(ticked, { run: 'r1' }, () => ({ n }))
    silent.bus.publish(ticked, { run: 'r1' }, () => ({ n }))
    text.write('loud', `word ${n}`)
    await turn()
    pass()
  }
  t.deepEqual(asks.texts(), ['word 1', 'word 2', 'word 3'])
  t.true(
    asks.state.writes
      .join('')
      .split('\n\n')
      .every((frame) => !frame.includes('event: said') || !frame.includes('id: ')),
  )
  t.is(plain.state.writes.join(''), quiet.state.writes.join(''))
  const late = listen()
  bus.subscribe(late.sink, { include, cursor: 0n })
  t.deepEqual([late.frames().length, late.texts()], [3, []], 'events are replayed, deltas are not')
  t.is(bus.statistics().retained_event_count, 3)
})

test('events-23: without a follower that can see them nothing is made of deltas', async (t) => {
  const { bus, made, pass, speak, timers } = start()
  const [plain, elsewhere] = [listen(), listen()]
  bus.subscribe(plain.sink, {})
  bus.subscribe(elsewhere.sink, { include, filter: { scope: 'run', id: 'r2' } })
  const text = speak('r1')
  for (let n = 0; n < 10; n += 1) text.write('loud', 'nobody listens')
  await turn()
  t.deepEqual([made(), timers.size, plain.state.writes, elsewhere.state.writes], [0, 0, [], []])
  const joins = listen()
  const subscription = bus.subscribe(joins.sink, { include, filter: { scope: 'run', id: 'r1' } })
  text.write('loud', 'now')
  await turn()
  text.write('loud', 'waits')
  t.is(timers.size, 1)
  subscription.leave()
  text.write('loud', 'gone')
  pass()
  await turn()
  t.deepEqual([joins.texts(), elsewhere.texts()], [['now'], []])
})

test('events-25: deltas stand between what was published before and after them', async (t) => {
  const { bus, speak } = start()
  const one = listen()
  bus.subscribe(one.sink, { include })
  bus.publish(ticked, {}, () => ({ n: 1 }))
  const text = speak()
  text.write('loud', 'words')
  text.close()
  bus.publish(ticked, {}, () => ({ n: 2 }))
  text.write('loud', 'too late')
  text.close()
  await turn()
  t.deepEqual(
    one.frames().map(({ n, text: of }) => n ?? of),
    [1, 'words', 2],
  )
})

test('events-26: a slow client loses deltas and nothing else, and is told of each text when it has taken the rest', async (t) => {
  const { bus, pass, speak } = start()
  const [slow, quick] = [listen(), listen()]
  const subscription = bus.subscribe(slow.sink, { include })
  bus.subscribe(quick.sink, { include })
  const [text, other] = [speak('r1'), speak('r2')]
  slow.state.roomy = false
  for (let n = 0; n < 3; n += 1) {
    bus.publish(ticked, {}, () => ({ n }))
    text.write('loud', 'four')
    other.write('low', 'x')
    await turn()
    pass()
  }
  t.deepEqual(
    slow.frames().map(({ type }) => type),
    ['ticked', 'ticked', 'ticked'],
  )
  t.is(quick.texts().join(''), 'fourxfourxfourx')
  slow.state.roomy = true
  subscription.catchUp()
  text.write('loud', 'again')
  pass()
  t.deepEqual(slow.frames().slice(3), [
    { type: 'said', of: 'r1', count: 3, chars: 12 },
    { type: 'said', of: 'r2', count: 3, chars: 3 },
    { type: 'said', of: 'r1', kind: 'loud', text: 'again' },
  ])
  t.false(slow.state.writes.join('').includes('event: said\nid:'))
})

test('events-26: who comes amid a text is told how much of it was said, before anybody followed and since', async (t) => {
  const { bus, speak } = start()
  const text = speak()
  text.write('low', 'hm')
  text.write('loud', 'so')
  const [early, late, last] = [listen(), listen(), listen()]
  bus.subscribe(early.sink, { include })
  text.write('loud', ' far')
  await turn()
  bus.subscribe(late.sink, { include })
  bus.subscribe(listen().sink, { include, filter: { scope: 'run', id: 'r2' } })
  text.write('loud', ' so \ud83d')
  bus.subscribe(last.sink, { include })
  text.write('loud', '\ude00')
  text.close()
  const loss = (count: number, chars: number) => ({ type: 'said', of: 'r1', count, chars })
  const piece = (words: string) => ({ type: 'said', of: 'r1', kind: 'loud', text: words })
  t.deepEqual(early.frames(), [loss(2, 4), piece(' far'), piece(' so 😀')])
  t.deepEqual(late.frames(), [loss(3, 8), piece(' so 😀')])
  t.deepEqual(last.frames(), [loss(4, 12), piece('😀')])
  const [next, again] = [speak(), listen()]
  bus.subscribe(again.sink, { include })
  next.write('loud', 'anew')
  await turn()
  t.deepEqual(again.frames(), [piece('anew')], 'it follows this one from its beginning')
})

test('events-26: a client that is served from the window gets no deltas until it is live again', async (t) => {
  const { bus, pass, speak } = start()
  const one = listen()
  const subscription = bus.subscribe(one.sink, { include })
  const text = speak()
  one.state.ready = false
  bus.publish(ticked, {}, () => ({ n: 1 }))
  text.write('loud', 'lost')
  await turn()
  pass()
  t.deepEqual(one.frames(), [])
  one.state.ready = true
  subscription.catchUp()
  text.write('loud', 'kept')
  text.close()
  t.deepEqual(
    one.frames().map(({ n, count, text: of }) => n ?? count ?? of),
    [1, 1, 'kept'],
  )
})

test('events-26: what waits for a client is bounded: more is written or lost at once, without a timer', (t) => {
  const { bus, speak } = start()
  const [one, slow] = [listen(), listen()]
  for (const { sink } of [one, slow]) bus.subscribe(sink, { include })
  slow.state.roomy = false
  const text = speak()
  const page = 'x'.repeat(20_000)
  for (let n = 0; n < 40; n += 1) text.write('loud', page)
  t.true(one.texts().join('').length > 700_000)
  t.deepEqual(slow.state.writes, [])
  text.write('loud', page.repeat(20))
  t.true(
    one.texts().every(({ length }) => length < 110_000),
    'and so is a frame',
  )
  text.close()
  t.is(one.texts().join('').length, 1_200_000)
})

test('events-26: what waits for all clients together is bounded too', (t) => {
  const { bus, speak } = start()
  const clients = Array.from({ length: 300 }, listen)
  for (const { sink } of clients) bus.subscribe(sink, { include })
  const text = speak()
  text.write('loud', 'x'.repeat(60_000))
  t.true(clients.some(({ state }) => state.writes.length > 0))
  text.close()
  t.true(clients.every((client) => client.texts().join('').length === 60_000))
})

test('events-26: a client is told of the latest thousand texts of which it has lost something', async (t) => {
  const { bus, speak } = start()
  const one = listen()
  const subscription = bus.subscribe(one.sink, { include })
  one.state.roomy = false
  for (let n = 1; n <= 1005; n += 1) speak(`r${n}`).write('loud', 'x')
  await turn()
  one.state.roomy = true
  subscription.catchUp()
  t.deepEqual([one.frames().length, one.frames()[0].of, one.frames().at(-1).of], [1000, 'r6', 'r1005'])
})

test('events-27: deltas, joined, are the text as it is kept, however its signs are cut', async (t) => {
  const half = fc.constantFrom('\ud83d', '\ude00', '\ud800', 'a', 'é', '😀', '\ufffd')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(half).map((signs) => signs.join(''))), async (pieces) => {
      const { bus, pass, speak } = start()
      const one = listen()
      bus.subscribe(one.sink, { include })
      const text = speak()
      for (const piece of pieces) {
        text.write('loud', piece)
        await turn()
        pass()
      }
      text.close()
      t.is(one.texts().join(''), wellFormedJson(pieces.join('')))
      t.true(one.texts().every((shown) => shown === wellFormedJson(shown)))
    }),
  )
})

test('events-27: half of a sign at the end of one kind is not joined with the next kind', (t) => {
  const { bus, speak } = start()
  const one = listen()
  bus.subscribe(one.sink, { include })
  const [text, half] = [speak(), '\ud83d']
  text.write('loud', `a${half}`)
  text.write('low', 'other')
  text.write('low', half)
  text.write('low', '\ude00')
  text.close()
  t.is(one.texts().join('|'), 'a\ufffd|other😀')
})

test('a sink that throws loses its place, and the others go on', async (t) => {
  const { bus, faults, speak } = start()
  const good = listen()
  const broken: Sink = {
    ready: () => true,
    roomy: () => true,
    write: () => {
      throw new TypeError('gone')
    },
  }
  bus.subscribe(broken, { include })
  bus.subscribe(good.sink, { include })
  const text = speak()
  text.write('loud', 'a')
  await turn()
  text.write('loud', 'b')
  text.close()
  t.deepEqual([good.texts(), faults.length], [['a', 'b'], 1])
})

test('a frame from a template is that of the whole data, whatever stands in it', (t) => {
  const json = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\0delta\0', '9007199254740991', '"', '\\'))
  fc.assert(
    fc.property(json, json, fc.integer(), (fixed, text, at) => {
      for (const make of [
        (of: string, time: number) => ({ time, fixed, kind: { of } }),
        (of: string, time: number) => ({ kind: { of, fixed }, time }),
      ])
        t.is(createTemplate(make)(text, at), JSON.stringify(make(text, at)))
    }),
  )
})

test('events-29: listeners in this process hear each piece until the text is closed, whoever throws', (t) => {
  const { bus, speech, faults, speak } = start()
  const heard: string[] = []
  let wanted = true
  const fail = (): never => {
    throw new TypeError('no')
  }
  const undoFailing = bus.onDeltas(speech, fail)
  const undo = bus.onDeltas(speech, ({ subject, kind, text }) => void heard.push(`${subject} ${kind} ${text}`), {
    wanted: () => wanted,
  })
  const [one, other] = [speak('r1'), speak('r2')]
  one.write('loud', 'a')
  other.write('low', 'b')
  wanted = false
  one.write('loud', 'c')
  wanted = true
  one.close()
  one.write('loud', 'd')
  undoFailing()
  other.write('low', 'e')
  undo()
  other.write('low', 'f')
  t.deepEqual(heard, ['r1 loud a', 'r2 low b', 'r2 low e'])
  t.is(faults.length, 3)
})
