/** Observation sources and their audit as operators see them; docs/rules/observations.md. */
import test from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { definePlugin } from '../../../../core/plugin.js'
import { rings } from '../../../../plugins/capture/observations/record/audit.js'
import { ObservationSources, type SourceDraft } from '../../../../plugins/capture/observations/contract.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { codeOf } from '../../../support/runs.js'

const door = { source_id: 'door', display_name: ' Door ', kind: 'webcam_snapshot', upload_token: 'first-token' }
const create = (daemon: TestDaemon, more: object = {}) =>
  daemon.request('POST', '/v1/observation-sources', { ...door, ...more })
const read = async (daemon: TestDaemon, id = 'door'): Promise<any> =>
  (await daemon.request('GET', `/v1/observation-sources/${id}`)).body
const auditOf = async (daemon: TestDaemon, query = ''): Promise<any[]> =>
  (await daemon.request('GET', `/v1/observation-audit${query}`)).body

test('observations-1: a source is created with every default, and its token is shown and kept nowhere', async (t) => {
  const daemon = await startTestDaemon(t)
  const made = await create(daemon)
  t.is(made.status, 200)
  const { created_at_ms } = made.body
  t.deepEqual(made.body, {
    source_id: 'door',
    display_name: 'Door',
    kind: 'webcam_snapshot',
    status: 'active',
    sensitivity: 'sensitive',
    retention_seconds: 604_800,
    max_active_observations: 512,
    max_active_bytes: 536_870_912,
    ingest_rate_limit_window_ms: 60_000,
    ingest_rate_limit_burst: 120,
    purge_raw_on_retention: false,
    allow_materialization: true,
    allow_output_delivery: false,
    created_at_ms,
    updated_at_ms: created_at_ms,
    upload_token_version: 1,
    last_token_rotated_at_ms: created_at_ms,
    active_observation_count: 0,
    active_byte_length: 0,
  })
  t.deepEqual(await read(daemon), made.body)
  const { source_id: _source_id, ...unnamed } = door
  const chosen = await daemon.request('POST', '/v1/observation-sources', unnamed)
  t.regex(chosen.body.source_id, /^source_/u)
  for (const wrong of [
    { source_id: 'a/b' },
    { source_id: '..' },
    { source_id: 'a'.repeat(129) },
    { source_id: ' a' },
    { display_name: ' ' },
    { upload_token: ' ' },
    { upload_token: 'two words' },
    { upload_token: undefined },
    { kind: 'smell' },
    { retention_seconds: 0 },
    { max_active_observations: 0 },
    { max_active_bytes: -1 },
    { ingest_rate_limit_window_ms: 0 },
    { ingest_rate_limit_burst: 0 },
  ])
    t.deepEqual(codeOf(await create(daemon, wrong)), [400, 'bad_request'], JSON.stringify(wrong))
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/observation-sources/none')), [
    404,
    'observation_source_not_found',
  ])
  const files = readdirSync(daemon.root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  for (const { name, parentPath } of files)
    t.false(readFileSync(path.join(parentPath, name)).includes('first-token'), `the token is not in ${name}`)
})

test('observations-2: a source is made again with other settings; a new token counts at once, the kind stays', async (t) => {
  const daemon = await startTestDaemon(t)
  await create(daemon, { retention_seconds: 60 })
  const { body: same } = await create(daemon, { display_name: 'Gate', upload_token: ' first-token ' })
  t.like(same, { display_name: 'Gate', upload_token_version: 1, retention_seconds: 604_800 })
  t.deepEqual(codeOf(await create(daemon, { kind: 'screen_snapshot' })), [409, 'observation_source_kind_conflict'])
  t.like(await read(daemon), same)
  await daemon.request('POST', '/v1/observation-sources/door/revoke-token', {})
  const { body: next } = await create(daemon, { upload_token: 'second-token' })
  t.like(next, { upload_token_version: 2, upload_token_revoked_at_ms: undefined, created_at_ms: same.created_at_ms })
  t.deepEqual(
    (await auditOf(daemon)).map(({ event }) => event),
    ['source_rotated', 'source_token_revoked', 'source_updated', 'source_created'],
  )
})

