import test, { type ExecutionContext } from 'ava'
import { Runs } from '../../../../plugins/execution/runs/contract.js'
import { Connectors } from '../../../../plugins/connectors/registry/contract.js'
import { httpKind, kindsPlugin, shippedWithoutKinds, slackKind } from '../../../support/connector-kinds.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { codeOf, openSession } from '../../../support/runs.js'
import { makeSchedule } from '../../../support/schedules.js'

const base = '/v1/runtime/connectors'

const start = async (t: ExecutionContext) => {
  const lent = lender({ connectors: Connectors, runs: Runs })
  const daemon = await startTestDaemon(t, {
    shipped: await shippedWithoutKinds(),
    plugins: [kindsPlugin(), lent.plugin],
  })
  const put = (at: string, body: object) => daemon.request('PUT', `${base}/${at}`, body)
  const get = async (at: string) => (await daemon.request('GET', `${base}/${at}`)).body
  const remove = (at: string) => daemon.request('DELETE', `${base}/${at}`)
  const store = (slot_id: string, value: string, more: object = {}) =>
    daemon.request('POST', '/v1/runtime/secrets', { slot_id, state: { value }, ...more })
  return { ...daemon, put, get, remove, store, ...lent.services(), secrets: lent.context().secrets }
}
type Started = Awaited<ReturnType<typeof start>>

/** The path that a refusal names. */
const wrong = async (asked: ReturnType<Started['put']>): Promise<[number, string, string]> => {
  const { status, body } = await asked
  return [status, body.code, body.errors?.[0].path]
}

test.serial('connectors-1: a connector is set up, read, listed and taken away, under a name of its own', async (t) => {
  const daemon = await start(t)
  const { put, get, remove, request, connectors } = daemon
  const heard: string[] = []
  t.is((await request('GET', '/v1/runtime/connectors/http/orders')).status, 404)
  connectors.onChange(({ kind, name }) => heard.push(`${kind}/${name}`))
  for (const at of ['http/orders', 'smoke/orders', 'http/a:b'])
    t.deepEqual(codeOf(await request('GET', `${base}/${at}`)), [404, 'connector_not_found'])
  t.deepEqual(codeOf(await put('smoke/orders', {})), [404, 'connector_not_found'])
  for (const command of ['put', 'get', 'delete']) {
    const { code, err } = await createCommandLine(daemon)('connectors', command, 'smoke', 'orders')
    t.is(code, 2, command)
    t.regex(err, /<kind> must be one of external, http, slack, telegram/u)
  }
  t.deepEqual(codeOf(await remove('smoke/orders')), [404, 'connector_not_found'])
  for (const name of ['a:b', 'a%20b', '-a', 'a'.repeat(65)])
    t.deepEqual(await wrong(put(`http/${name}`, { allow_unauthenticated_ingress: true })), [
      400,
      'connector_invalid',
      'path.name',
    ])
  t.deepEqual(codeOf(await put('external/metrics', { platform: 'x' })), [400, 'connector_invalid'])
  const body = { bearer_token: { value: 'canary-one' } }
  const made = await request('PUT', '/v1/runtime/connectors/http/orders', body)
  t.deepEqual(made.body, {
    kind: 'http',
    source: 'daemon',
    name: 'orders',
    allow_unauthenticated_ingress: false,
    ingress_events_per_second: 60,
    bearer_token: { configured: true, source: 'secret', secret_ref: 'connectors.http.orders.bearer_token' },
    hmac_secret: { configured: false },
    health: { state: 'ok' },
  })
  t.deepEqual(await get('http/orders'), made.body)
  await put('slack/orders', {})
  await put('external/b', { platform: 'x' })
  await put('external/a', { platform: 'x' })
  const names = async (query = '') =>
    (await request('GET', `${base}${query}`)).body.map(({ kind, name }: any) => `${kind}/${name}`)
  t.deepEqual(await names(), ['external/a', 'external/b', 'http/orders', 'slack/orders'])
  t.deepEqual(await names('?kind=external'), ['external/a', 'external/b'])
  const kinds = () => (['external', 'http', 'slack', 'telegram'] as const).filter(connectors.hasKind)
  t.deepEqual(kinds(), ['external', 'http', 'slack'])
  const page = (await request('GET', `${base}?page=true&limit=3`)).body
  t.like(page.pagination, { total_count: 4, has_more: true, order: 'kind_name_asc' })
  const removed = await request('DELETE', '/v1/runtime/connectors/http/orders')
  t.deepEqual(removed.body, { accepted: true })
  t.is(connectors.find(httpKind, 'orders'), undefined)
  t.deepEqual(kinds(), ['external', 'slack'])
  t.deepEqual(codeOf(await remove('http/orders')), [404, 'connector_not_found'])
  t.deepEqual([heard[0], heard.at(-1), heard.includes('slack/orders')], ['http/orders', 'http/orders', true])
})

