import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Connectors, type AnyConnectorKind } from '../../../../plugins/connectors/registry/contract.js'
import { putConnector, type ChangeParts } from '../../../../plugins/connectors/registry/change.js'
import { faultOfName } from '../../../../plugins/connectors/registry/entry.js'
import { connectorKeeper, idOf, mostConnectors } from '../../../../plugins/connectors/registry/record.js'
import { viewOf } from '../../../../plugins/connectors/registry/view.js'
import { httpKind, kindsPlugin, shippedWithoutKinds, slackKind } from '../../../support/connector-kinds.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { blocksFor } from '../../../support/docs.js'
import { lender } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'

const base = '/v1/runtime/connectors'

const writeGiven = async (t: ExecutionContext, text: string): Promise<string> => {
  const file = join(await makeFolder(t), 'given')
  await writeFile(file, text, { mode: 0o600 })
  return file
}

const start = async (t: ExecutionContext, options: { root?: string; kinds?: readonly AnyConnectorKind[] } = {}) => {
  const lent = lender({ connectors: Connectors })
  const { kinds, ...more } = options
  const daemon = await startTestDaemon(t, {
    shipped: await shippedWithoutKinds(),
    plugins: [kindsPlugin(kinds), lent.plugin],
    ...more,
  })
  const put = (at: string, body: object) => daemon.request('PUT', `${base}/${at}`, body)
  const get = async (at: string) => (await daemon.request('GET', `${base}/${at}`)).body
  const status = async () => (await daemon.request('GET', '/v1/status')).body
  const warnings = async (code: string): Promise<any[]> =>
    (await status()).health.warnings.filter((one: any) => one.code === code)
  const set = (slot_id: string, value: string) =>
    daemon.request('POST', '/v1/runtime/secrets', { slot_id, state: { value } })
  return { ...daemon, put, get, status, warnings, set, ...lent.services(), secrets: lent.context().secrets }
}

test.serial(
  'connectors-19, connectors-20: a secret is asked at each use; without its value a connector is listed and not in force',
  async (t) => {
    const daemon = await start(t)
    const { put, get, request, connectors, set, warnings } = daemon
    const bearer = () => connectors.find(httpKind, 'orders')?.secret('bearer_token')
    const slot = 'connectors.http.orders.bearer_token'
    await put('http/orders', { bearer_token: { value: 'canary-first' } })
    const heard: string[] = []
    connectors.onChange(({ kind, name }) => heard.push(`${kind}/${name}`))
    const old = connectors.find(httpKind, 'orders')
    await set(slot, 'canary-second')
    t.deepEqual([bearer(), old?.secret('bearer_token'), heard], ['canary-second', 'canary-second', ['http/orders']])
    t.is(daemon.secrets.redact('canary-second'), '[redacted]')
    const refused = await request('DELETE', `/v1/runtime/secrets/${slot}`)
    t.deepEqual(codeOf(refused), [409, 'secret_in_use'])
    t.regex(refused.body.detail, /connector http\/orders/u)
    await request('POST', `/v1/runtime/auth/slots/${slot}/revoke`)
    t.is(heard.length, 2)
    t.deepEqual(
      [connectors.find(httpKind, 'orders'), connectors.all(httpKind), connectors.has('http', 'orders')],
      [undefined, [], true],
    )
    const { health, bearer_token } = await get('http/orders')
    t.deepEqual(health, {
      state: 'degraded',
      cause: `The secret ${slot} of bearer_token was revoked.`,
      action: `Store a new value: holdfast secrets set --stdin ${slot}`,
    })
    t.like(bearer_token, { configured: true, secret_ref: slot })
    t.throws(() => old?.secret('bearer_token'), { code: 'connector_secret_unusable' } as never)
    const [warning] = await warnings('connector_degraded')
    t.deepEqual([warning.related_id, warning.action, warning.severity], ['http/orders', health.action, 'warning'])
    await set(slot, 'canary-third')
    t.deepEqual([bearer(), (await get('http/orders')).health], ['canary-third', { state: 'ok' }])

    // connectors-23: what is told by who hears of its new secret first, is of what it is then.
    const begins = { state: 'degraded' as const, cause: 'It begins.', action: 'Wait.' }
    connectors.trouble('http', 'orders', { ...begins, cause: 'It is the one before.' })
    const undo = connectors.onChange(({ kind, name }) => {
      undo()
      connectors.trouble(kind, name, begins)
    })
    await put('http/orders', { bearer_token: { value: 'canary-fourth' } })
    t.deepEqual((await get('http/orders')).health, begins)
    await put('http/orders', { bearer_token: { value: 'canary-fifth' } })
    t.deepEqual((await get('http/orders')).health, { state: 'ok' })
  },
)

