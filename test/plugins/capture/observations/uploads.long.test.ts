/** Uploads of sources; docs/rules/observations.md. */
import test from 'ava'
import { definePlugin } from '../../../../core/plugin.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { ObservationSources, SourceKeepers, tokenDigest } from '../../../../plugins/capture/observations/contract.js'
import { latestTime } from '../../../../core/base/time/moments.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf } from '../../../support/runs.js'
import { sounds } from '../../../support/sounds.js'
import { auditOf, createSource, list, picture, readSource, send } from './uploading.js'

test('observations-6: what a source sends is an observation with its files, and the source counts it', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon)
  const more = {
    captured_at_ms: 5000,
    stream_id: 'screen:one',
    seq_no: 3,
    canonical_text: ' The door is open. ',
    metadata: { role: 'screenshot' },
  }
  const made = await send(daemon, 1, { more })
  t.is(made.status, 200)
  const { observation_id, asset_id, canonical_text_asset_id, sha256, byte_length, received_at_ms } = made.body
  t.deepEqual(made.body, {
    observation_id,
    source_id: 'door',
    kind: 'screen_snapshot',
    sensitivity: 'sensitive',
    retention_state: 'active',
    asset_id,
    canonical_text_asset_id,
    media_type: 'image/png',
    sha256,
    byte_length,
    captured_at_ms: 5000,
    received_at_ms,
    stream_id: 'screen:one',
    seq_no: 3,
    idempotency_key: 'key-1',
    request_fingerprint: made.body.request_fingerprint,
    metadata: { role: 'screenshot' },
  })
  t.regex(made.body.request_fingerprint, /^[0-9a-f]{64}$/u)
  t.deepEqual((await daemon.request('GET', `/v1/observations/${observation_id}`)).body, made.body)
  const text = await fetch(`${daemon.url}/v1/assets/${canonical_text_asset_id}/raw`)
  t.is(await text.text(), 'The door is open.')
  const { body: raw } = await daemon.request('GET', `/v1/assets/${asset_id}/references`)
  t.deepEqual(raw.references, [
    {
      domain: 'observations',
      owner_id: observation_id,
      role: 'raw_asset',
      hard: true,
      parent_id: 'door',
      detail_id: 'active',
    },
  ])
  t.deepEqual(codeOf(await daemon.request('DELETE', `/v1/assets/${asset_id}`)), [409, 'asset_delete_blocked'])
  t.like(await readSource(daemon), {
    active_observation_count: 1,
    active_byte_length: byte_length,
    last_observed_at_ms: received_at_ms,
    last_authenticated_at_ms: received_at_ms,
  })
  t.like((await auditOf(daemon))[0], {
    event: 'upload_succeeded',
    observation_id,
    upload_token_version: 1,
    byte_length,
  })
  t.false(JSON.stringify(await auditOf(daemon)).includes('key-1'), 'the audit has the digest of the key')
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/observations/none')), [404, 'observation_not_found'])
})

test('observations-22: a capture is of a moment that a calendar has, and its file is called after its source', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon)
  for (const captured_at_ms of [Number.MAX_SAFE_INTEGER, latestTime + 1, -1]) {
    const { body } = await send(daemon, 1, { more: { captured_at_ms } })
    t.like(body, { status: 400, code: 'upload_invalid', errors: [{ path: 'body.captured_at_ms' }] })
  }
  t.deepEqual(await list(daemon), [])
  const made = await send(daemon, 1, { more: { captured_at_ms: latestTime } })
  t.is(made.status, 200)
  const { body: asset } = await daemon.request('GET', `/v1/assets/${made.body.asset_id}`)
  t.is(asset.file_name, 'door.png')
  const { code, out, err } = await createCommandLine({ url: daemon.url })('observations', 'list')
  t.is(code, 0, err)
  t.regex(out, /\+275760-09-13T00:00:00\.000Z {2}door/u)
})

test('observations-7: a key is one observation, however often and by how many it comes', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon, { ingest_rate_limit_burst: 2 })
  await createSource(daemon, { source_id: 'gate', upload_token: 'gate-token' })
  const eight = await Promise.all(Array.from({ length: 8 }, () => send(daemon, 1)))
  t.deepEqual(new Set(eight.map(({ status }) => status)), new Set([200]))
  t.is(new Set(eight.map(({ body }) => body.observation_id)).size, 1)
  t.is((await list(daemon)).length, 1)
  const other = { bytes: await picture(7) }
  const conflict = await send(daemon, 1, other)
  t.like(conflict.body, { status: 400, code: 'upload_key_conflict', domain: 'observation_ingress' })
  t.deepEqual(codeOf(await send(daemon, 1, { more: { seq_no: 9 } })), [400, 'upload_key_conflict'])
  t.is((await send(daemon, 1, { ...other, source: 'gate' })).status, 200, 'of another source it is another key')
  t.is((await send(daemon, 2)).status, 200, 'what came again has cost nothing of the rate')
  t.deepEqual((await auditOf(daemon, '?source_id=door')).map(({ event, reason }) => [event, reason]).slice(0, 3), [
    ['upload_succeeded', undefined],
    ['upload_rejected', 'idempotency_conflict'],
    ['upload_rejected', 'idempotency_conflict'],
  ])
  t.is((await auditOf(daemon, '?event=upload_replayed')).length, 7)
})

