/**
 * docs/rules/events.md: rules that can be seen from outside, against a daemon, a process of its own where it is killed.
 */
import test from 'ava'
import { createClock } from '../../core/base/clock.js'
import { spawnDaemon, spawnTestDaemon, startTestDaemon, type Reachable } from '../support/daemon.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'
import { openStream, type Frame, type SseClient } from '../support/sse.js'

const clock = createClock()

/** Follows a stream from the moment on at which this resolves. */
const follow = async (
  t: any,
  { url }: Reachable,
  path: string,
  headers: Record<string, string> = {},
): Promise<SseClient> => {
  const stream = openStream({ port: Number(new URL(url).port), path, headers })
  t.teardown(stream.close)
  const deadline = clock.elapsed() + 30_000
  while (stream.head() === '' && clock.elapsed() < deadline) await clock.sleep(5)
  return stream
}

const dataOf = ({ frames }: SseClient): Frame[] => frames.filter(({ event }) => event !== 'heartbeat')
const idsOf = (stream: SseClient): bigint[] => dataOf(stream).map(({ id }) => BigInt(id ?? -1))

/** Resolves when a frame fits. */
const seen = async (t: any, stream: SseClient, fits: (frame: Frame) => boolean): Promise<void> => {
  const deadline = clock.elapsed() + 30_000
  while (!stream.frames.some(fits) && clock.elapsed() < deadline) await clock.sleep(5)
  t.true(stream.frames.some(fits), `not among ${stream.frames.length} frames`)
}

const isEnd =
  (run_id: string) =>
  ({ event, data }: Frame): boolean =>
    event === 'run_updated' && data.run.run_id === run_id && data.run.finished_at_ms !== undefined

/** A run that has ended, and whose events are in the window. */
const finished = async (daemon: Reachable, session_id: string, content = 'Hello'): Promise<any> => {
  await openSession(daemon, session_id)
  return until(daemon, (await submit(daemon, session_id, content)).run_id, 'completed')
}

/** Resolves when a subscriber of everything has all that has happened. */
const caughtUp = async (t: any, daemon: Reachable, stream: SseClient): Promise<void> => {
  const { newest_event_id } = await facts(daemon)
  await seen(t, stream, ({ id }) => id === newest_event_id)
}

const facts = async (daemon: Reachable): Promise<any> => (await daemon.request('GET', '/v1/status')).body.events

test.serial(
  'events-5, events-6: data events carry monotone decimal ids, over restarts too; heartbeats carry none and ' +
    'do not advance the cursor',
  async (t) => {
    const daemon = await spawnTestDaemon(t)
    const stream = await follow(t, daemon, '/v1/events/stream')
    const run = await finished(daemon, 's1')
    await seen(t, stream, isEnd(run.run_id))
    await seen(t, stream, ({ event }) => event === 'heartbeat')
    const beat = stream.frames.find(({ event }) => event === 'heartbeat')
    t.deepEqual([beat?.id, beat?.data], [undefined, { type: 'heartbeat' }])
    const before = (await facts(daemon)).newest_event_id
    const next = await finished(daemon, 's1')
    await seen(t, stream, isEnd(next.run_id))
    const ids = idsOf(stream)
    t.true(dataOf(stream).every(({ id }) => /^\d+$/u.test(id ?? '')))
    t.true(ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0n)))
    t.true(ids.includes(BigInt(before) + 1n), 'no id is spent on a heartbeat')
    await daemon.kill('SIGKILL')
    const second = await startTestDaemon(t, { root: daemon.root })
    const later = await follow(t, second, '/v1/events/stream')
    await finished(second, 's1')
    t.true(await later.until(1))
    t.true((idsOf(later)[0] ?? 0n) > (ids.at(-1) ?? 0n))
  },
)