test.serial(
  'connectors-21, connectors-23: how a connector is stands in its view, the status, the warnings and the metrics',
  async (t) => {
    const { put, get, status, warnings, request, connectors } = await start(t)
    await put('http/orders', { bearer_token: { value: 'canary-first' } })
    await put('slack/work', {})
    connectors.trouble('slack', 'work', { state: 'deaf', cause: 'Another one reads.', action: 'End the other one.' })
    connectors.trouble('slack', 'nobody', { state: 'deaf', cause: 'x', action: 'y' })
    connectors.heard('http', 'orders')
    connectors.well('http', 'orders')
    const { last_event_at_ms, last_success_at_ms, state } = (await get('http/orders')).health
    t.true(last_event_at_ms > 0 && last_success_at_ms > 0 && state === 'ok')
    t.deepEqual((await get('slack/work')).health, {
      state: 'deaf',
      cause: 'Another one reads.',
      action: 'End the other one.',
    })
    t.deepEqual((await status()).connectors, { connector_count: 2, ok_count: 1, degraded_count: 0, deaf_count: 1 })
    t.like((await warnings('connector_deaf'))[0], {
      severity: 'error',
      related_id: 'slack/work',
      action: 'End the other one.',
    })
    const { text: metrics } = await request('GET', '/metrics')
    t.true(metrics.includes('service_connector_state{kind="slack",state="deaf"} 1'))
    t.true(metrics.includes('service_connector_state{kind="http",state="ok"} 1'))
    connectors.well('slack', 'work')
    t.is((await get('slack/work')).health.state, 'ok')
    connectors.trouble('slack', 'work', { state: 'degraded', cause: 'x', action: 'y' })
    await put('slack/work', { ingress_events_per_second: 3 })
    t.is((await get('slack/work')).health.state, 'ok')
  },
)

test.serial('connectors-22: a connector that opens no session says so, with the line that lets it', async (t) => {
  const daemon = await start(t)
  await daemon.put('slack/work', {})
  await daemon.put('slack/fixed', { fixed_session_id: 's1' })
  const [warning, ...more] = await daemon.warnings('connector_opens_no_session')
  t.deepEqual([warning.related_id, warning.severity, more], ['slack/work', 'info', []])
  const line = /: holdfast (connectors put .*)$/u.exec(warning.action)?.[1] ?? ''
  const { code } = await createCommandLine(daemon)(...line.split(' '))
  t.is(code, 0)
  t.deepEqual(await daemon.warnings('connector_opens_no_session'), [])
})

test.serial('connectors-24: a record that fits its kind no more, or has none, takes no other with it', async (t) => {
  const root = await freshRoot()
  const first = await start(t, { root })
  await first.put('http/open', { allow_unauthenticated_ingress: true })
  await first.put('external/chat', { platform: 'chat' })
  await first.put('slack/work', {})
  await first.stop()
  const strict: AnyConnectorKind = { ...httpKind, fault: () => ({ path: 'bearer_token', rule: 'must be there now' }) }
  const daemon = await start(t, { root, kinds: [strict, slackKind] })
  const names = (await daemon.request('GET', base)).body.map(({ kind, name }: any) => `${kind}/${name}`)
  t.deepEqual(names, ['http/open', 'slack/work'])
  t.is(daemon.connectors.find(slackKind, 'work')?.name, 'work')
  t.is(daemon.connectors.find(httpKind, 'open'), undefined)
  t.regex((await daemon.get('http/open')).health.cause, /not right any more: bearer_token must be there now/u)
  t.is((await daemon.warnings('connector_unserved'))[0].related_id, 'external/chat')
  t.deepEqual(codeOf(await daemon.request('GET', `${base}/external/chat`)), [404, 'connector_not_found'])
})

