/** docs/rules/runs.md: rules that can be seen from outside, against a daemon. */
import test from 'ava'
import { startTestDaemon } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { codeOf, eventTypes, openSession, submit, until } from '../support/runs.js'
import { shareDaemon } from '../support/shared-daemon.js'
import { openStream } from '../support/sse.js'

const stand = shareDaemon(test)
const ask = '/ask Well? | A | B\n---\n/say Good.'

test('runs-18: GET /v1/runs: session_id, status, limit, priority_active, page and cursor', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const id of ['s1', 's2']) await openSession(daemon, id)
  const ids: string[] = []
  for (let n = 0; n < 4; n += 1) ids.push((await submit(daemon, 's1', n === 1 ? '/fail fatal no' : `n${n}`)).run_id)
  await until(daemon, ids[3] ?? '', 'completed')
  const open = await submit(daemon, 's2', '/ask Well? | A | B')
  await until(daemon, open.run_id, 'waiting_for_user_question')
  const get = async (query: string): Promise<any> => (await daemon.request('GET', `/v1/runs?${query}`)).body
  const idsOf = (rows: any[]): string[] => rows.map(({ run_id }) => run_id)
  t.deepEqual(idsOf(await get('')), [...ids, open.run_id])
  t.deepEqual(idsOf(await get('session_id=s1&limit=2')), ids.slice(2))
  t.deepEqual(idsOf(await get('limit=100000')), [...ids, open.run_id])
  t.is(idsOf(await get('priority_active=true'))[0], open.run_id)
  t.deepEqual(idsOf(await get('status=failed')), [ids[1]])
  t.deepEqual(idsOf(await get('status=completed&session_id=s2')), [])
  t.deepEqual(idsOf(await get('status=completed&session_id=s1&limit=2')), ids.slice(2))
  t.deepEqual(idsOf(await get('status=completed&priority_active=true')), [ids[3], ids[2], ids[0]])
  const page = await get('status=completed&page=true&limit=2')
  t.deepEqual(idsOf(page.items), [ids[0], ids[2]])
  t.like(page.pagination, { limit: 2, total_count: 3, has_more: true, order: 'submitted_at_ms_asc,run_id_asc' })
  t.deepEqual(idsOf((await get(`status=completed&limit=2&cursor=${page.pagination.next_cursor}`)).items), [ids[3]])
  const all = await get('page=true&limit=3')
  t.deepEqual(idsOf((await get(`cursor=${all.pagination.next_cursor}`)).items), [ids[3], open.run_id])
  t.is((await get('page=true&limit=1000')).pagination.limit, 100)
  for (const query of ['limit=0', 'limit=0&page=true', 'limit=0&priority_active=true', 'limit=-1'])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs?${query}`)), [400, 'invalid_limit'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runs?cursor=%21')), [400, 'invalid_cursor'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runs?status=busy')), [400, 'bad_request'])
})

test('runs-17: GET /v1/runs/{run_id}: every field of a run view in each of its states', async (t) => {
  const { daemon, session_id, send } = await stand()
  const body = {
    content: ask,
    source_plugin: 'p',
    source_kind: 'k',
    actor_id: 'a',
    metadata: { m: 1 },
    generation: { model: 'm' },
  }
  const {
    body: { run_id, agent_id },
  } = await send(body)
  const { body: behind } = await send({ content: 'behind' })
  t.like(behind, {
    status: 'queued',
    queued_position: 1,
    request: { source_plugin: 'http', source_kind: 'api', actor_id: 'operator', text_preview: 'behind' },
  })
  const waiting = await until(daemon, run_id, 'waiting_for_user_question')
  t.like(waiting, {
    run_id,
    session_id,
    agent_id,
    kind: 'input',
    input_metadata: { m: 1 },
    request: {
      source_plugin: 'p',
      source_kind: 'k',
      actor_id: 'a',
      text_preview: ask,
      provider: 'demo',
      model: 'm',
      question_count: 1,
    },
  })
  t.deepEqual(waiting.pending_question_ids, [waiting.pending_questions[0].id])
  t.true(waiting.submitted_at_ms <= waiting.started_at_ms && waiting.started_at_ms <= waiting.updated_at_ms)
  for (const absent of [
    'finished_at_ms',
    'outputs',
    'error',
    'pending_approvals',
    'input_attachments',
    'queued_position',
  ])
    t.false(absent in waiting, absent)
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  const { finished_at_ms, updated_at_ms, ...rest } = (await daemon.request('GET', `/v1/runs/${run_id}`)).body
  t.is(finished_at_ms, updated_at_ms)
  t.false('pending_question_ids' in rest)
  const failed = await until(daemon, (await send({ content: '/fail fatal no' })).body.run_id, 'failed')
  t.is(failed.error, 'model_bad_request: no')
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runs/none')), [404, 'run_not_found'])
})

test('runs-20: GET /v1/runs/{run_id}/events: every variant in order, six of them with the run as it was then', async (t) => {
  const { daemon, send } = await stand()
  const {
    body: { run_id },
  } = await send({ content: '/ask Well? | A | B\n---\n/tool bash {"command":"true"}\n---\n/emit out\n---\n/say Good.' })
  const {
    pending_question_ids: [request_id],
  } = await until(daemon, run_id, 'waiting_for_user_question')
  await daemon.request('POST', `/v1/runs/${run_id}/questions`, {
    resolution: { request_id, answers: [{ question_id: 'q1', selected_option_ids: ['o1'] }] },
  })
  const {
    pending_approval_ids: [approval],
  } = await until(daemon, run_id, 'waiting_for_approval')
  await daemon.request('POST', `/v1/runs/${run_id}/approvals`, {
    resolutions: [{ request_id: approval, behavior: 'deny' }],
  })
  await until(daemon, run_id, 'completed')
  const events: any[] = (await daemon.request('GET', `/v1/runs/${run_id}/events`)).body
  t.deepEqual(
    events.map(({ event }) => `${event.type} ${event.run?.status ?? ''}`.trim()),
    [
      'accepted queued',
      'queued queued',
      'started running',
      'waiting_for_user_question',
      'user_question_resolved',
      'waiting_for_approval',
      'approval_resolved',
      'output',
      'output',
      'completed completed',
    ],
  )
  t.like(events[5]?.event, { request_ids: [approval], requests: [{ id: approval, tool_name: 'bash' }] })
  t.deepEqual(
    events.at(-1)?.event.run.outputs.map(({ content }: any) => content),
    ['out', 'Good.'],
  )
  const { body: stopped } = await send({ content: ask })
  await until(daemon, stopped.run_id, 'waiting_for_user_question')
  await daemon.request('POST', `/v1/runs/${stopped.run_id}/cancel`)
  const last = (await daemon.request('GET', `/v1/runs/${stopped.run_id}/events`)).body.at(-1)
  t.is(last.event.run.status, 'cancelled')
  t.deepEqual(
    await eventTypes(
      daemon,
      (await until(daemon, (await send({ content: '/fail fatal no' })).body.run_id, 'failed')).run_id,
    ),
    ['accepted', 'queued', 'started', 'failed'],
  )
})

test('events-1: GET /v1/runs/{run_id}/stream: the changes and outputs of one run', async (t) => {
  const { daemon, send } = await stand()
  const {
    body: { run_id },
  } = await send({ content: ask })
  const {
    pending_question_ids: [request_id],
  } = await until(daemon, run_id, 'waiting_for_user_question')
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: `/v1/runs/${run_id}/stream` })
  t.teardown(stream.close)
  while (stream.head() === '') await new Promise((resolve) => setTimeout(resolve, 5))
  const other = await send({ content: 'other' })
  await daemon.request('POST', `/v1/runs/${run_id}/questions`, {
    resolution: { request_id, answers: [{ question_id: 'q1', selected_option_ids: ['o1'] }] },
  })
  await until(daemon, other.body.run_id, 'completed')
  const ended = () =>
    stream.frames.some(({ event, data }) => event === 'run_updated' && data.run.status === 'completed')
  while (!ended()) await new Promise((resolve) => setTimeout(resolve, 5))
  t.deepEqual(
    stream.frames
      .filter(({ event }) => event !== 'trace' && event !== 'heartbeat')
      .map(({ event, data }) => data.run?.status ?? event),
    ['running', 'output', 'completed'],
  )
  t.false(JSON.stringify(stream.frames).includes(other.body.run_id))
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runs/none/stream')), [404, 'run_not_found'])
})

test('runs-29: POST /v1/runs/{run_id}/cancel: queued, running and waiting runs end; an ended run is not rewound', async (t) => {
  const { daemon, send } = await stand()
  const running = (await send({ content: '/sleep 60000' })).body.run_id
  const queued = (await send({ content: 'queued' })).body.run_id
  const cancel = (run_id: string) => daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  t.is((await cancel(queued)).body.status, 'cancelled')
  t.is((await cancel(running)).body.status, 'cancelled')
  t.is((await cancel(running)).body.status, 'cancelled')
  const done = (await send({ content: 'done' })).body.run_id
  await until(daemon, done, 'completed')
  const failed = (await send({ content: '/fail fatal no' })).body.run_id
  await until(daemon, failed, 'failed')
  for (const id of [done, failed]) {
    const before = (await daemon.request('GET', `/v1/runs/${id}/events`)).body
    t.deepEqual(codeOf(await cancel(id)), [409, 'run_state_conflict'])
    t.deepEqual((await daemon.request('GET', `/v1/runs/${id}/events`)).body, before)
  }
  t.deepEqual(codeOf(await cancel('none')), [404, 'run_not_found'])
})

test('runs-2: POST /v1/sessions/{session_id}/input: executes inline, and refuses a session that has work', async (t) => {
  const { daemon, session_id, send } = await stand()
  const input = (content: string) => daemon.request('POST', `/v1/sessions/${session_id}/input`, { content })
  t.like((await input('Hi')).body, {
    session_id,
    outputs: [{ content: 'You said: Hi' }],
    snapshot: { last_assistant_message: 'You said: Hi' },
  })
  t.is((await input(ask)).body.snapshot.agent.status, 'waiting_for_user_input')
  t.deepEqual(codeOf(await input('again')), [409, 'session_busy'])
  t.is((await send({ content: 'behind' })).body.status, 'queued')
  t.deepEqual(codeOf(await input('again')), [409, 'session_busy'])
})

test('runs-30: POST /v1/sessions/{session_id}/interrupt: ends what is active, and the queue goes on', async (t) => {
  const { daemon, session_id, send } = await stand()
  const interrupt = async (): Promise<any> =>
    (await daemon.request('POST', `/v1/sessions/${session_id}/interrupt`)).body
  t.false((await interrupt()).interrupted)
  const running = (await send({ content: '/sleep 60000' })).body.run_id
  const waiting = (await send({ content: ask })).body.run_id
  const last = (await send({ content: 'last' })).body.run_id
  t.true((await interrupt()).interrupted)
  t.is((await daemon.request('GET', `/v1/runs/${running}`)).body.status, 'interrupted')
  await until(daemon, waiting, 'waiting_for_user_question')
  const { interrupted, snapshot } = await interrupt()
  t.deepEqual([interrupted, snapshot.pending_approvals], [true, []])
  t.is((await until(daemon, last, 'completed')).outputs[0].content, 'You said: last')
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/none/interrupt')), [404, 'session_not_found'])
})

test('sessions-29: POST /v1/sessions/{session_id}/end: everything in it ends with the reason, also through kill -9', async (t) => {
  const daemon = await startMortal(t)
  await openSession(daemon)
  const running = await submit(daemon, 's1', '/sleep 60000')
  const queued = await submit(daemon, 's1', 'queued')
  const ended = await daemon.request('POST', '/v1/sessions/s1/end', { reason: 'enough' })
  t.is(ended.status, 200)
  t.true(ended.body.snapshot.agent.closed_at_ms > 0)
  await daemon.kill('SIGKILL')
  const second = await startTestDaemon(t, { root: daemon.root })
  t.like((await second.request('GET', `/v1/runs/${running.run_id}`)).body, {
    status: 'interrupted',
    error: 'session_ended: the session was ended: enough',
  })
  t.is((await second.request('GET', `/v1/runs/${queued.run_id}`)).body.status, 'cancelled')
  t.deepEqual(codeOf(await second.request('POST', '/v1/sessions/s1/runs', { content: 'x' })), [409, 'session_ended'])
  t.deepEqual(codeOf(await second.request('POST', '/v1/sessions/s1/input', { content: 'x' })), [409, 'session_ended'])
  t.is((await second.request('POST', '/v1/sessions/s1/end')).status, 200)
  t.deepEqual(codeOf(await second.request('POST', '/v1/sessions/none/end', {})), [404, 'session_not_found'])
})

test('runs-40: accepted runs are executed after kill -9, waiting ones wait on, and ended ones stay as they were', async (t) => {
  const daemon = await startMortal(t)
  for (const id of ['s1', 's2', 's3']) await openSession(daemon, id)
  const ended = await until(daemon, (await submit(daemon, 's1', 'one')).run_id, 'completed')
  const running = await submit(daemon, 's1', '/sleep 1500\n/say Slept.')
  const queued = await submit(daemon, 's1', 'two')
  const waiting = await until(daemon, (await submit(daemon, 's2', ask)).run_id, 'waiting_for_user_question')
  await daemon.kill('SIGKILL')
  const second = await startTestDaemon(t, { root: daemon.root })
  t.deepEqual((await second.request('GET', `/v1/runs/${ended.run_id}`)).body, ended)
  t.deepEqual((await second.request('GET', `/v1/runs/${waiting.run_id}`)).body, waiting)
  t.is((await until(second, running.run_id, 'completed')).outputs[0].content, 'Slept.')
  t.is((await until(second, queued.run_id, 'completed')).outputs[0].content, 'You said: two')
})

test(
  'runs-3: POST /v1/sessions/{session_id}/input: a client that waits is answered when the daemon is told to ' +
    'stop, and the run goes on after the next start',
  async (t) => {
    const first = await startTestDaemon(t)
    await openSession(first)
    const waiting = first.request('POST', '/v1/sessions/s1/input', { content: '/sleep 20000\n---\n/say Slept.' })
    const running = async (): Promise<any> =>
      (await first.request('GET', '/v1/runs?status=running')).body[0] ?? running()
    const { run_id } = await running()
    const stopped = first.stop()
    const { status, body } = await waiting
    t.is(status, 200)
    t.is(body.snapshot.agent.status, 'running')
    await stopped
    const second = await startTestDaemon(t, { root: first.root })
    t.is((await second.request('GET', `/v1/runs/${run_id}`)).body.status, 'running')
    t.is((await second.request('POST', `/v1/runs/${run_id}/cancel`)).body.status, 'cancelled')
  },
)
