import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Connectors } from '../../../../plugins/connectors/registry/contract.js'
import { httpKind, kindsPlugin, shippedWithoutKinds, slackKind } from '../../../support/connector-kinds.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { eventually } from '../../../support/mcp.js'
import { lender } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'

const base = '/v1/runtime/connectors'

const rootWith = async (t: ExecutionContext, text: string) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'config'), { recursive: true })
  const write = (more: string) => writeFile(join(root, 'config', 'connectors.toml'), more, { mode: 0o600 })
  await write(text)
  return { root, write }
}

const daemonOn = async (t: ExecutionContext, root: string, flags: Record<string, string> = {}) => {
  const lent = lender({ connectors: Connectors })
  const shipped = await shippedWithoutKinds()
  const daemon = await startTestDaemon(t, { root, shipped, plugins: [kindsPlugin(), lent.plugin], flags })
  const warnings = async (code: string): Promise<any[]> =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings.filter((one: any) => one.code === code)
  const names = async (): Promise<string> =>
    (await daemon.request('GET', base)).body.map(({ kind, name }: any) => `${kind}/${name}`).join()
  const become = (wanted: string) => eventually(async () => ((await names()) === wanted ? true : undefined))
  const get = async (at: string) => (await daemon.request('GET', `${base}/${at}`)).body
  const { connectors } = lent.services()
  return { ...daemon, warnings, names, become, get, connectors, redact: lent.context().secrets.redact }
}

const full = `
[[http_connectors]]
name = "orders"
bearer_token = "canary-in-file"
hmac_secret_secret_ref = "orders.hmac"
default_reply_targets = [{ type = "slack", connector = "work", channel_id = "C1" }]

[[slack_connectors]]
name = "work"
bot_token_env = "HOME"
signing_secret_secret_ref = "slack.signing"
team_bot_tokens = [{ team_id = "T2", bot_token_env = "PATH" }, { team_id = "T1", bot_token = "canary-of-team" }]
session_policy = { create_if_missing = true }

[[external_connectors]]
name = "chat"
platform = "chat"
`
const wrong = `
[[http_connectors]]
name = "two"
bearer_token = "canary-a"
bearer_token_env = "HOME"

[[http_connectors]]
name = "none"

[[http_connectors]]
bearer_token = "canary-b"

[[slack_connectors]]
name = "a:b"

[[external_connectors]]
name = "same"
platform = "one"

[[external_connectors]]
name = "same"
platform = "other"

[[external_connectors]]
name = "lost"
platform = "x"
additional_reply_targets = [{ type = "external", connector = "nobody", route = "r" }]

[[external_connectors]]
name = "strange"
platform = "x"
colour = "canary-colour"

[[slack_connectors]]
name = "team"
team_bot_tokens = [{ team_id = "T1", bot_token = "x", more = 1 }]
`

test.serial(
  'connectors-15: the file has an array for each kind, and a secret stands in one of three members',
  async (t) => {
    const { root } = await rootWith(t, full + wrong)
    const daemon = await daemonOn(t, root)
    t.is(await daemon.names(), 'external/chat,http/orders,slack/work')
    t.like(await daemon.get('http/orders'), {
      source: 'file',
      bearer_token: { configured: true, source: 'file' },
      hmac_secret: { configured: true, source: 'secret', secret_ref: 'orders.hmac' },
      default_reply_targets: [{ plugin: 'slack', address: '{"connector":"work","channel_id":"C1"}' }],
      health: { state: 'degraded' },
    })
    t.deepEqual((await daemon.get('slack/work')).team_bot_tokens, [
      { team_id: 'T1', bot_token: { configured: true, source: 'file' } },
      { team_id: 'T2', bot_token: { configured: true, source: 'env', env: 'PATH' } },
    ])
    await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'orders.hmac', state: { value: 'canary-hmac' } })
    t.deepEqual((['http', 'slack', 'telegram'] as const).map(daemon.connectors.hasKind), [true, true, false])
    const orders = daemon.connectors.find(httpKind, 'orders')
    t.deepEqual([orders?.secret('bearer_token'), orders?.secret('hmac_secret')], ['canary-in-file', 'canary-hmac'])
    t.is(daemon.redact('x canary-of-team canary-in-file'), 'x [redacted] [redacted]')
    const told = (await daemon.warnings('config_entry_invalid')).map(({ message }) => message)
    for (const expected of [
      /\[\[http_connectors\]\] two .*one of bearer_token, bearer_token_env/u,
      /\[\[http_connectors\]\] none bearer_token must be given/u,
      /\[\[http_connectors\]\] #4 its name must be there/u,
      /\[\[slack_connectors\]\] #2 its name must/u,
      /\[\[external_connectors\]\] same is there more than once/u,
      /\[\[external_connectors\]\] lost additional_reply_targets\.0\.connector must name a connector/u,
      /\[\[external_connectors\]\] strange colour is not a known field/u,
      /\[\[slack_connectors\]\] team team_bot_tokens may have team_id and bot_token alone/u,
    ])
      t.true(
        told.some((message) => expected.test(message)),
        `${expected.source} in ${told.join('\n')}`,
      )
    t.is(told.length, 8)
    t.false(told.join().includes('canary'))
  },
)