test('observations-8: whoever is not let in reads one answer, before the body is read', async (t) => {
  const clock = createLeapingClock({ still: false })
  const daemon = await startTestDaemon(t, { clock })
  await createSource(daemon)
  const answers = [
    await send(daemon, 1, { token: 'wrong' }),
    await send(daemon, 1, { source: 'none', token: 'door-token' }),
    await daemon.request('POST', '/v1/observation-sources/door/observations', '{ no json'),
    await daemon.request('POST', '/v1/observation-sources/door/observations', 'x', { authorization: 'Basic x' }),
  ]
  const [first] = answers
  for (const { status, body, headers } of answers) {
    t.deepEqual([status, body], [401, first?.body])
    t.is(headers['www-authenticate'], 'Bearer')
  }
  t.like(first?.body, { code: 'ingress_token_invalid', domain: 'observation_ingress' })
  t.deepEqual(codeOf(await send(daemon, 1, { source: 'a b' })), [400, 'invalid_source_id'])
  const post = (route: string, body: object) => daemon.request('POST', `/v1/observation-sources/door/${route}`, body)
  await post('rotate-token', { upload_token: 'second', grace_period_ms: 60_000 })
  t.is((await send(daemon, 2)).status, 200, 'the token before opens')
  t.is((await send(daemon, 3, { token: 'second' })).status, 200)
  clock.leap(60_001)
  t.is((await send(daemon, 4)).status, 401)
  await post('revoke-token', {})
  t.is((await send(daemon, 5, { token: 'second' })).status, 401)
  t.is((await list(daemon)).length, 2, 'what was sent stays')
  t.deepEqual(
    (await auditOf(daemon, '?event=upload_rejected')).map(({ reason }) => reason),
    [
      'revoked_token',
      'expired_token',
      'invalid_source_id',
      'missing_or_invalid_token',
      'missing_or_invalid_token',
      'missing_or_invalid_token',
      'invalid_token',
    ],
  )
  for (let tries = 0; tries < 60; tries += 1) await send(daemon, 1, { token: 'guess', bytes: Buffer.from('x') })
  t.deepEqual(codeOf(await send(daemon, 1, { token: 'guess' })), [429, 'rate_limited'])
})

test('observations-8: a source of an agent is opened by that agent alone, and by nobody where it is not there', async (t) => {
  let good = tokenDigest('lease')
  const agents = (present: boolean) =>
    definePlugin({
      id: present ? 'agents' : 'no-agents',
      version: '1.0.0',
      api: 1,
      summary: 'Has a source.',
      needs: { own: ObservationSources },
      register(ctx, { own }) {
        const owner = { plugin: present ? 'agents' : 'gone', id: 'machine' }
        const draft = {
          source_id: owner.plugin,
          display_name: 'Screen',
          kind: 'screen_snapshot' as const,
          upload_token: 'lease',
          sensitivity: 'sensitive' as const,
          retention_seconds: 60,
          max_active_observations: 5,
          max_active_bytes: 1_000_000,
          ingest_rate_limit_window_ms: 60_000,
          ingest_rate_limit_burst: 120,
          purge_raw_on_retention: false,
          allow_materialization: true,
          allow_output_delivery: false,
        }
        if (present)
          ctx.contribute(SourceKeepers, {
            plugin: 'agents',
            judge: ({ owner_id }, sha256) =>
              owner_id === 'machine' && sha256 === good
                ? { admitted: true, upload_token_version: 1 }
                : { admitted: false, reason: 'expired_token' },
          })
        ctx.onStart(() => void ctx.state.commit((tx) => own.keep(tx, draft, owner)))
      },
    })
  const daemon = await startTestDaemon(t, { plugins: [agents(true), agents(false)] })
  t.is((await send(daemon, 1, { source: 'agents', token: 'lease' })).status, 200)
  good = tokenDigest('other')
  t.is((await send(daemon, 2, { source: 'agents', token: 'lease' })).status, 401, 'its own token counts for nothing')
  t.is((await send(daemon, 2, { source: 'gone', token: 'lease' })).status, 401)
  t.like((await auditOf(daemon, '?source_id=agents&event=upload_rejected'))[0], { reason: 'expired_token' })
})