test.serial(
  'events-7: a client resumes by Last-Event-ID or ?cursor=; the larger value wins; a bad one is invalid_event_cursor',
  async (t) => {
    const daemon = await startTestDaemon(t)
    const first = await follow(t, daemon, '/v1/events/stream')
    const run = await finished(daemon, 's1')
    await caughtUp(t, daemon, first)
    const ids = dataOf(first).map(({ id }) => id ?? '')
    const [early, late] = [ids[1] ?? '', ids[3] ?? '']
    const cases: [string, Record<string, string>, number][] = [
      [`?cursor=${early}`, {}, 2],
      ['', { 'last-event-id': early }, 2],
      [`?cursor=${early}`, { 'last-event-id': late }, 4],
      [`?cursor=${late}`, { 'last-event-id': early }, 4],
      [`?cursor=${early}`, { 'last-event-id': ' ' }, 2],
      ['?cursor=', { 'last-event-id': late }, 4],
      ['?cursor=0', {}, 0],
    ]
    for (const [query, headers, from] of cases) {
      const stream = await follow(t, daemon, `/v1/events/stream${query}`, headers)
      t.true(await stream.until(ids.length - from))
      t.deepEqual(dataOf(stream), dataOf(first).slice(from), `${query} ${JSON.stringify(headers)}`)
      stream.close()
    }
    const ahead = await follow(t, daemon, `/v1/events/stream?cursor=${BigInt(ids.at(-1) ?? 0) + 1000n}`)
    const live = await follow(t, daemon, '/v1/events/stream')
    const next = await finished(daemon, 's1')
    for (const stream of [ahead, live]) {
      await seen(t, stream, isEnd(next.run_id))
      t.false(
        stream.frames.some(({ event }) => event === 'stream_gap'),
        'neither has missed anything',
      )
      t.true((idsOf(stream)[0] ?? 0n) > BigInt(ids.at(-1) ?? 0), 'nothing is replayed')
    }
    for (const path of ['/v1/events/stream', '/v1/sessions/s1/stream', `/v1/runs/${run.run_id}/stream`]) {
      for (const [query, headers, at] of [
        ['?cursor=abc', {}, 'query.cursor'],
        ['?cursor=-1', {}, 'query.cursor'],
        ['', { 'last-event-id': '1e3' }, 'header.last-event-id'],
      ] as const) {
        const answer = await daemon.request('GET', `${path}${query}`, undefined, headers)
        t.deepEqual(
          [...codeOf(answer), answer.body.domain, answer.body.errors[0].path],
          [400, 'invalid_event_cursor', 'events', at],
        )
      }
    }
  },
)

test.serial(
  'events-10, events-11: stream_gap when the cursor is older than the window: exact count, safe resume ' +
    'cursor, then replay and live in order',
  async (t) => {
    const daemon = await startTestDaemon(t, { flags: { 'event-history-capacity': '4' } })
    const first = await follow(t, daemon, '/v1/events/stream')
    const run = await finished(daemon, 's1')
    t.is(run.status, 'completed')
    await caughtUp(t, daemon, first)
    const { oldest_event_id, newest_event_id } = await facts(daemon)
    const [start = 0n] = idsOf(first)
    const stream = await follow(t, daemon, `/v1/events/stream?cursor=${start}`)
    t.true(await stream.until(5))
    const [gap, ...replayed] = dataOf(stream)
    t.is(gap?.event, 'stream_gap')
    const resume = String(BigInt(oldest_event_id) - 1n)
    t.deepEqual(gap?.data, {
      type: 'stream_gap',
      skipped: Number(BigInt(oldest_event_id) - 1n - start),
      resume_after_id: resume,
      reason: 'replay_window',
      scope: 'global',
      skipped_is_estimate: false,
    })
    t.is(gap?.id, resume, 'the frame advances the cursor')
    t.deepEqual(
      replayed.map(({ id }) => id),
      [0n, 1n, 2n, 3n].map((at) => String(BigInt(oldest_event_id) + at)),
    )
    t.is(replayed.at(-1)?.id, newest_event_id)
    const resumed = await follow(t, daemon, `/v1/events/stream?cursor=${resume}`)
    t.true(await resumed.until(4))
    t.deepEqual(dataOf(resumed), replayed, 'no second gap')
  },
)