test('observations-2: a source of a capture agent is changed by nobody else', async (t) => {
  let sources: ObservationSources | undefined
  let kept: (draft: SourceDraft) => Promise<unknown> = () => Promise.resolve()
  const keeper = definePlugin({
    id: 'keeper',
    version: '1.0.0',
    api: 1,
    summary: 'Has a source.',
    needs: { own: ObservationSources },
    register(ctx, { own }) {
      sources = own
      kept = (draft) => ctx.state.commit((tx) => own.keep(tx, draft, { plugin: 'keeper', id: 'machine-1' }))
    },
  })
  const daemon = await startTestDaemon(t, { plugins: [keeper] })
  const { body } = await create(daemon, { source_id: 'model' })
  await kept({ ...body, source_id: 'owned', kind: 'screen_snapshot', upload_token: 'agents-token' })
  t.deepEqual(sources?.ownerOf('owned'), { plugin: 'keeper', id: 'machine-1' })
  const refused = [409, 'capture_source_managed_by_agent']
  const route = '/v1/observation-sources/owned'
  const again = { ...door, source_id: 'owned', kind: 'screen_snapshot' }
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/observation-sources', again)), refused)
  t.deepEqual(codeOf(await daemon.request('POST', `${route}/rotate-token`, { upload_token: 'mine' })), refused)
  const { body: problem } = await daemon.request('POST', `${route}/revoke-token`, {})
  t.like(problem, { status: 409, code: 'capture_source_managed_by_agent', domain: 'capture' })
  t.deepEqual(
    (await auditOf(daemon, '?source_id=owned')).map(({ event }) => event),
    ['source_batch_upserted'],
  )
})

test('observations-3: tokens are rotated and revoked, and a revoked one is not taken again', async (t) => {
  const daemon = await startTestDaemon(t)
  await create(daemon)
  const post = (route: string, body: object) => daemon.request('POST', `/v1/observation-sources/door/${route}`, body)
  t.like((await post('rotate-token', { upload_token: 'second', grace_period_ms: 5000 })).body, {
    upload_token_version: 2,
  })
  t.like((await post('rotate-token', { upload_token: 'second' })).body, { upload_token_version: 2 })
  for (const wrong of [
    { upload_token: 'x', grace_period_ms: 86_400_001 },
    { grace_period_ms: 1 },
    { upload_token: '' },
  ])
    t.deepEqual(codeOf(await post('rotate-token', wrong)), [400, 'bad_request'])
  const revoked = await post('revoke-token', { reason: 'stolen' })
  t.is(typeof revoked.body.upload_token_revoked_at_ms, 'number')
  t.deepEqual(codeOf(await post('rotate-token', { upload_token: 'second' })), [400, 'upload_token_revoked'])
  t.like((await post('rotate-token', { upload_token: 'third', grace_period_ms: 5000 })).body, {
    upload_token_version: 3,
    upload_token_revoked_at_ms: undefined,
  })
  t.deepEqual(codeOf(await post('revoke-token', { reason: 'a'.repeat(513) })), [400, 'bad_request'])
  const none = await daemon.request('POST', '/v1/observation-sources/none/rotate-token', { upload_token: 'x' })
  t.deepEqual(codeOf(none), [404, 'observation_source_not_found'])
  t.deepEqual(
    (await auditOf(daemon, '?event=source_token_rotated')).map(({ reason }) => reason),
    ['grace_period_ms=5000', undefined, 'grace_period_ms=5000'],
  )
})