test('observations-9: beyond its rate a source is told to wait, and what it sent is nowhere', async (t) => {
  const clock = createLeapingClock({ still: false })
  const daemon = await startTestDaemon(t, { clock })
  await createSource(daemon, { ingest_rate_limit_burst: 2, ingest_rate_limit_window_ms: 1_000_000 })
  await send(daemon, 1)
  t.is((await send(daemon, 2, { bytes: Buffer.from('no picture') })).status, 400, 'counts, too')
  const limited = await send(daemon, 3)
  t.deepEqual(codeOf(limited), [429, 'rate_limited'])
  t.is(limited.body.domain, 'observation_ingress')
  t.regex(limited.body.detail, /retry_after_ms=\d+$/u)
  await send(daemon, 3)
  t.is((await list(daemon)).length, 1)
  t.like((await auditOf(daemon, '?event=upload_rate_limited'))[0], { reason: 'rate_limited' })
  t.is((await auditOf(daemon, '?event=upload_rate_limited')).length, 1, 'told once in a window')
  clock.leap(limited.body.retry_after_ms)
  t.is((await send(daemon, 3)).status, 200)
})

test('observations-10: a file that is no picture or sound of its source is refused, and nothing is stored', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon)
  await createSource(daemon, { source_id: 'mic', kind: 'microphone_segment', upload_token: 'mic-token' })
  const sound = sounds['wav']?.bytes ?? Buffer.alloc(0)
  const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3])
  const upload = { file_name: 'a.png', content_base64: 'YW=j' }
  for (const [wish, status, code] of [
    [{ bytes: sound }, 400, 'upload_type_unsupported'],
    [{ bytes: Buffer.from('<svg/>') }, 400, 'upload_type_unsupported'],
    [{ bytes: jpeg }, 400, 'upload_invalid'],
    [{ source: 'mic' }, 400, 'upload_type_unsupported'],
    [{ more: { upload } }, 400, 'upload_base64_invalid'],
    [{ bytes: Buffer.alloc(12 * 1024 * 1024 + 1) }, 413, 'upload_too_large'],
    [{ bytes: Buffer.alloc(20 * 1024 * 1024) }, 413, 'payload_too_large'],
    [{ more: { idempotency_key: ' ' } }, 400, 'upload_invalid'],
    [{ more: { idempotency_key: 'ä'.repeat(129) } }, 400, 'upload_invalid'],
    [{ more: { idempotency_key: 'a\nb' } }, 400, 'upload_invalid'],
    [{ more: { stream_id: 'a/b' } }, 400, 'upload_invalid'],
    [{ more: { seq_no: -1 } }, 400, 'upload_invalid'],
    [{ more: { metadata: { text: 'x'.repeat(20_000) } } }, 400, 'upload_invalid'],
    [{ more: { canonical_text: 'a\0b' } }, 400, 'upload_invalid'],
    [{ more: { unknown: 1 } }, 400, 'upload_invalid'],
  ] as const) {
    const { body } = await send(daemon, 1, wish)
    t.deepEqual([body.status, body.code], [status, code], JSON.stringify(wish).slice(0, 80))
    t.is(body.domain, 'observation_ingress')
  }
  t.deepEqual(await list(daemon, '?include_purged=true'), [])
  const heard = await send(daemon, 2, { source: 'mic', bytes: sound, more: { idempotency_key: ' key ' } })
  t.like(heard.body, { media_type: 'audio/wav', kind: 'microphone_segment', idempotency_key: 'key' })
  const reasons = (await auditOf(daemon, '?event=upload_rejected&limit=1000')).map(({ reason }) => reason)
  for (const reason of ['unsupported_media_type', 'invalid_base64', 'invalid_request']) t.true(reasons.includes(reason))
})

test('observations-11: what a machine captures together is of that machine', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon, { source_id: 'macos-desk-screen', upload_token: 'macos-desk-screen-token' })
  const capture = { schema: 'service.macos.capture.v1', machine_id: 'desk', capture_group_id: 'desk-capture' }
  const sent = async (n: number, metadata: object, source = 'macos-desk-screen') =>
    (await send(daemon, n, { source, more: { metadata } })).status
  t.is(await sent(1, capture), 200)
  t.is(await sent(2, { ...capture, machine_id: undefined }), 400)
  t.is(await sent(3, { ...capture, machine_id: 'other' }), 400)
  t.is(await sent(4, { ...capture, capture_group_id: 'other-capture' }), 400)
  t.is(await sent(5, { ...capture, schema: 'other', machine_id: 'other' }), 200)
  await createSource(daemon)
  t.is(await sent(6, { ...capture, machine_id: 'other' }, 'door'), 200)
})