test.serial('connectors-25: connectors are set up from the command line, and no secret stands in a line', async (t) => {
  const daemon = await start(t)
  const run = createCommandLine(daemon)
  const file = await writeGiven(t, 'canary-in-file\n')
  const made = await run(
    ...`connectors put http orders --secret bearer_token --from-file ${file}`.split(' '),
    ...'--set session_policy.create_if_missing=true --set actor_id=shop --secret-env hmac_secret=HOME'.split(' '),
  )
  t.deepEqual([made.code, made.out], [0, 'http  orders  daemon  ok\n'], made.err)
  t.is(daemon.connectors.find(httpKind, 'orders')?.secret('bearer_token'), 'canary-in-file')
  t.like(await daemon.get('http/orders'), { actor_id: 'shop', session_policy: { create_if_missing: true } })
  const settings = await writeGiven(t, '{"signing_secret":{"value":"canary-json"},"allowed_team_ids":["T1"]}')
  t.is((await run('connectors', 'put', 'slack', 'work', '--file', settings)).code, 0)
  t.is((await run('connectors', 'put', 'slack', 'work', '--settings-json', '{"allowed_team_ids":null}')).code, 0)
  t.is(
    (await run('connectors', 'put', 'slack', 'work', '--secret-ref', 'bot_token=connectors.slack.work.signing_secret'))
      .code,
    0,
  )
  t.is(daemon.connectors.find(slackKind, 'work')?.secret('bot_token'), 'canary-json')
  for (const line of [
    ['--settings-json', '{"bot_token":{"value":"canary-line"}}'],
    ['--set', 'bot_token={"value":"canary-line"}'],
    ['--set', 'bot_token.value=canary-line'],
    ['--settings-json', '[]'],
    ['--set', 'x'],
    ['--secret', 'bot_token', '--settings-json', '{}', '--from-file', file],
  ]) {
    const { code, out, err } = await run('connectors', 'put', 'slack', 'work', ...line)
    t.true(code !== 0 && !(out + err).includes('canary'), line.join(' '))
  }
  t.is(daemon.connectors.find(slackKind, 'work')?.secret('bot_token'), 'canary-json')
  t.regex((await run('connectors', 'list')).out, /^http {2}orders {2}daemon {2}ok\nslack {2}work/u)
  t.regex((await run('connectors', 'list', '--kind', 'slack')).out, /^slack {2}work/u)
  t.regex((await run('connectors', 'get', 'slack', 'work')).out, /^name +work$/mu)
  t.is((await run('connectors', 'delete', 'slack', 'work')).out, 'Deleted.\n')
  t.not((await run('connectors', 'get', 'slack', 'work')).code, 0)
})

test.serial('connectors-25: what the page of connectors shows works as it stands there', async (t) => {
  const daemon = await start(t)
  const run = createCommandLine(daemon)
  const given = await writeGiven(t, 'canary-of-the-page')
  const lines = blocksFor('docs/connectors.md', 'connectors').join('\n').split('\n')
  for (const line of lines.filter((one) => one !== '')) {
    const { code, err } = await run(
      ...line
        .replace(/\S+\.txt/u, given)
        .split(' ')
        .slice(1),
    )
    t.is(code, 0, `${line}: ${err}`)
  }
  const work = daemon.connectors.find(slackKind, 'work')
  t.deepEqual([work?.secret('bot_token'), work?.secret('signing_secret')], ['canary-of-the-page', 'canary-of-the-page'])
})

