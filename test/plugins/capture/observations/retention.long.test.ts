/** The end of observations; docs/rules/observations.md. */
import test from 'ava'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { history } from '../../../../plugins/capture/observations/retention/purges.js'
import { verifyShipped } from '../../../support/copied-root.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { codeOf } from '../../../support/runs.js'
import { auditOf, comes, createSource, list, picture, readSource, send } from './uploading.js'

const keys = async (daemon: TestDaemon, query = ''): Promise<string[]> =>
  (await list(daemon, query)).map(({ idempotency_key }) => idempotency_key)

test('observations-13: what is older than its source keeps is purged by the time of receipt, and counted no more', async (t) => {
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { clock })
  await createSource(daemon, { retention_seconds: 1000 })
  await send(daemon, 1, { more: { captured_at_ms: 1 } })
  clock.leap(600_000)
  await send(daemon, 2, { more: { captured_at_ms: 2 } })
  clock.leap(300_000)
  t.deepEqual(await keys(daemon), ['key-1', 'key-2'], 'when it was captured says nothing')
  clock.leap(200_000)
  t.deepEqual(await keys(daemon), ['key-2'])
  const all = await list(daemon, '?include_purged=true')
  t.deepEqual(
    all.map(({ idempotency_key, retention_state }) => [idempotency_key, retention_state]),
    [
      ['key-1', 'purged'],
      ['key-2', 'active'],
    ],
  )
  const [purged] = all
  t.like((await daemon.request('GET', `/v1/observations/${purged.observation_id}`)).body, { retention_state: 'purged' })
  const { body } = await daemon.request('GET', `/v1/assets/${purged.asset_id}/references`)
  t.like(body, { hard_reference_count: 0, soft_reference_count: 1 })
  t.is((await readSource(daemon)).active_observation_count, 1)
  const again = await send(daemon, 1, { more: { captured_at_ms: 1 } })
  t.is(again.body.observation_id, purged.observation_id, 'the key still names it')
  clock.leap(500_000)
  await comes(async () => (await daemon.request('GET', '/v1/status')).body.observations.active_count === 0)
  t.deepEqual(await keys(daemon), [])
  await createSource(daemon, { retention_seconds: 100_000 })
  t.deepEqual(await keys(daemon), [], 'what is purged stays so')
})

test('observations-14: beyond its budget a source loses what was captured first, by count and by bytes', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon, { max_active_observations: 3 })
  for (const [n, captured_at_ms] of [
    [1, 500],
    [2, 300],
    [3, 400],
    [4, 600],
  ])
    await send(daemon, n ?? 0, { more: { captured_at_ms } })
  t.deepEqual(await keys(daemon), ['key-3', 'key-1', 'key-4'])
  const late = await send(daemon, 5, { more: { captured_at_ms: 100 } })
  t.is(late.body.retention_state, 'purged', 'also one that came last')
  await createSource(daemon, { max_active_observations: 1 })
  t.deepEqual(await keys(daemon), ['key-4'])
  const { active_byte_length } = await readSource(daemon)
  await createSource(daemon, { max_active_bytes: active_byte_length })
  await send(daemon, 6)
  t.deepEqual(await keys(daemon), ['key-6'])
  await createSource(daemon, { max_active_bytes: 1 })
  t.like(await readSource(daemon), { active_observation_count: 0, active_byte_length: 0 })
  t.is((await keys(daemon, '?include_purged=true')).length, 6)
})