test.serial('events-12: stream_gap when the cursor predates the epoch after a restart', async (t) => {
  const first = await spawnTestDaemon(t)
  const before = await follow(t, first, '/v1/events/stream')
  const run = await finished(first, 's1')
  await seen(t, before, isEnd(run.run_id))
  const last = idsOf(before).at(-1) ?? 0n
  await first.kill('SIGKILL')
  const second = await startTestDaemon(t, { root: first.root })
  for (const [path, scope] of [
    ['/v1/events/stream', 'global'],
    ['/v1/sessions/s1/stream', 'session'],
    [`/v1/runs/${run.run_id}/stream`, 'run'],
  ]) {
    const stream = await follow(t, second, `${path}?cursor=${last}`)
    t.true(await stream.until(1))
    const [gap] = dataOf(stream)
    t.like(gap?.data, { type: 'stream_gap', reason: 'restart_epoch', scope, skipped_is_estimate: true })
    t.true(gap?.data.skipped >= 1)
    t.is(gap?.id, gap?.data.resume_after_id)
    t.true(BigInt(gap?.id ?? 0) > last)
  }
  const whole = await follow(t, second, '/v1/events/stream?cursor=0')
  const next = await finished(second, 's1')
  await seen(t, whole, isEnd(next.run_id))
  t.false(
    whole.frames.some(({ event }) => event === 'stream_gap'),
    'cursor 0 asks for the window and no more',
  )
})

test.serial('events-12: stream_gap when a slow consumer falls behind what the window keeps', async (t) => {
  const daemon = await startTestDaemon(t, { flags: { 'event-history-capacity': '16' } })
  await openSession(daemon, 's1')
  const slow = await follow(t, daemon, '/v1/events/stream')
  slow.pause()
  const big = 'x'.repeat(400_000)
  let last: any
  for (let at = 0; at < 25; at += 1) last = await until(daemon, (await submit(daemon, 's1', big)).run_id, 'completed')
  t.true((await facts(daemon)).evicted_event_count > 0)
  slow.resume()
  await seen(t, slow, isEnd(last.run_id))
  const frames = dataOf(slow)
  const at = frames.findIndex(({ event }) => event === 'stream_gap')
  t.like(frames[at]?.data, {
    reason: 'live_lag',
    scope: 'global',
    skipped_is_estimate: false,
    resume_after_id: frames[at]?.id,
  })
  const ids = frames.map(({ id }) => BigInt(id ?? 0))
  t.is(frames[at]?.data.skipped, Number((ids[at] ?? 0n) - (ids[at - 1] ?? 0n)), 'exactly what is missing')
  t.true(
    ids.every((id, index) => index === 0 || index === at || id === (ids[index - 1] ?? 0n) + 1n),
    'nothing else is missing',
  )
})

