import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { openStream } from '../../../support/sse.js'

test('a session is created, used again, read and listed', async (t) => {
  const daemon = await startTestDaemon(t)
  const made = await daemon.request('POST', '/v1/sessions')
  t.is(made.status, 201)
  t.regex(made.body.session_id, /^session_/u)
  t.like(made.body, {
    outputs: [],
    snapshot: {
      agent: { status: 'idle', parent: null, retention: 'retain' },
      pending_approvals: [],
      last_assistant_message: null,
      journal_len: 0,
    },
  })
  const first = await daemon.request('POST', '/v1/sessions', { session_id: 'a b:ü', thread_id: 'th' })
  t.is(first.status, 201)
  const again = await daemon.request('POST', '/v1/sessions', { session_id: 'a b:ü' })
  t.deepEqual([again.status, again.body.agent_id], [201, first.body.agent_id])
  t.is(again.body.snapshot.agent.conversation.thread_id, 'th')
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions', { session_id: 'a b:ü', thread_id: 'other' })), [
    409,
    'session_conflict',
  ])
  t.is((await daemon.request('GET', `/v1/sessions/${encodeURIComponent('a b:ü')}`)).body.session_id, 'a b:ü')
  t.is((await daemon.request('GET', '/v1/sessions')).body.length, 2)
})

test('bad ids, unknown fields and unknown sessions are refused', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const session_id of ['', '.', '..', '  ', 'a/b', 'a\\b', 'a\u0000'])
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions', { session_id })), [400, 'invalid_session_id'])
  const unknown = await daemon.request('POST', '/v1/sessions', { session_id: 'x', persona: 'p' })
  t.is(unknown.status, 400)
  t.deepEqual(unknown.body.errors, [{ path: 'body.persona', rule: 'is not a known field' }])
  for (const at of ['', '/events', '/stream', '/questions'])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/sessions/none${at}`)), [404, 'session_not_found'])
  for (const at of ['/input', '/runs'])
    t.deepEqual(codeOf(await daemon.request('POST', `/v1/sessions/none${at}`, { content: 'x' })), [
      404,
      'session_not_found',
    ])
  for (const at of ['/interrupt', '/end'])
    t.deepEqual(codeOf(await daemon.request('POST', `/v1/sessions/none${at}`)), [404, 'session_not_found'])
  t.is((await daemon.request('GET', '/v1/sessions')).body.length, 0)
})

test('pages of sessions join without gaps, and a limit alone gives a plain array', async (t) => {
  const daemon = await startTestDaemon(t)
  const ids = Array.from({ length: 7 }, (_, at) => `s${at}`)
  for (const id of ids.toReversed()) await openSession(daemon, id)
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await daemon.request(
      'GET',
      `/v1/sessions?page=true&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`,
    )
    t.like(body.pagination, { limit: 3, total_count: 7, order: 'session_id_asc' })
    seen.push(...body.items.map(({ session_id }: any) => session_id))
    cursor = body.pagination.next_cursor ?? ''
  } while (cursor !== '')
  t.deepEqual(seen, ids)
  t.deepEqual(
    (await daemon.request('GET', '/v1/sessions?limit=2')).body.map(({ session_id }: any) => session_id),
    ['s0', 's1'],
  )
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions?limit=0')), [400, 'invalid_limit'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions?cursor=%20%20')), [400, 'invalid_cursor'])
})

test('the events of a session are its journal, its outputs and the events of its runs', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  for (const content of ['one', 'two']) await until(daemon, (await submit(daemon, 's1', content)).run_id, 'completed')
  const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
  t.deepEqual(
    body.daemon_outputs.map(({ content }: any) => content),
    ['You said: one', 'You said: two'],
  )
  t.deepEqual(
    body.run_events.map(({ event }: any) => event.type),
    ['accepted', 'queued', 'started', 'output', 'completed', 'accepted', 'queued', 'started', 'output', 'completed'],
  )
  t.deepEqual(
    body.session.journal.map(({ seq }: any) => seq),
    Array.from({ length: 12 }, (_, at) => at + 1),
  )
  t.deepEqual(
    (await daemon.request('GET', '/v1/sessions/s1/events?after=10&limit=1')).body.session.journal.map(
      ({ seq }: any) => seq,
    ),
    [11],
  )
})

test('the stream of a session shows what happens in it and nothing of another', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const session_id of ['s1', 's2']) await openSession(daemon, session_id)
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/sessions/s1/stream?cursor=0' })
  t.teardown(stream.close)
  const other = await submit(daemon, 's2', 'elsewhere')
  const own = await submit(daemon, 's1', 'here')
  await until(daemon, other.run_id, 'completed')
  await until(daemon, own.run_id, 'completed')
  const ended = () =>
    stream.frames.some(({ event, data }) => event === 'run_updated' && data.run.status === 'completed')
  for (let count = 1; count < 50 && !ended(); count += 1) await stream.until(count)
  t.true(ended())
  const runs = stream.frames.filter(({ event }) => event === 'run_updated').map(({ data }) => data.run.run_id)
  t.deepEqual([...new Set(runs)], [own.run_id])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/nobody/stream')), [404, 'session_not_found'])
})