test.serial(
  'connectors-2, connectors-3, connectors-4: a body says with its keys what changes; what is empty is not shown',
  async (t) => {
    const { put, get } = await start(t)
    const first = { bot_token: { value: 'canary-bot' }, ingress_events_per_second: 7, fixed_session_id: 's1' }
    await put('slack/work', { ...first, allowed_team_ids: [' T2', 'T1', 'T1'], include_self_output: false })
    const changed = await put('slack/work', { additional_binding_keys: ['k'] })
    t.like(changed.body, {
      fixed_session_id: 's1',
      ingress_events_per_second: 7,
      include_self_output: false,
      allowed_team_ids: ['T1', 'T2'],
      additional_binding_keys: ['k'],
    })
    const reset = {
      fixed_session_id: '  ',
      ingress_events_per_second: null,
      include_self_output: null,
      allowed_team_ids: null,
      additional_binding_keys: [],
    }
    const { body } = await put('slack/work', reset)
    for (const member of [
      'fixed_session_id',
      'allowed_team_ids',
      'additional_binding_keys',
      'additional_reply_targets',
    ])
      t.false(member in body, member)
    t.like(body, { include_self_output: true, ingress_events_per_second: 60, bot_token: { configured: true } })
    t.is((await put('slack/work', { ingress_events_per_second: 0 })).body.ingress_events_per_second, 1)
    t.deepEqual(await wrong(put('slack/work', { strange: 1 })), [400, 'connector_invalid', 'body.strange'])
    for (const fixed_session_id of ['a/b', '..', 'a\u0007'])
      t.deepEqual(await wrong(put('slack/work', { fixed_session_id })), [
        400,
        'connector_invalid',
        'body.fixed_session_id',
      ])
    t.deepEqual(await wrong(put('slack/work', { ingress_events_per_second: 'x' })), [
      400,
      'connector_invalid',
      'body.ingress_events_per_second',
    ])
    t.deepEqual(await wrong(put('http/open', {})), [400, 'connector_invalid', 'body.bearer_token'])
    for (const body_ of ['[]', '"x"', 'null']) t.is((await put('slack/work', body_ as never)).status, 400)
    t.is((await get('slack/work')).ingress_events_per_second, 1)
    t.deepEqual((await put('external/e', { platform: 'x' })).body.mode, 'for x')
  },
)

