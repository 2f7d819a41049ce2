import test, { type ExecutionContext } from 'ava'
import { flagWords } from '../../../../plugins/execution/models/file/route-words.js'
import { limitedRoute } from '../../../../plugins/execution/models/limited-route.js'
import { watchedRoute } from '../../../../plugins/execution/models/route-health.js'
import { createRoutePace } from '../../../../plugins/execution/models/route-pace.js'
import type { ModelEvent, ModelFailure } from '../../../../plugins/execution/models/contract.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { createLatch } from '../../../support/latch.js'
import { ask, requestOf, unwatched, userText } from '../../../support/models.js'

const limited: ModelFailure = { class: 'rate_limited', retryable: true, message: 'Slow down.' }

const setup = (t: ExecutionContext, most = 0) => {
  // Timers of the clock keep nothing alive.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const clock = createLeapingClock({ still: true })
  const begun: string[] = []
  let held = 0
  let failure: ModelFailure | undefined
  let gate: Promise<void> | undefined
  const pace = createRoutePace(clock, () => void (held += 1))
  const connection = {
    readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }) as const,
    async *stream({ model }: { readonly model: string }): AsyncGenerator<ModelEvent> {
      begun.push(model)
      await gate
      yield failure === undefined
        ? { type: 'done', outcome: 'stop', usage: { input_tokens: 1, output_tokens: 1 } }
        : { type: 'done', outcome: 'failed', failure }
    },
  }
  const route = limitedRoute(
    watchedRoute(connection, { provider: 'test', ...unwatched, clock, words: flagWords, pace }),
    most,
    pace,
  )
  return {
    clock,
    pace,
    begun,
    held: () => held,
    fail: (next: ModelFailure | undefined) => void (failure = next),
    stop: (next: Promise<void>) => void (gate = next),
    go: (model = 'a', signal?: AbortSignal) => ask(route, requestOf([userText('hi')], { model }), signal),
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

for (const most of [0, 1])
  test(`models-44: a model of which nothing remains is not asked until its limit is whole again, another one is (${most} at a time)`, async (t) => {
    const { clock, pace, begun, go, held } = setup(t, most)
    pace.told('a', [{ of: 'requests', remaining: 0, resets_in_ms: 20_000 }])
    const waiting = go('a')
    await go('b')
    await settled()
    t.deepEqual(begun, ['b'])
    t.like(pace.view(), {
      waiting: 1,
      held: [{ model: 'a', until_ms: clock.now() + 20_000 }],
      limits: [{ model: 'a', of: 'requests', remaining: 0, resets_at_ms: clock.now() + 20_000 }],
    })
    clock.leap(19_999)
    await settled()
    t.deepEqual(begun, ['b'])
    clock.leap(1)
    t.is((await waiting).done?.outcome, 'stop')
    t.deepEqual([begun, pace.view().waiting, pace.view().held, held()], [['b', 'a'], 0, [], 1])
  })

test('models-44: what is told meanwhile counts, and a held call that is aborted ends at once', async (t) => {
  const { clock, pace, begun, go } = setup(t)
  pace.told('a', [{ of: 'tokens', remaining: 0, resets_in_ms: 1000 }])
  const waiting = go('a')
  const controller = new AbortController()
  const aborted = go('a', controller.signal)
  controller.abort()
  t.like((await aborted).done, { outcome: 'failed', failure: { class: 'aborted' } })
  pace.told('a', [{ of: 'tokens', remaining: 0, resets_in_ms: 5000 }])
  clock.leap(1000)
  await settled()
  t.deepEqual(begun, [])
  clock.leap(4000)
  await waiting
  pace.told('a', [{ of: 'tokens', remaining: 0, resets_in_ms: 5000 }])
  pace.told('a', [{ of: 'tokens', remaining: 7, resets_in_ms: 5000 }])
  t.is(pace.heldFor('a'), 0, 'there is some again')
})

test('models-43: a hint holds the calls of its model, as long as it says and five minutes at most', async (t) => {
  const { clock, pace, go, fail } = setup(t)
  fail({ ...limited, retry_after_ms: 30_000 })
  t.like((await go()).done, { failure: { retry_after_ms: 30_000 } })
  t.is(pace.heldFor('a'), 30_000)
  t.is(pace.heldFor('b'), 0)
  clock.leap(30_000)
  const hints: [number, number][] = [
    [31_536_000_000, 300_000],
    [Number.MAX_VALUE, 300_000],
    [0, 0],
  ]
  for (const [retry_after_ms, kept] of hints) {
    fail({ ...limited, retry_after_ms })
    const { done } = await go()
    t.is(done?.outcome === 'failed' ? done.failure.retry_after_ms : -1, kept, String(retry_after_ms))
    t.is(pace.heldFor('a'), kept)
    clock.leap(300_000)
  }
  fail({ ...limited, retryable: false, retry_after_ms: 1000 })
  await go()
  t.is(pace.heldFor('a'), 0, 'a limit that waiting does not mend')
  for (const [remaining, resets_in_ms, kept] of [
    [0, 31_536_000_000, 300_000],
    [0, NaN, 0],
    [0, Infinity, 0],
    [0, -1, 0],
    [NaN, 1000, 0],
    [-3, 1000, 1000],
    [1, 1000, 0],
  ] as const) {
    pace.told('a', [{ of: 'requests', remaining, resets_in_ms }])
    t.is(pace.heldFor('a'), kept, `${remaining} until ${resets_in_ms}`)
    clock.leap(300_000)
  }
})

test('models-44: what is remembered of limits is bounded, whatever models runs wish', (t) => {
  const { pace } = setup(t)
  for (let n = 0; n < 500; n += 1)
    pace.told(
      `m${n}`,
      [...Array(20).keys()].map((of) => ({ of: `l${of}`, remaining: 1 })),
    )
  t.is(pace.view().limits.length, 50 * 8)
  t.is(pace.view().limits.at(-1)?.model, 'm499')
})

test('models-44: calls that waited go one after the other, and wait again where the first is told so', async (t) => {
  const { clock, pace, begun, go, fail } = setup(t)
  const comeTo = async (count: number): Promise<void> => {
    while (begun.length < count) await settled()
  }
  pace.told('a', [{ of: 'requests', remaining: 0, resets_in_ms: 1000 }])
  const waiting = [go(), go(), go()]
  await settled()
  clock.leap(1000)
  await comeTo(1)
  await settled()
  t.is(begun.length, 1)
  fail({ ...limited, retry_after_ms: 500 })
  clock.leap(100)
  await comeTo(2)
  await settled()
  fail(undefined)
  clock.leap(100)
  await settled()
  t.is(begun.length, 2, 'the second was told to wait, and so the third waits too')
  clock.leap(400)
  await comeTo(3)
  t.deepEqual(
    (await Promise.all(waiting)).map(({ done }) => done?.outcome),
    ['stop', 'failed', 'stop'],
  )
})

test('models-52: what an earlier life kept holds for five minutes at most, and is written down anew only for another time', (t) => {
  const clock = createLeapingClock({ still: true })
  const kept: unknown[] = []
  const before = [
    { model: 'a', until_ms: clock.now() + 86_400_000 },
    { model: 'b', until_ms: clock.now() - 1 },
  ]
  const pace = createRoutePace(clock, () => {}, { before, keep: (held) => void kept.push(held) })
  t.deepEqual([pace.heldFor('a'), pace.heldFor('b')], [300_000, 0])
  clock.leap(300_000)
  t.is(pace.heldFor('a'), 0)
  const told = (resets_in_ms: number): void => pace.told('c', [{ of: 'requests', remaining: 0, resets_in_ms }])
  told(20_000)
  told(20_400)
  pace.told('c', [{ of: 'tokens', remaining: 5, resets_in_ms: 90_000 }])
  t.deepEqual(kept, [[{ model: 'c', until_ms: clock.now() + 20_000 }]])
  told(60_000)
  pace.refused('d', { ...limited, retry_after_ms: 30_000 })
  t.is(kept.length, 3)
  t.deepEqual(kept.at(-1), [
    { model: 'c', until_ms: clock.now() + 60_000 },
    { model: 'd', until_ms: clock.now() + 30_000 },
  ])
})

test('models-44: a call says until when it is held back, again when it is put off, and also behind its turn', async (t) => {
  const { clock, pace } = setup(t, 1)
  const told = (resets_in_ms: number): void => pace.told('a', [{ of: 'requests', remaining: 0, resets_in_ms }])
  const said: number[][] = [[], []]
  const opened = async (one: number[]): Promise<boolean> => {
    const waits = pace.open('a', new AbortController().signal)
    for (;;) {
      const { done, value } = await waits.next()
      if (done === true) return value
      one.push(value.until_ms - now)
    }
  }
  const now = clock.now()
  told(1_000)
  const all = said.map(opened)
  await settled()
  told(5_000)
  clock.leap(1_000)
  for (let n = 0; n < 1_000 && said.some((one) => one.length < 2); n += 1) await settled()
  clock.leap(4_000)
  t.true(await all[0])
  clock.leap(100)
  t.true(await all[1])
  t.deepEqual(said, [
    [1_000, 5_000],
    [1_000, 5_000],
  ])
})

test('models-44: a call that is held back while it waits for its turn says so', async (t) => {
  const { clock, pace, go, stop, begun } = setup(t, 1)
  const gate = createLatch()
  stop(gate.wait())
  const first = go('b')
  await settled()
  const waiting = go('a')
  await settled()
  pace.told('a', [{ of: 'requests', remaining: 0, resets_in_ms: 1_000 }])
  gate.open()
  await first
  while (pace.view().waiting === 0) await settled()
  clock.leap(1_000)
  t.deepEqual(
    (await waiting).events.map(({ type }) => type),
    ['turn', 'turn', 'held', 'done'],
  )
  t.deepEqual(begun, ['b', 'a'])
})