test.serial(
  'events-13: a filtered stream reports what its scope has lost while that can be proved, and a ' +
    'conservative gap beyond',
  async (t) => {
    const daemon = await startTestDaemon(t, { flags: { 'event-history-capacity': '40' } })
    const all = await follow(t, daemon, '/v1/events/stream')
    const mine = await finished(daemon, 'mine')
    await caughtUp(t, daemon, all)
    const own = dataOf(all)
      .filter(({ data }) =>
        [data.session_id, data.run?.session_id, data.output?.session_id, data.trace?.session_id].includes('mine'),
      )
      .map(({ id }) => BigInt(id ?? 0))
    const ofRun = dataOf(all)
      .filter(({ data }) => [data.run?.run_id, data.output?.run_id, data.trace?.run_id].includes(mine.run_id))
      .map(({ id }) => BigInt(id ?? 0))
    const others = async (until_: (events: any) => boolean): Promise<any> => {
      for (;;) {
        const run = await finished(daemon, 'other')
        await seen(t, all, isEnd(run.run_id))
        const events = await facts(daemon)
        if (until_(events)) return events
      }
    }
    const [cursor = 0n] = own
    const evicted = await others(({ oldest_event_id }) => BigInt(oldest_event_id) > (own.at(-1) ?? 0n))
    t.true(BigInt(evicted.newest_event_id) - cursor < 160n, 'within four windows')
    for (const [path, scope, lost] of [
      ['/v1/sessions/mine/stream', 'session', own],
      [`/v1/runs/${mine.run_id}/stream`, 'run', ofRun],
    ] as const) {
      const stream = await follow(t, daemon, `${path}?cursor=${cursor}`)
      t.true(await stream.until(1))
      t.like(dataOf(stream)[0]?.data, {
        reason: 'replay_window',
        scope,
        skipped: lost.filter((id) => id > cursor).length,
        skipped_is_estimate: false,
      })
    }
    const quiet = await follow(t, daemon, `/v1/sessions/mine/stream?cursor=${own.at(-1)}`)
    const again = await finished(daemon, 'mine')
    await seen(t, quiet, isEnd(again.run_id))
    t.false(
      quiet.frames.some(({ event }) => event === 'stream_gap'),
      'what was lost did not concern this scope',
    )
    await others(({ newest_event_id }) => BigInt(newest_event_id) > (own.at(-1) ?? 0n) + 260n)
    const beyond = await follow(t, daemon, `/v1/sessions/mine/stream?cursor=${cursor}`)
    t.true(await beyond.until(1))
    t.like(dataOf(beyond)[0]?.data, { reason: 'replay_window', scope: 'session', skipped_is_estimate: true })
    t.true(dataOf(beyond)[0]?.data.skipped >= 1)
  },
)

test.serial(
  'events-14: the window keeps 2048 events; a flag or SERVICE_EVENT_HISTORY_CAPACITY changes that, clamped ' +
    'to 1..=262144',
  async (t) => {
    const cases: [readonly string[], Record<string, string>, number][] = [
      [[], {}, 2048],
      [['--event-history-capacity', '8'], {}, 8],
      [[], { SERVICE_EVENT_HISTORY_CAPACITY: '5' }, 5],
      [['--event-history-capacity', '0'], {}, 1],
      [['--event-history-capacity', '99999999'], {}, 262_144],
    ]
    for (const [flags, env, capacity] of cases) {
      const daemon = await spawnDaemon({ flags, env })
      t.is((await facts(daemon)).history_capacity, capacity)
      await daemon.stop()
    }
  },
)

/** Fields of each event beside `type`. */
const shapes: Readonly<Record<string, readonly string[]>> = {
  trace: ['trace'],
  session_state_changed: ['agent_id', 'pending_approvals', 'pending_questions', 'session_id', 'status'],
  session_snapshot: ['session_id', 'snapshot'],
  output: ['output'],
  run_updated: ['run'],
  interrupted: ['agent_id', 'session_id'],
}

