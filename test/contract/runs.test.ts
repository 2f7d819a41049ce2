/** Contract 1, "SubmitInputRequest", "Run" and the rows of "Runs": one test for each rule, against a real process. */
import test from 'ava'
import { spawnTestDaemon } from '../support/daemon.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'

const start = async (t: any) => {
  const daemon = await spawnTestDaemon(t)
  await openSession(daemon)
  const send = (body: unknown, session_id = 's1') => daemon.request('POST', `/v1/sessions/${session_id}/runs`, body)
  /** Status, code and the field of a refusal. */
  const refusal = async (body: unknown): Promise<unknown[]> => {
    const answer = await send(body)
    return [...codeOf(answer), answer.body.errors?.[0]?.path]
  }
  return { daemon, send, refusal }
}

const asset = { file_name: 'a.txt', media_type: 'text/plain', content_base64: 'YQ==' }
const text = { type: 'text', text: 'a' }

test('SubmitInputRequest rule 1: input_items cannot be combined with content or attachments', async (t) => {
  const { refusal, send, daemon } = await start(t)
  t.deepEqual(await refusal({ content: 'x', input_items: [text] }), [400, 'run_input_conflict', 'body.input_items'])
  t.deepEqual(await refusal({ attachments: [asset], input_items: [text] }), [400, 'run_input_conflict', 'body.input_items'])
  const run = await send({ content: '', attachments: [], input_items: [text, { type: 'text', text: 'b' }] })
  t.is((await until(daemon, run.body.run_id, 'completed')).outputs[0].content, 'You said: a\nb')
})

test('SubmitInputRequest rule 2: content, attachments or input_items must carry actual input', async (t) => {
  const { refusal, daemon } = await start(t)
  for (const body of [{}, { content: ' \n' }, { input_items: [], attachments: [] }, { input_items: [{ type: 'text', text: '\t' }] }]) {
    t.deepEqual(await refusal(body), [400, 'run_input_missing', 'body.content'])
  }
  t.deepEqual((await daemon.request('GET', '/v1/runs')).body, [])
})

test('SubmitInputRequest rule 3: a binding key leads to one session for ever, also through kill -9', async (t) => {
  const { daemon, send, refusal } = await start(t)
  await openSession(daemon, 's2')
  const binding_keys = [' chat:1 ', 'chat:1', 'chat:2']
  t.is((await send({ content: 'x', binding_keys })).status, 202)
  t.is((await send({ content: 'x', binding_keys: ['chat:2', 'chat:3'] })).status, 202)
  t.deepEqual(await refusal({ content: 'x', binding_keys: ['chat:9', ' '] }), [400, 'binding_key_blank', 'body.binding_keys.1'])
  t.deepEqual(await refusal({ content: 'x', binding_keys: Array.from({ length: 101 }, String) }), [400, 'bad_request', 'body.binding_keys'])
  t.deepEqual(await refusal({ content: 'x', binding_keys: ['k'.repeat(1001)] }), [400, 'bad_request', 'body.binding_keys.0'])
  await daemon.kill('SIGKILL')
  const second = await spawnTestDaemon(t, { root: daemon.root })
  const other = (key: string) => second.request('POST', '/v1/sessions/s2/runs', { content: 'x', binding_keys: ['chat:8', key] })
  for (const key of ['chat:1', 'chat:2', 'chat:3']) t.deepEqual(codeOf(await other(key)), [409, 'binding_conflict'])
  t.deepEqual((await second.request('GET', '/v1/runs?session_id=s2')).body, [])
  t.is((await other('chat:9')).status, 202)
  t.deepEqual(codeOf(await second.request('POST', '/v1/sessions/s1/runs', { content: 'x', binding_keys: ['chat:8'] })), [409, 'binding_conflict'])
})

test('SubmitInputRequest rule 5: an inline asset needs a name and content; assets and boards are refused while nothing keeps them', async (t) => {
  const { refusal, daemon } = await start(t)
  for (const [field, value] of [['file_name', ''], ['file_name', ' '], ['content_base64', '']]) {
    const broken = { ...asset, [field ?? '']: value }
    t.deepEqual(await refusal({ content: 'x', attachments: [asset, broken] }), [400, 'inline_asset_empty', `body.attachments.1.${field}`])
    t.deepEqual(await refusal({ input_items: [text, { type: 'inline_asset', ...broken }] }), [400, 'inline_asset_empty', `body.input_items.1.${field}`])
  }
  t.deepEqual(await refusal({ content: 'x', attachments: [asset] }), [400, 'assets_unavailable', 'body.attachments.0'])
  for (const item of [{ type: 'inline_asset', ...asset }, { type: 'asset_reference', asset_id: 'a' }, { type: 'board_reference', board_id: 'b' }, { type: 'board_reference', board_id: 'b', revision_id: 'r' }]) {
    t.deepEqual(await refusal({ input_items: [text, item] }), [400, 'assets_unavailable', 'body.input_items.1'])
  }
  t.deepEqual(await refusal({ input_items: [{ type: 'video' }] }), [400, 'bad_request', 'body.input_items.0.type'])
  t.deepEqual((await daemon.request('GET', '/v1/runs')).body, [])
})

test('Route precedence: the run names route and model, which the run shows; a route that is not there is refused', async (t) => {
  const { send, refusal } = await start(t)
  t.like((await send({ content: 'x' })).body.request, { provider: 'demo', model: 'demo' })
  const named = (await send({ content: 'x', provider: 'demo', generation: { model: 'small', fallback_model: 'large' } })).body.request
  t.like(named, { provider: 'demo', model: 'small', fallback_model: 'large' })
  t.deepEqual(await refusal({ content: 'x', provider: 'nowhere' }), [400, 'bad_request', 'body.provider'])
})

test('Run: daemon-owned metadata is refused', async (t) => {
  const { refusal } = await start(t)
  t.deepEqual(await refusal({ content: 'x', metadata: { service_flow: {} } }), [400, 'reserved_metadata_key', 'body.metadata.service_flow'])
})

test('GET /v1/runs: session_id, status, limit, priority_active, page and cursor', async (t) => {
  const { daemon } = await start(t)
  await openSession(daemon, 's2')
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
  t.is((await get('page=true&limit=1000')).pagination.limit, 100)
  for (const query of ['limit=0', 'limit=0&page=true', 'limit=0&priority_active=true', 'limit=-1']) t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs?${query}`)), [400, 'invalid_limit'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runs?cursor=%21')), [400, 'invalid_cursor'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runs?status=busy')), [400, 'bad_request'])
})