test.serial('connectors-5, connectors-6: a secret is kept, cleared, written, or taken from elsewhere', async (t) => {
  const { put, get, store, connectors } = await start(t)
  const value = (secret: string) => connectors.find(slackKind, 'work')?.secret(secret)
  await put('slack/work', {
    bot_token: { value: 'canary-bot' },
    signing_secret: { value: 'canary-sign', secret_ref: 'mine' },
  })
  t.deepEqual([value('bot_token'), value('signing_secret')], ['canary-bot', 'canary-sign'])
  await put('slack/work', { bot_token: null, signing_secret: { secret_ref: 'connectors.slack.work.bot_token' } })
  t.deepEqual([value('bot_token'), value('signing_secret')], ['canary-bot', 'canary-bot'])
  await put('slack/work', { signing_secret: {} })
  t.deepEqual([value('signing_secret'), (await get('slack/work')).signing_secret], [undefined, { configured: false }])
  await put('slack/work', { signing_secret: { env: 'HOME' } })
  t.deepEqual((await get('slack/work')).signing_secret, { configured: true, source: 'env', env: 'HOME' })
  t.is(value('signing_secret'), process.env['HOME'])
  await store('of.models', 'canary-model', { provider: 'anthropic', mode: 'api_key' })
  const refused: [object, string][] = [
    [{ env: 'HOME', value: 'x' }, 'bot_token'],
    [{ env: 'HOME', secret_ref: 'mine' }, 'bot_token'],
    [{ env: 'NOBODY_HAS_THIS' }, 'bot_token.env'],
    [{ env: 'SERVICE_ADMIN_TOKEN' }, 'bot_token.env'],
    [{ secret_ref: 'nobody' }, 'bot_token.secret_ref'],
    [{ secret_ref: 'of.models' }, 'bot_token.secret_ref'],
    [{ secret_ref: 'of.models', value: 'x' }, 'bot_token.secret_ref'],
    [{ secret_ref: 'a/b', value: 'x' }, 'bot_token.secret_ref'],
    [{ value: '  ' }, 'bot_token.value'],
    [{ strange: 1 }, 'bot_token.strange'],
  ]
  for (const [bot_token, path] of refused)
    t.deepEqual(await wrong(put('slack/work', { bot_token })), [400, 'connector_invalid', `body.${path}`])
  const both = (other: string) =>
    put('slack/work', {
      bot_token: { value: 'canary-1', secret_ref: 'mine' },
      signing_secret: { value: other, secret_ref: 'mine' },
    })
  t.deepEqual(await wrong(both('canary-2')), [400, 'connector_invalid', 'body.signing_secret.value'])
  t.is(value('bot_token'), 'canary-bot')
  t.is((await both('canary-1')).status, 200)
  t.false(JSON.stringify(await get('slack/work')).includes('canary'))
})

test.serial('connectors-7: a list of secrets is given as a whole, and is sorted', async (t) => {
  const { put, connectors } = await start(t)
  const list = (...tokens: object[]) => put('slack/work', { team_bot_tokens: tokens })
  const value = (team: string) => connectors.find(slackKind, 'work')?.secret(`team_bot_tokens.${team}.bot_token`)
  const two = await list(
    { team_id: 'T2', bot_token: { value: 'canary-2' } },
    { team_id: ' T1', bot_token: { value: 'canary-1' } },
  )
  const view = (team_id: string) => ({
    team_id,
    bot_token: {
      configured: true,
      source: 'secret',
      secret_ref: `connectors.slack.work.team_bot_tokens.${team_id}.bot_token`,
    },
  })
  t.deepEqual(two.body.team_bot_tokens, [view('T1'), view('T2')])
  await put('slack/work', { bot_token: { value: 'x-token' } })
  await list({ team_id: 'T2', bot_token: null }, { team_id: 'T3', bot_token: { value: 'canary-3' } })
  t.deepEqual(['T1', 'T2', 'T3'].map(value), [undefined, 'canary-2', 'canary-3'])
  const token = { value: 'x' }
  for (const [tokens, path] of [
    [
      [
        { team_id: 'T1', bot_token: token },
        { team_id: 'T1', bot_token: token },
      ],
      '1.team_id',
    ],
    [[{ team_id: 'T.1', bot_token: token }], '0.team_id'],
    [[{ team_id: 'T9' }], '0.bot_token'],
    [[{ team_id: 'T2', bot_token: {} }], '0.bot_token'],
    [[{ team_id: 'T2', bot_token: token, more: 1 }], '0.more'],
  ] as const)
    t.deepEqual(await wrong(list(...tokens)), [400, 'connector_invalid', `body.team_bot_tokens.${path}`])
  t.is((await put('slack/work', { team_bot_tokens: null })).body.team_bot_tokens, undefined)
})