test('observations-15: files of purged observations go where that is wished and nothing else names them', async (t) => {
  const root = await freshRoot()
  const daemon = await startTestDaemon(t, { root })
  await createSource(daemon, { max_active_observations: 1, purge_raw_on_retention: true })
  await createSource(daemon, { source_id: 'gate', upload_token: 'gate-token' })
  const { body: first } = await send(daemon, 1, { more: { canonical_text: 'A door.' } })
  const { body: shared } = await send(daemon, 2)
  const { body: kept } = await send(daemon, 2, { source: 'gate' })
  t.is(kept.asset_id, shared.asset_id)
  await send(daemon, 3)
  await comes(async () => (await daemon.request('GET', '/v1/status')).body.observations.leaving_count === 0)
  for (const asset_id of [first.asset_id, first.canonical_text_asset_id])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/assets/${asset_id}`)), [404, 'asset_not_found'])
  t.is((await daemon.request('GET', `/v1/assets/${shared.asset_id}`)).status, 200)
  const told = await auditOf(daemon, '?event=retention_purged_assets')
  t.deepEqual(
    told.map(({ reason, purged_asset_ids, observation_id }) => [reason, purged_asset_ids, observation_id]),
    [['retention', [first.asset_id, first.canonical_text_asset_id], first.observation_id]],
  )
  const { body: again } = await send(daemon, 1, { more: { idempotency_key: 'once-more' } })
  t.not(again.asset_id, first.asset_id, 'an id is never used again')
  await daemon.stop()
})

test('observations-15: a file that somebody else has stored too stays when an observation of it is purged', async (t) => {
  const daemon = await startTestDaemon(t)
  const store = async (n: number): Promise<string> => {
    const content_base64 = (await picture(n)).toString('base64')
    const { body } = await daemon.request('POST', '/v1/assets', {
      file_name: 'own.png',
      media_type: 'image/png',
      content_base64,
    })
    return body.asset_id
  }
  await createSource(daemon, { max_active_observations: 1, purge_raw_on_retention: true })
  const before = await store(1)
  t.is((await send(daemon, 1)).body.asset_id, before)
  const { body: second } = await send(daemon, 2)
  t.is(await store(2), second.asset_id)
  const { body: third } = await send(daemon, 3)
  await send(daemon, 4)
  const statusOf = async (id: string) => (await daemon.request('GET', `/v1/assets/${id}`)).status
  await comes(async () => (await statusOf(third.asset_id)) === 404)
  t.deepEqual([await statusOf(before), await statusOf(second.asset_id)], [200, 200])
})

test('observations-16: what was purged long ago is forgotten, and its key may come again', async (t) => {
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { clock })
  await createSource(daemon, { retention_seconds: 60 })
  const { body: first } = await send(daemon, 1)
  clock.leap(61_000)
  t.is((await list(daemon, '?include_purged=true')).length, 1)
  clock.leap(history.ms + 1)
  t.deepEqual(await list(daemon, '?include_purged=true'), [])
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/observations/${first.observation_id}`)), [
    404,
    'observation_not_found',
  ])
  t.not((await send(daemon, 1)).body.observation_id, first.observation_id)
})

test('observations-13: one that is due soon after another is not given to anybody later for that', async (t) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await startTestDaemon(t, { clock })
  await createSource(daemon, { retention_seconds: 2 })
  for (const n of [1, 2, 3]) {
    await send(daemon, n)
    clock.leap(800)
  }
  t.deepEqual(await keys(daemon), ['key-2', 'key-3'])
  clock.leap(800)
  t.deepEqual(await keys(daemon), ['key-3'])
  clock.leap(800)
  t.deepEqual(await keys(daemon), [])
})

test('observations-13: a start purges what came due while nobody was there', async (t) => {
  const clock = createLeapingClock()
  const root = await freshRoot()
  const first = await startTestDaemon(t, { clock, root })
  await createSource(first, { retention_seconds: 60, purge_raw_on_retention: true })
  const { body } = await send(first, 1)
  await first.stop()
  clock.leap(61_000)
  const daemon = await startTestDaemon(t, { clock, root })
  await comes(async () => (await daemon.request('GET', `/v1/assets/${body.asset_id}`)).status === 404)
  t.like((await list(daemon, '?include_purged=true'))[0], { retention_state: 'purged' })
})

test('observations-13, observations-9: a source may keep, and make wait, for longer than there are numbers', async (t) => {
  const root = await freshRoot()
  const daemon = await startTestDaemon(t, { root })
  const retention_seconds = Number.MAX_SAFE_INTEGER
  const rate = { ingest_rate_limit_window_ms: Number.MAX_SAFE_INTEGER, ingest_rate_limit_burst: 1 }
  t.is((await createSource(daemon, { retention_seconds, ...rate })).status, 200)
  t.is((await send(daemon, 1)).status, 200)
  const limited = await send(daemon, 2)
  t.deepEqual(codeOf(limited), [429, 'rate_limited'])
  t.true(Number.isSafeInteger(limited.body.retry_after_ms))
  t.deepEqual(await keys(daemon), ['key-1'])
  await daemon.stop()
  t.deepEqual((await verifyShipped(root)).findings, [], 'what is on disk is as it must be')
})