test.serial(
  'events-16: the payload of each event name, and which of them a session, a run and everybody gets',
  async (t) => {
    const daemon = await startTestDaemon(t)
    await openSession(daemon, 's1')
    const all = await follow(t, daemon, '/v1/events/stream')
    const ofSession = await follow(t, daemon, '/v1/sessions/s1/stream')
    const filtered = await follow(t, daemon, '/v1/events/stream?session_id=s1')
    const asks = await submit(daemon, 's1', '/emit half\n---\n/ask Go on? | Yes | No')
    const ofRun = await follow(t, daemon, `/v1/runs/${asks.run_id}/stream?cursor=0`)
    await until(daemon, asks.run_id, 'waiting_for_user_question')
    await daemon.request('POST', '/v1/sessions/s1/interrupt')
    const stranger = await finished(daemon, 's2')
    await seen(t, all, isEnd(stranger.run_id))
    await caughtUp(t, daemon, all)
    for (const stream of [all, ofSession, filtered])
      await seen(t, stream, ({ event, data }) => event === 'interrupted' && data.session_id === 's1')
    await seen(t, ofRun, isEnd(asks.run_id))
    for (const { event, data } of dataOf(all)) {
      t.is(data.type, event)
      t.deepEqual(
        Object.keys(data)
          .filter((key) => key !== 'type')
          .sort(),
        shapes[event] as string[],
        event,
      )
    }
    t.deepEqual([...new Set(dataOf(all).map(({ event }) => event))].sort(), Object.keys(shapes).sort())
    t.deepEqual([...new Set(dataOf(ofRun).map(({ event }) => event))].sort(), ['output', 'run_updated', 'trace'])
    const wanted = dataOf(all).filter(({ data }) =>
      [data.session_id, data.run?.session_id, data.output?.session_id, data.trace?.session_id].includes('s1'),
    )
    for (const stream of [ofSession, filtered]) t.deepEqual(dataOf(stream), wanted)
    t.deepEqual(
      dataOf(ofRun),
      wanted.filter(({ data }) => [data.run?.run_id, data.output?.run_id, data.trace?.run_id].includes(asks.run_id)),
    )
    t.like(wanted.find(({ event }) => event === 'session_snapshot')?.data, {
      session_id: 's1',
      snapshot: {
        agent: { status: 'waiting_for_user_input' },
        pending_questions: [{ questions: [{ question: 'Go on?' }] }],
      },
    })
    t.deepEqual(
      (await daemon.request('GET', `/v1/runs/${asks.run_id}`)).body,
      wanted.findLast(({ event }) => event === 'run_updated')?.data.run,
    )
  },
)

test.serial(
  'events-2: Event streams: a session or run that does not exist is 404, and the head is that of an event stream',
  async (t) => {
    const daemon = await startTestDaemon(t)
    await openSession(daemon)
    for (const path of ['/v1/sessions/none/stream', '/v1/events/stream?session_id=none'])
      t.deepEqual(codeOf(await daemon.request('GET', path)), [404, 'session_not_found'], path)
    for (const path of ['/v1/runs/none/stream', '/v1/events/stream?run_id=none', '/v1/sessions/s1/stream?run_id=none'])
      t.deepEqual(codeOf(await daemon.request('GET', path)), [404, 'run_not_found'], path)
    const stream = await follow(t, daemon, '/v1/events/stream')
    t.regex(stream.head(), /^HTTP\/1\.1 200/u)
    t.regex(stream.head(), /content-type: text\/event-stream/iu)
    t.regex(stream.head(), /cache-control: no-store, no-transform/iu)
  },
)

test.serial(
  'events-1, events-17: Streams: session and run filters hold together, and a session stream begins with a ' +
    'snapshot on request',
  async (t) => {
    const daemon = await startTestDaemon(t)
    const run = await finished(daemon, 'both')
    const other = await finished(daemon, 'other')
    const frames = async (path: string): Promise<Frame[]> => {
      const stream = await follow(t, daemon, path)
      await submit(daemon, 'both', 'Again')
      await clock.sleep(500)
      return dataOf(stream)
    }
    const only = (list: Frame[]): boolean =>
      list.length > 0 && list.every(({ data }) => JSON.stringify(data).includes(`"run_id":"${run.run_id}"`))
    t.true(only(await frames(`/v1/events/stream?session_id=both&run_id=${run.run_id}&cursor=0`)))
    t.deepEqual(await frames(`/v1/events/stream?session_id=both&run_id=${other.run_id}&cursor=0`), [])
    t.true(only(await frames(`/v1/sessions/both/stream?run_id=${run.run_id}&cursor=0`)))
    const [first, ...rest] = await frames('/v1/sessions/both/stream?snapshot=true')
    t.like(first, { event: 'session_snapshot', data: { type: 'session_snapshot', session_id: 'both' } })
    t.is(first?.data.snapshot.agent.conversation.session_id, 'both')
    t.true(rest.length > 0)
  },
)
