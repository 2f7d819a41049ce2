/** The registry with the kinds that are shipped. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { ConnectorKinds, type AnyConnectorKind } from '../../../../plugins/connectors/registry/contract.js'
import { httpKind } from '../../../../plugins/connectors/http-ingress/kind.js'
import { jsonSchema } from '../../../../core/base/schema.js'
import { ExternalSettings } from '../../../../plugins/connectors/external/setup/settings.js'
import { SlackSettings } from '../../../../plugins/connectors/slack/setup/settings.js'
import { telegramSettings } from '../../../../plugins/connectors/telegram/bot/settings.js'
import { blocksFor, textOf } from '../../../support/docs.js'
import { eventually } from '../../../support/mcp.js'
import { openSession } from '../../../support/runs.js'

test('connectors-11, connectors-15, connectors-20: the file that the page shows is right, and replies wait for a connector that lacks its secret', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'config'), { recursive: true })
  await writeFile(
    join(root, 'config', 'connectors.toml'),
    blocksFor('docs/connectors.md', 'connectors-file').join('\n'),
  )
  const daemon = await startTestDaemon(t, { root })
  const { request } = daemon
  const states = async () =>
    (await request('GET', '/v1/runtime/connectors')).body.map(
      ({ kind, name, health }: any) => `${kind}/${name} ${health.state}`,
    )
  t.deepEqual(await states(), [
    'external/chat degraded',
    'http/orders degraded',
    'slack/work degraded',
    'telegram/bot degraded',
  ])
  const { warnings } = (await request('GET', '/v1/status')).body.health
  t.deepEqual(
    warnings.filter(({ code }: any) => code === 'config_entry_invalid'),
    [],
  )
  await openSession(daemon)
  const reply_targets = [
    { type: 'telegram', connector: 'bot', chat_id: 1111 },
    { type: 'slack', connector: 'work', channel_id: 'C1' },
    { type: 'external', connector: 'chat', route: 'r' },
  ]
  const asked = await request('POST', '/v1/sessions/s1/runs', { content: 'Hello', reply_targets })
  t.is(asked.status, 202, JSON.stringify(asked.body))
  const codes = await eventually(async () => {
    const { body } = await request('GET', '/v1/deliveries')
    const all = body.map(({ status, last_error }: any) => `${status} ${last_error}`).toSorted()
    return all.length === 3 && all.every((one: string) => one.startsWith('retrying')) ? all : undefined
  })
  t.deepEqual(codes, [
    'retrying connector_missing',
    'retrying connector_not_in_force',
    'retrying telegram_connector_not_in_force',
  ])
  await request('POST', '/v1/runtime/secrets', {
    slot_id: 'connectors.http.orders.bearer_token',
    state: { value: 'canary-of-orders' },
  })
  t.is((await states())[1], 'http/orders ok')
})

test('connectors-4: the page names every member of each kind, and no other', (t) => {
  const rows = textOf('docs/connectors.md').split('## Members')[1]?.split('## ')[0] ?? ''
  const named = (...kinds: string[]): string[] =>
    rows.split('\n').flatMap((row) => {
      const [, kind = '', members = ''] = row.split('|')
      const isOf = kinds.some((one) => kind.includes(one === 'all' ? 'all' : `\`${one}\``))
      return isOf ? [...members.matchAll(/`(\w+)`/gu)].map(([, member = '']) => member) : []
    })
  const secrets = {
    external: ['shared_token'],
    http: ['bearer_token', 'hmac_secret'],
    slack: ['signing_secret', 'bot_token', 'team_bot_tokens'],
    telegram: ['bot_token', 'secret_token'],
  }
  const settings = {
    external: ExternalSettings,
    http: httpKind.settings,
    slack: SlackSettings,
    telegram: telegramSettings,
  }
  for (const kind of ['external', 'http', 'slack', 'telegram'] as const) {
    const { properties = {} } = jsonSchema(settings[kind]) as { properties?: object }
    t.deepEqual(named('all', kind).toSorted(), [...Object.keys(properties), ...secrets[kind]].toSorted(), kind)
  }
})

test('connectors-27: a plugin adds no kind to the four', (t) => {
  const faultOf = (kind: object): string | undefined => ConnectorKinds.check?.(kind as AnyConnectorKind)
  t.is(faultOf(httpKind), undefined)
  t.is(faultOf({ ...httpKind, kind: 'matrix' }), 'a kind of connector must be one of external, http, slack, telegram')
  t.regex(faultOf({ kind: 'http' }) ?? '', /must have the text targets, the function fault/u)
})

test('connectors-16, connectors-26: whoever is heard without being meant is named, and so is a table of a wrong name', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'config'), { recursive: true })
  const file = join(root, 'config', 'connectors.toml')
  await writeFile(file, '[[http_connectors]]\nname = "wide"\nallow_unauthenticated_ingress = true\n')
  const { request } = await startTestDaemon(t, { root })
  const warned = async (code: string): Promise<string[]> =>
    (await request('GET', '/v1/status')).body.health.warnings
      .filter((warning: any) => warning.code === code)
      .map(({ severity, message, action }: any) => `${severity}: ${message} ${action}`)
  const put = async (at: string, body: object): Promise<void> => {
    t.is((await request('PUT', `/v1/runtime/connectors/${at}`, body)).status, 200)
  }
  const value = 'canary-of-whoever'
  await put('http/closed', { bearer_token: { value } })
  await put('slack/wide', { allow_unauthenticated_ingress: true })
  await put('external/wide', { allow_unauthenticated_ingress: true, platform: 'x', base_url: 'https://x.example.com' })
  await put('telegram/everybody', { bot_token: { value: '1:x' }, secret_token: { value } })
  const wide =
    'takes messages from anybody who reaches the daemon (allow_unauthenticated_ingress). Give it what senders'
  const flags = '--set allow_unauthenticated_ingress=false --secret'
  const changes = (kind: string, secret: string) =>
    `warning: The connector ${kind} wide ${wide} have to show: holdfast connectors put ${kind} wide ${flags} ${secret} --stdin`
  t.deepEqual(await warned('connector_exposed'), [
    changes('external', 'shared_token'),
    `warning: The connector http wide ${wide} have to show: change its table in the file of connectors`,
    changes('slack', 'signing_secret'),
    'info: The connector telegram everybody hears everybody who finds its bot: allowed_chat_ids is empty. ' +
      'Name the chats that it may hear, in place of 1111: ' +
      "holdfast connectors put telegram everybody --set 'allowed_chat_ids=[1111]'",
  ])
  await put('telegram/everybody', { allowed_chat_ids: [1111] })
  await put('slack/wide', { signing_secret: { value } })
  t.is((await warned('connector_exposed')).length, 2)

  const told = (what: RegExp) =>
    eventually(async () => (await warned('config_entry_invalid')).find((warning) => what.test(warning)))
  await writeFile(file, '[[http_connector]]\nname = "wide"\n')
  const strange = await told(/ has http_connector/u)
  t.regex(strange, /connectors\.toml:1 has http_connector, and may have nothing but \[\[external_connectors\]\]/u)
  t.regex(strange, /; did you mean http_connectors\? What held before stays\. Correct config\/connectors\.toml: /u)
  await writeFile(file, '[[http_connectors]]\nname = "a"\nbearer_tokn = "x"\n')
  const misspelt = await told(/bearer_tokn/u)
  t.regex(misspelt, /connectors\.toml:3: \[\[http_connectors\]\] a bearer_tokn is not a known field; did you mean/u)
  t.regex(misspelt, /mean bearer_token\? .* Correct config\/connectors\.toml: /u)
})