test.serial(
  'connectors-16, connectors-17: a saved file is applied table by table, and requests do not change it',
  async (t) => {
    const { root, write } = await rootWith(t, '[[external_connectors]]\nname = "a"\nplatform = "one"\n')
    const daemon = await daemonOn(t, root)
    const put = (at: string, body: object) => daemon.request('PUT', `${base}/${at}`, body)
    const heard: string[] = []
    daemon.connectors.onChange(({ kind, name }) => heard.push(`${kind}/${name}`))
    t.deepEqual(codeOf(await put('external/a', { platform: 'one' })), [409, 'connector_file_backed'])
    t.deepEqual(codeOf(await daemon.request('DELETE', `${base}/external/a`)), [409, 'connector_file_backed'])
    await put('slack/work', { ingress_events_per_second: 5 })
    heard.length = 0
    await write(
      '[[external_connectors]]\nname = "a"\ncolour = 1\n' +
        '[[external_connectors]]\nname = "b"\nplatform = "two"\n' +
        '[[slack_connectors]]\nname = "work"\ningress_events_per_second = 9\n',
    )
    await daemon.become('external/a,external/b,slack/work')
    t.like(await daemon.get('external/a'), { platform: 'one', health: { state: 'ok' } })
    t.like(await daemon.get('slack/work'), { source: 'file', ingress_events_per_second: 9 })
    t.is(daemon.connectors.find(slackKind, 'work')?.settings.ingress_events_per_second, 9)
    t.deepEqual(heard.toSorted(), ['external/b', 'slack/work'])
    t.regex(
      (await daemon.warnings('config_entry_invalid'))[0].message,
      /\[\[external_connectors\]\] a .*What held before stays/u,
    )
    t.is((await daemon.warnings('connector_shaded'))[0].related_id, 'slack/work')
    t.deepEqual(codeOf(await put('slack/work', {})), [409, 'connector_file_backed'])
    await write('[[external_connectors]\n')
    await eventually(async () =>
      (await daemon.warnings('config_entry_invalid')).find(({ message }) => /not TOML/u.test(message)),
    )
    t.is(await daemon.names(), 'external/a,external/b,slack/work')
    await write('')
    await daemon.become('slack/work')
    t.like(await daemon.get('slack/work'), { source: 'daemon', ingress_events_per_second: 5 })
    t.deepEqual(await daemon.warnings('connector_shaded'), [])
  },
)

test.serial('connectors-18: another file is read in place of that in config', async (t) => {
  const { root } = await rootWith(t, '[[slack_connectors]]\nname = "unread"\n')
  const folder = await makeFolder(t)
  const elsewhere = (text: string) => writeFile(join(folder, 'mine.toml'), text)
  await elsewhere('[[slack_connectors]]\nname = "one"\n')
  const daemon = await daemonOn(t, root, { 'connectors-config': join(folder, 'mine.toml') })
  t.is(await daemon.names(), 'slack/one')
  await elsewhere('[[slack_connectors]]\nname = "two"\n[[slack_connectors]]\nname = "bad"\nx = 1\n')
  await daemon.become('slack/two')
  t.true((await daemon.warnings('config_entry_invalid'))[0].message.startsWith(join(folder, 'mine.toml')))
  await elsewhere('[[slack_connectors]]\nname = "three"\n')
  await daemon.become('slack/three')
  t.deepEqual(await daemon.warnings('connectors_file_missing'), [])
  await rm(join(folder, 'mine.toml'))
  t.true((await daemon.warnings('connectors_file_missing'))[0].message.startsWith(join(folder, 'mine.toml')))
})