test.serial(
  'connectors-8: what a request changes is seen whole or not at all, however many change and read',
  async (t) => {
    const { put, get, connectors, request } = await start(t)
    const half: string[] = []
    const look = () => {
      const found = connectors.find(httpKind, 'orders')
      const [token, actor] = [found?.secret('bearer_token'), found?.settings.actor_id]
      if (token !== (actor === undefined ? undefined : `token-of-${actor}`)) half.push(`${token} ${actor}`)
    }
    let going = true
    const reader = async () => {
      for (; going; await new Promise(setImmediate)) look()
    }
    const readers = [reader(), reader()]
    const write = async (writer: number) => {
      for (const round of [1, 2, 3, 4, 5, 6]) {
        const actor_id = `writer-${writer}-${round}`
        const { body } = await put('http/orders', { actor_id, bearer_token: { value: `token-of-${actor_id}` } })
        if (body.actor_id === undefined) half.push('no actor')
        // Wrong as a whole: nothing of it is kept, neither the secret.
        await put('http/orders', { actor_id: 'nobody', bearer_token: { value: 'token-of-none' }, strange: round })
        look()
      }
    }
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(write))
    going = false
    await Promise.all(readers)
    t.deepEqual(half, [])
    t.regex((await get('http/orders')).actor_id, /^writer-\d-6$/u)
    await put('external/new', { bot_token: { value: 'x' } })
    await put('external/new', { shared_token: { value: 'canary-of-nobody' } })
    t.is((await request('GET', '/v1/runtime/secrets/connectors.external.new.shared_token')).status, 404)
  },
)

test('connectors-1: the name of a route is no name', (t) => {
  t.is(faultOfName('external', 'metrics')?.includes('route'), true)
  t.is(faultOfName('http', 'metrics'), undefined)
})

test('connectors-2: who may only read sees no address', (t) => {
  const handle = { plugin: 'http', address: 'https://example.com/canary' }
  const settings = {
    allow_unauthenticated_ingress: true,
    ingress_events_per_second: 1,
    default_reply_targets: [handle],
  }
  const entry = { kind: httpKind, name: 'orders', source: 'daemon', settings, secrets: new Map() } as const
  const shown = (role: 'read' | 'admin') => viewOf(entry, { state: 'ok' }, { role })['default_reply_targets']
  t.deepEqual(shown('read'), [{ plugin: 'http', address: 'hidden' }])
  t.deepEqual(shown('admin'), [handle])
})

test('connectors-14: there is an end to how many requests set up', async (t) => {
  const parts = (count: number) => ({
    state: { commit: async (change: (tx: object) => void) => change({ put: () => {}, after: () => {} }) },
    kinds: () => [slackKind],
    registry: { find: () => undefined },
    collection: { find: () => undefined, count: () => count },
    outbox: { normalize: () => [] },
  })
  const put = (count: number) =>
    putConnector(parts(count) as unknown as ChangeParts, { kind: 'slack', name: 'one-more' }, {})
  await t.notThrowsAsync(put(mostConnectors - 1))
  await t.throwsAsync(put(mostConnectors), { code: 'connectors_full' } as never)
})

test('deliveries-34: headers of reply targets that stood in clear are sealed in connectors too', async (t) => {
  const clear = { plugin: 'http', address: '{"url":"https://example.com/","headers":{"x-token":"canary"}}' }
  const record = { kind: 'slack', name: 'work', settings: { additional_reply_targets: [clear] } }
  const records = new Map<string, any>([['slack/work', record]])
  const collection: any = {
    spec: { id: idOf, indexes: { all: { group: () => 'all' } } },
    groups: () => ['all'],
    list: ({ beyond }: any) => (beyond === undefined ? [...records.values()] : []),
    find: (id: string) => records.get(id),
  }
  const state: any = {
    commit: async (change: any) => change({ put: (_: unknown, one: any) => records.set(idOf(one), one) }),
  }
  const keeper = connectorKeeper(state, { collection, targetsOf: () => 'additional_reply_targets' })
  const sealed = { plugin: 'http', address: 'sealed' }
  const keep: any = (target: any) => (target.address === 'sealed' ? target : sealed)
  const { signal } = new AbortController()
  t.is(await keeper.carryOver(keep, signal), 1)
  t.deepEqual(records.get('slack/work').settings.additional_reply_targets, [sealed])
  t.is(await keeper.carryOver(keep, signal), 0)
})
