import test from 'ava'
import { startTestDaemon } from '../../../../support/daemon.js'
import { codeOf, openSession, submit, until } from '../../../../support/runs.js'

test('a submission that carries no input, two inputs or unknown fields is refused and leaves no run', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const send = (body: unknown) => daemon.request('POST', '/v1/sessions/s1/runs', body)
  t.deepEqual(codeOf(await send({})), [400, 'run_input_missing'])
  t.deepEqual(codeOf(await send({ content: '  ' })), [400, 'run_input_missing'])
  t.deepEqual(codeOf(await send({ input_items: [] })), [400, 'run_input_missing'])
  t.deepEqual(codeOf(await send({ content: 'x', input_items: [{ type: 'text', text: 'y' }] })), [
    400,
    'run_input_conflict',
  ])
  t.deepEqual(codeOf(await send({ content: 'x', metadata: { service_flow: {} } })), [400, 'reserved_metadata_key'])
  const nowhere = await send({ content: 'x', provider: 'nowhere' })
  t.deepEqual([nowhere.status, nowhere.body.errors[0].path], [400, 'body.provider'])
  const unknown = await send({ content: 'x', binding_key: 'k' })
  t.deepEqual([unknown.status, unknown.body.errors[0].path], [400, 'body.binding_key'])
  t.deepEqual((await daemon.request('GET', '/v1/runs')).body, [])
  const items = await send({
    input_items: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  })
  t.is((await until(daemon, items.body.run_id, 'completed')).outputs[0].content, 'You said: a\nb')
})

test('an idempotency key makes a submission happen once', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const send = (content: string) =>
    daemon.request('POST', '/v1/sessions/s1/runs', { content }, { 'idempotency-key': 'key-1' })
  const equal = await Promise.all(Array.from({ length: 50 }, () => send('same')))
  t.is(new Set(equal.map(({ status, body }) => `${status} ${body.run_id}`)).size, 1)
  t.deepEqual(codeOf(await send('other')), [409, 'idempotency_conflict'])
  const different = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      daemon.request('POST', '/v1/sessions/s1/runs', { content: `n${at}`, idempotency_key: 'key-2' }),
    ),
  )
  t.is(different.filter(({ status }) => status === 202).length, 1)
  t.is((await daemon.request('GET', '/v1/runs')).body.length, 2)
  await daemon.stop()
  const second = await startTestDaemon(t, { root: daemon.root })
  const replayed = await second.request(
    'POST',
    '/v1/sessions/s1/runs',
    { content: 'same' },
    { 'idempotency-key': 'key-1' },
  )
  t.deepEqual([replayed.status, replayed.body.run_id], [202, equal[0]?.body.run_id])
})

test('http-34: null for an optional field is its absence, and the same request for an idempotency key', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const send = (body: object) =>
    daemon.request('POST', '/v1/sessions/s1/runs', { content: 'same', ...body }, { 'idempotency-key': 'key-1' })
  const first = await send({ provider: null, generation: { temperature: null }, input_items: null, metadata: null })
  t.is(first.status, 202)
  for (const body of [{ generation: {} }, { generation: { model: null }, actor_id: null, idempotency_key: null }])
    t.like(await send(body), { status: 202, body: { run_id: first.body.run_id } })
  t.deepEqual(codeOf(await send({})), [409, 'idempotency_conflict'])
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/runs', { content: null })), [
    400,
    'run_input_missing',
  ])
  t.is((await daemon.request('POST', '/v1/sessions', { session_id: null })).status, 201)
})

test('lists of runs: pages in order of submission, the newest as a plain array, open ones first if asked', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  await openSession(daemon, 's2')
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1) ids.push((await submit(daemon, 's1', `n${n}`)).run_id)
  await until(daemon, ids[4] ?? '', 'completed')
  const open = await submit(daemon, 's2', '/ask Well? | A | B')
  await until(daemon, open.run_id, 'waiting_for_user_question')
  const last = await submit(daemon, 's1', 'last')
  await until(daemon, last.run_id, 'completed')
  const get = async (query: string): Promise<any> => (await daemon.request('GET', `/v1/runs?${query}`)).body
  const idsOf = (rows: any[]): string[] => rows.map(({ run_id }) => run_id)
  t.deepEqual(idsOf(await get('limit=2')), [open.run_id, last.run_id])
  t.deepEqual(idsOf(await get('')), [...ids, open.run_id, last.run_id])
  t.deepEqual(idsOf(await get('session_id=s1&limit=3')), [ids[3], ids[4], last.run_id])
  t.is(idsOf(await get('priority_active=true&limit=3'))[0], open.run_id)
  t.deepEqual(idsOf(await get('priority_active=true&limit=2&session_id=s1')), [last.run_id, ids[4]])
  const page = await get('page=true&limit=4&session_id=s1')
  t.deepEqual(idsOf(page.items), ids.slice(0, 4))
  t.like(page.pagination, { total_count: 6, has_more: true, order: 'submitted_at_ms_asc,run_id_asc' })
  t.deepEqual(idsOf((await get(`cursor=${page.pagination.next_cursor}&session_id=s1`)).items), [ids[4], last.run_id])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runs?limit=0')), [400, 'invalid_limit'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runs/none')), [404, 'run_not_found'])
  for (const at of ['events', 'stream'])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/none/${at}`)), [404, 'run_not_found'])
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/runs/none/cancel')), [404, 'run_not_found'])
})

test('a stream of a run shows its changes and its output, and nothing of other runs', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const waiting = await submit(daemon, 's1', '/ask Well? | A | B\n---\n/say Good.')
  const {
    pending_question_ids: [request_id],
  } = await until(daemon, waiting.run_id, 'waiting_for_user_question')
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const answer = await fetch(`${daemon.url}/v1/runs/${waiting.run_id}/stream`, { signal: stop.signal })
  const other = await submit(daemon, 's1', 'other')
  await daemon.request('POST', `/v1/runs/${waiting.run_id}/questions`, {
    resolution: { request_id, answers: [{ question_id: 'q1', selected_option_ids: ['o1'] }] },
  })
  let seen = ''
  const decoder = new TextDecoder()
  for await (const chunk of trustedBody(answer)) {
    seen += decoder.decode(chunk, { stream: true })
    if (seen.includes('"status":"completed"')) break
  }
  const frames = seen
    .split('\n\n')
    .filter((frame) => frame.includes('data:'))
    .map((frame) => JSON.parse(/^data: ?(.*)$/mu.exec(frame)?.[1] ?? '{}'))
  const kinds = frames
    .map((frame) => (frame.type === 'run_updated' ? frame.run.status : frame.type))
    .filter((kind) => kind !== 'trace' && kind !== 'heartbeat')
  t.deepEqual(kinds, ['running', 'output', 'completed'])
  t.false(seen.includes(other.run_id))
})

const trustedBody = (answer: Response): AsyncIterable<Uint8Array> => {
  if (answer.body === null) throw new TypeError('no body')
  return answer.body
}
