/** Files of deliveries, and what is shown of connectors; docs/rules/external.md. */
import test from 'ava'
import { Leases } from '../../../../plugins/operator/leases/contract.js'
import { lendOutbox } from '../../../support/outbox.js'
import { testPlugin } from '../../../support/plugins.js'
import { hanging } from '../../../support/sidecar.js'
import { storeNotes } from '../../../support/sent-files.js'
import { startExternal, bearer } from './sending.js'

test('external-1, external-2, external-8, external-36, external-47: a sidecar gets the files that are on their way to it', async (t) => {
  const outbox = lendOutbox()
  let lent: Leases | undefined
  const lessor = testPlugin('lessor', {
    needs: { leases: Leases },
    register: (_, services) => void (lent = services.leases),
  })
  const daemon = await startExternal(t, { plugins: [outbox.plugin, lessor], config: { deliveries: { drain_ms: 0 } } })
  const { request, put, sidecar, url } = daemon
  await put('other')
  await put('open', { shared_token: {}, allow_unauthenticated_ingress: true })
  await request('POST', '/v1/sessions', { session_id: 's1' })
  const [first, second, third] = [
    await storeNotes(daemon, '# one'),
    await storeNotes(daemon, '# two'),
    await storeNotes(daemon, '# 3'),
  ]
  const refOf = async (id: string) => {
    const { asset_id, media_type, file_name, sha256, byte_length, uri } = (await request('GET', `/v1/assets/${id}`))
      .body
    return { id: asset_id, media_type, file_name, sha256, byte_length, uri }
  }
  const waiting: (() => void)[] = []
  sidecar.on('/deliver', (_, response) => {
    waiting.push(() => response.end(JSON.stringify({ status: 'committed' })))
  })
  const address = JSON.stringify({ connector: 'main', route: 'r' })
  await outbox.enqueue([], {
    targets: [{ plugin: 'external', address }],
    parts: [{ type: 'attachment', attachment: await refOf(first) }],
    artifacts: [await refOf(second)],
  })
  await sidecar.until(() => sidecar.at('/deliver').length === 1, 'the delivery')
  const { delivery_id, parts, artifacts } = sidecar.at('/deliver')[0]?.body ?? {}
  const pathOf = (name: string, delivery: string, asset: string): string =>
    `/v1/connectors/external/${name}/deliveries/${delivery}/assets/${asset}/raw`
  t.is(parts[0].attachment.download_path, pathOf('main', delivery_id, first))
  t.is(artifacts[0].download_path, pathOf('main', delivery_id, second))
  const get = (path: string, headers: Record<string, string> = bearer) => fetch(`${url}${path}`, { headers })
  const one = await get(parts[0].attachment.download_path)
  t.deepEqual([one.status, await one.text(), one.headers.get('x-content-type-options')], [200, '# one', 'nosniff'])
  t.regex(one.headers.get('content-type') ?? '', /^text\/markdown/u)
  t.is(await (await get(artifacts[0].download_path)).text(), '# two')
  for (const headers of [{}, { authorization: 'Bearer x' }])
    t.is((await get(pathOf('main', delivery_id, first), headers)).status, 401)
  t.is((await get(pathOf('open', delivery_id, first), {})).status, 401, 'nobody gets files without a token')
  const missing = [
    pathOf('nobody', delivery_id, first),
    pathOf('other', delivery_id, first),
    pathOf('main', 'delivery_none', first),
    pathOf('main', delivery_id, third),
    pathOf('main', delivery_id, 'asset_none'),
    pathOf('main', delivery_id, encodeURIComponent('__proto__')),
  ]
  for (const path of missing) {
    const answer = await get(path)
    t.is(answer.status, 404, path)
    t.like(await answer.json(), { code: 'not_found', domain: 'connector_ingress' })
  }
  for (const answer of waiting) answer()
  for (let at = 0; at < 200; at += 1) {
    const { body } = await request('GET', `/v1/deliveries/${delivery_id}`)
    if (body.status === 'delivered') break
  }
  t.is((await get(pathOf('main', delivery_id, first))).status, 404, 'it has arrived')

  // What is kept of another plugin is none of it.
  sidecar.on('/deliver', hanging)
  await outbox.enqueue([], {
    targets: [{ plugin: 'http', address: `{"url":"${sidecar.url}/deliver","allow_private_network":true}` }],
    artifacts: [await refOf(third)],
  })
  const [pending] = (await request('GET', '/v1/deliveries?plugin=http')).body
  t.is((await get(pathOf('main', pending.delivery_id, third))).status, 404)

  // What is shown, and what is in use.
  await request('POST', '/v1/runtime/secrets', { slot_id: 'bot', state: { value: 'canary-slot' } })
  const child_process = { command: '/nowhere/sidecar', env: { MARK: 'canary-env' }, credential_slots: { BOT: 'bot' } }
  const made = await put('child', { mode: 'child_process', child_process })
  t.is(made.status, 200, JSON.stringify(made.body))
  t.deepEqual(made.body.child_process, {
    command: '/nowhere/sidecar',
    env_keys: ['MARK'],
    credential_env_keys: ['BOT'],
  })
  t.like(made.body, {
    kind: 'external',
    platform: 'discord',
    mode: 'child_process',
    base_url: sidecar.url,
    allow_private_network: true,
    include_self_output: true,
    ingress_events_per_second: 100,
    shared_token: { configured: true, source: 'secret', secret_ref: 'connectors.external.child.shared_token' },
  })
  t.like(await request('DELETE', '/v1/runtime/secrets/bot'), { status: 409, body: { code: 'secret_in_use' } })
  t.is((await put('child', { platform: 'matrix', mode: 'child_process', child_process })).status, 409)
  const slots = { ...child_process, credential_slots: { BOT: 'none' } }
  t.is((await put('child', { mode: 'child_process', child_process: slots })).status, 400)
  await request('POST', '/v1/runtime/secrets', { slot_id: 'bot', state: { value: 'canary-more' } })
  await request('DELETE', '/v1/runtime/connectors/external/child')
  t.is((await request('DELETE', '/v1/runtime/secrets/bot')).status, 200)
  t.false(JSON.stringify([daemon.log, made.body]).includes('canary'))

  // external-47: a connector that was revoked is admitted when it is set up anew.
  const leases: Leases = lent ?? t.fail('the lessor was not loaded')
  const wish = {
    subject: { id: 'connector:external:main', kind: 'connector' as const },
    audience: { type: 'connector' as const, connector: 'external:main', env_keys: [], secret_refs: [] },
  }
  await leases.issue(wish)
  await leases.revokeSubject(wish.subject.id)
  await t.throwsAsync(leases.issue(wish), { message: /revoked/u })
  const slot_id = 'connectors.external.main.shared_token'
  t.is((await request('POST', '/v1/runtime/secrets', { slot_id, state: { value: 'canary-renewed' } })).status, 200)
  await request('GET', '/v1/runtime/connectors/external/main')
  await t.throwsAsync(leases.issue(wish), { message: /revoked/u }, 'a new value of its secret is no new connector')
  await put('main')
  let admitted = false
  for (let at = 0; at < 200 && !admitted; at += 1)
    admitted = await leases.issue(wish).then(
      () => true,
      () => false,
    )
  t.true(admitted)
})