test('observations-12: observations are listed in order of capture, by source, stream and time', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon)
  await createSource(daemon, { source_id: 'gate', upload_token: 'gate-token' })
  for (const [n, source, captured_at_ms, stream_id] of [
    [1, 'door', 300, 'a'],
    [2, 'door', 100, 'b'],
    [3, 'gate', 200, 'a'],
    [4, 'door', 200, 'a'],
  ] as const)
    await send(daemon, n, { source, more: { captured_at_ms, stream_id } })
  const keys = async (query: string): Promise<string[]> =>
    (await list(daemon, query)).map(({ idempotency_key }) => idempotency_key.slice(4))
  t.deepEqual(await keys(''), ['2', '3', '4', '1'])
  t.deepEqual(await keys('?source_id=door'), ['2', '4', '1'])
  t.deepEqual(await keys('?source_id=door&stream_id=a'), ['4', '1'])
  t.deepEqual(await keys('?after_ms=200'), ['3', '4', '1'])
  t.deepEqual(await keys('?after_ms=101&before_ms=200'), ['3', '4'])
  t.deepEqual(await keys('?source_id=door&before_ms=200'), ['2', '4'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/observations?stream_id=a')), [400, 'stream_without_source'])
  const page = async (query: string) => (await daemon.request('GET', `/v1/observations?page=true${query}`)).body
  const first = await page('&limit=2&before_ms=200')
  t.like(first.pagination, { total_count: 3, has_more: true, order: 'captured_at_ms_asc' })
  const rest = await page(`&limit=2&before_ms=200&cursor=${first.pagination.next_cursor}`)
  t.deepEqual(
    rest.items.map(({ idempotency_key }: any) => idempotency_key),
    ['key-4'],
  )
})

test('observations-7, http-16: the key of an upload stands in the body or in the header, and is the same in both', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon)
  const content_base64 = (await picture(1)).toString('base64')
  const post = (idempotency_key: string | undefined, header?: string) =>
    daemon.request(
      'POST',
      '/v1/observation-sources/door/observations',
      { upload: { file_name: 'a.png', content_base64 }, idempotency_key },
      { authorization: 'Bearer door-token', ...(header !== undefined && { 'idempotency-key': header }) },
    )
  const first = await post('one')
  t.is(first.status, 200)
  t.is(first.body.idempotency_key, 'one')
  for (const again of [await post(undefined, 'one'), await post('one', 'one')])
    t.is(again.body.observation_id, first.body.observation_id)
  t.deepEqual(codeOf(await post('one', 'two')), [400, 'invalid_idempotency_key'])
  const none = await post(undefined)
  t.deepEqual([...codeOf(none), none.body.errors[0].path], [400, 'upload_invalid', 'body.idempotency_key'])
  t.is((await list(daemon)).length, 1)
})

test('http-46: all that goes wrong where machines send is told in one domain, also what is wrong with the request itself', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon)
  const { body: batch } = await daemon.request('POST', '/v1/capture-agent-provisions', {
    batch_id: 'one',
    daemon_base_url: daemon.url,
    agents: [{ machine_id: 'desk' }],
  })
  const routes = [
    ['/v1/observation-sources/door/observations', 'door-token', 25 * 1024 * 1024],
    ['/v1/capture-agents/desk/heartbeat', batch.agents[0].heartbeat_token, 65 * 1024],
  ] as const
  for (const [path, token, tooMuch] of routes) {
    const authorization = `Bearer ${token}`
    const json = 'application/json'
    for (const [body, headers, status, code] of [
      ['{', { authorization, 'content-type': json }, 400, 'bad_request'],
      ['[]', { authorization, 'content-type': json }, 400, 'bad_request'],
      ['{}', { authorization, 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
      [' '.repeat(tooMuch), { authorization, 'content-type': json }, 413, 'payload_too_large'],
      ['{}', { authorization: 'Bearer none', 'content-type': json }, 401, 'ingress_token_invalid'],
    ] as const) {
      const answer = await fetch(daemon.url + path, { method: 'POST', body, headers })
      const problem: any = await answer.json()
      const { domain } = problem
      t.deepEqual([answer.status, problem.code, domain], [status, code, 'observation_ingress'], `${path} ${code}`)
    }
    for (let n = 0; n < 60; n += 1) await daemon.request('POST', path, {}, { authorization: 'Bearer none' })
    const throttled = await daemon.request('POST', path, {}, { authorization: 'Bearer none' })
    t.like(throttled.body, { status: 429, code: 'rate_limited', domain: 'observation_ingress' })
  }
  t.is((await daemon.request('GET', '/v1/observations/none')).body.domain, 'observations')
})