test.serial(
  'connectors-9, connectors-10, connectors-11: a platform stays, a persona and reply targets must be there',
  async (t) => {
    const { put, get, request } = await start(t)
    await put('external/chat', { platform: 'chat' })
    t.deepEqual(codeOf(await put('external/chat', { platform: 'other' })), [409, 'connector_member_fixed'])
    t.is((await put('external/chat', { platform: 'chat', ingress_events_per_second: 3 })).status, 200)
    const persona = { session_policy: { persona_id: 'smith' } }
    t.deepEqual(codeOf(await put('external/chat', persona)), [404, 'persona_not_found'])
    await request('POST', '/v1/personas', { persona_id: 'smith', display_name: 'S' })
    t.deepEqual((await put('external/chat', persona)).body.session_policy, {
      create_if_missing: false,
      persona_id: 'smith',
    })
    const to = (...additional_reply_targets: object[]) => put('slack/work', { additional_reply_targets })
    t.deepEqual(await wrong(to({ type: 'external', connector: 'nobody', route: 'r' })), [
      400,
      'reply_target_invalid',
      'body.additional_reply_targets.0.connector',
    ])
    t.deepEqual(codeOf(await to({ plugin: 'nobody', address: 'x' })), [400, 'reply_target_invalid'])
    const http = { type: 'http', url: 'https://example.com/', headers: { 'x-secret-token': 'canary-header' } }
    const kept = await to({ type: 'external', connector: 'chat', route: 'r' }, http, http)
    const [first, second, ...more] = kept.body.additional_reply_targets
    t.deepEqual(first, { plugin: 'external', address: '{"connector":"chat","route":"r"}' })
    t.regex(second.address, /sealed_headers/u)
    t.deepEqual([more.length, JSON.stringify(kept.body).includes('canary')], [0, false])
    t.deepEqual(await wrong(put('slack/work', { allow_unauthenticated_ingress: true })), [
      400,
      'connector_invalid',
      'body.additional_reply_targets.1',
    ])
    t.is((await get('slack/work')).allow_unauthenticated_ingress, false)
  },
)

test.serial(
  'connectors-12: what sessions are bound to changes while none of them is busy, all else at any time',
  async (t) => {
    const daemon = await start(t)
    const { put, request, runs } = daemon
    await put('http/orders', { bearer_token: { value: 'canary-one' }, fixed_session_id: 'fixed' })
    await openSession(daemon, 'fixed')
    await openSession(daemon, 'thread')
    const ask = '/sleep 3600000'
    const scope = { capability_scope: { skill_deny: ['x'] } }
    const bind = (session_policy: object) => put('http/orders', { session_policy })
    const busy = async (session_id: string, more: object) => {
      const { run_id } = await runs.submit({ session_id, input: { content: ask }, ...more } as never)
      t.deepEqual(codeOf(await bind(scope)), [409, 'session_not_idle'])
      t.is((await bind({ create_if_missing: true })).status, 200)
      t.is((await put('http/orders', { actor_id: session_id })).status, 200)
      await request('POST', `/v1/runs/${run_id}/cancel`)
    }
    await busy('fixed', {})
    const keyed = (key: string) => ({ origin: { ingress: { connector_ingress_key: key } } })
    await busy('thread', keyed('http:orders:3b6a198e6f182f27b91aa5a8b37ab70d'))
    const other = await runs.submit({
      session_id: 'thread',
      input: { content: ask },
      ...keyed('http:order:3b6a'),
    } as never)
    t.is((await bind(scope)).status, 200)
    await request('POST', `/v1/runs/${other.run_id}/cancel`)
  },
)

test.serial('connectors-13: a connector stays while others or schedules send to it', async (t) => {
  const daemon = await start(t)
  const { put, get, remove, request } = daemon
  await put('external/chat', { platform: 'chat' })
  const target = { type: 'external', connector: 'chat', route: 'r' }
  await put('external/chat', { additional_reply_targets: [target] })
  await put('slack/work', { additional_reply_targets: [target, { type: 'http', url: 'https://example.com/orders' }] })
  const refused = await remove('external/chat')
  t.deepEqual(codeOf(refused), [409, 'connector_in_use'])
  t.regex(refused.body.detail, /the connector slack work/u)
  await put('slack/work', { additional_reply_targets: null })
  await openSession(daemon)
  const { schedule_id } = await makeSchedule(daemon, { request: { content: 'x', reply_targets: [target] } })
  t.regex((await remove('external/chat')).body.detail, new RegExp(`the schedule ${schedule_id}`, 'u'))
  await request('POST', `/v1/schedules/${schedule_id}/cancel`)
  t.deepEqual((await remove('external/chat')).body, { accepted: true })
  await put('http/orders', { bearer_token: { value: 'canary-one' } })
  await put('slack/work', { additional_reply_targets: [{ type: 'http', url: 'https://example.com/orders' }] })
  t.is((await remove('http/orders')).status, 200)
  t.is((await request('GET', '/v1/runtime/secrets/connectors.http.orders.bearer_token')).status, 200)
  t.is((await get('http/orders')).code, 'connector_not_found')
})