test('observations-4: sources are listed by id, and found by id and name', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const [source_id, display_name] of [
    ['b', 'Second'],
    ['a', 'First'],
    ['c', 'Third of b'],
  ])
    await create(daemon, { source_id, display_name })
  const ids = async (query: string): Promise<string[]> =>
    (await daemon.request('GET', `/v1/observation-sources${query}`)).body.map(({ source_id }: any) => source_id)
  t.deepEqual(await ids(''), ['a', 'b', 'c'])
  t.deepEqual(await ids('?query=B'), ['b', 'c'])
  t.deepEqual(await ids('?query=first'), ['a'])
  const page = await daemon.request('GET', '/v1/observation-sources?page=true&limit=2')
  t.like(page.body.pagination, { total_count: 3, has_more: true, order: 'source_id_asc' })
})

test('observations-5: the audit is newest first, by source and event, and says no secret that an operator wrote', async (t) => {
  const daemon = await startTestDaemon(t)
  await create(daemon)
  await create(daemon, { source_id: 'gate' })
  const revoke = (reason: string) => daemon.request('POST', '/v1/observation-sources/door/revoke-token', { reason })
  for (const reason of [
    '  the\n machine  is gone ',
    'sk-abcdefghijklmnopqrstuvwx1',
    'his password',
    'x-api-key of the door',
    'a'.repeat(121),
    ' ',
  ])
    await revoke(reason)
  t.deepEqual(
    (await auditOf(daemon, '?source_id=door&event=source_token_revoked')).map(({ reason }) => reason),
    [undefined, ...Array.from({ length: 4 }, () => 'operator_reason_redacted'), 'the machine is gone'],
  )
  t.deepEqual(
    (await auditOf(daemon, '?source_id=gate')).map(({ event, upload_token_version }) => [event, upload_token_version]),
    [['source_created', 1]],
  )
  for (const limit of [0, -5])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/observation-audit?limit=${limit}`)), [400, 'invalid_limit'])
  t.is((await auditOf(daemon, '?limit=5000')).length, 8)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/observation-audit?event=none')), [400, 'bad_request'])
})

test('observations-5: of each ring the oldest event falls, and no ring takes from another', async (t) => {
  let note: (count: number) => Promise<void> = () => Promise.resolve()
  const noter = definePlugin({
    id: 'noter',
    version: '1.0.0',
    api: 1,
    summary: 'Notes refusals.',
    needs: { own: ObservationSources },
    register(ctx, { own }) {
      note = (count) =>
        ctx.state.commit((tx) => {
          for (let at = 0; at < count; at += 1)
            own.note(tx, { event: 'upload_rejected', source_id: `s${at}`, reason: 'invalid_token' })
        })
    },
  })
  const daemon = await startTestDaemon(t, { plugins: [noter] })
  await create(daemon)
  await note(rings.refused + 5)
  t.deepEqual(await auditOf(daemon, '?source_id=s4'), [])
  t.is((await auditOf(daemon, '?source_id=s5')).length, 1)
  t.is((await auditOf(daemon, '?event=upload_rejected&limit=1000')).length, 1000)
  t.is((await auditOf(daemon, '?source_id=door')).length, 1)
})

test('observations-3: no token that was taken away is taken again, also one that opened for a while beside the newest', async (t) => {
  const daemon = await startTestDaemon(t)
  await create(daemon, { upload_token: 'first' })
  const rotate = (upload_token: string, grace_period_ms = 0) =>
    daemon.request('POST', '/v1/observation-sources/door/rotate-token', { upload_token, grace_period_ms })
  t.is((await rotate('second', 86_400_000)).status, 200)
  t.is((await daemon.request('POST', '/v1/observation-sources/door/revoke-token', {})).status, 200)
  for (const token of ['first', 'second']) {
    t.deepEqual(codeOf(await rotate(token)), [400, 'upload_token_revoked'])
    t.deepEqual(codeOf(await create(daemon, { upload_token: token })), [400, 'upload_token_revoked'])
  }
  t.is((await rotate('third')).status, 200)
  t.deepEqual(codeOf(await rotate('first')), [400, 'upload_token_revoked'])
})
