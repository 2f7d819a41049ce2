/** A wrong answer has no stack of its plugin: it is charged to who contributed what was asked. */
import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../../core/plugin.js'
import { rootWith } from '../../../support/broken-plugins.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { openSession, until } from '../../../support/runs.js'
import { storeNotes } from '../../../support/sent-files.js'

const plugin = 'returns-nothing'

const reportOf = ({ daemon }: TestDaemon) => daemon.view.plugins().find(({ id }) => id === plugin)

const runs = async (daemon: TestDaemon, content: string, more: object = {}): Promise<void> => {
  const { run_id } = (await daemon.request('POST', '/v1/sessions/s1/runs', { content, ...more })).body
  await until(daemon, run_id, 'completed', 'failed')
}
const tool = (name: string) => (daemon: TestDaemon) => runs(daemon, `/tool ${name} {}\n---\n/say done`)

const withHook = async (daemon: TestDaemon): Promise<void> => {
  const hooks = { user_prompt_submit: [{ name: 'ask', executor: { type: 'callback', name: 'nothing' } }] }
  await daemon.request('POST', '/v1/runtime/hooks', { settings: { hooks } })
  await runs(daemon, 'hello')
  await daemon.request('POST', '/v1/runtime/hooks', { settings: { hooks: {} } })
}
const derives = async (daemon: TestDaemon): Promise<unknown> => {
  const asset_id = await storeNotes(daemon, 'hello')
  return daemon.request('POST', '/v1/derivations', { profile: 'nothing', subject: { type: 'asset', asset_id } })
}

const brings = ({ request }: TestDaemon): Promise<unknown> =>
  request('POST', '/v1/assets', { file_name: 'a', media_type: 'model/nothing', content_base64: 'YQ==' })

const sends = async (daemon: TestDaemon): Promise<void> => {
  await runs(daemon, 'hello', { reply_targets: [{ type: 'raw', plugin: 'nothing', address: 'x' }] })
  for (let look = 0; look < 200 && reportOf(daemon)?.fault_count === 0; look += 1) await sleep(10)
}

/** What is asked, the words of the fault, and how it is asked. */
const table: readonly (readonly [string, RegExp, (daemon: TestDaemon) => Promise<unknown>, JsonObject?])[] = [
  ['a tool that returns nothing', /no outcome of a tool/u, tool('says_nothing')],
  ['a tool that returns no type', /no outcome of a tool: type is required/u, tool('says_typ')],
  ['a tool whose files are none', /files are no assets/u, tool('gives_no_asset')],
  ['a tool whose output is no JSON', /output is no JSON/u, tool('gives_no_json')],
  ['a tool that throws a text', /^oops$/u, tool('throws_text')],
  ['a callback of a hook', /decision must be one of/u, withHook],
  ['a metric', /must be numbers/u, ({ request }) => request('GET', '/metrics')],
  ['a derivation profile', /what came of the derivation/u, derives],
  ['a normaliser of assets', /is no file/u, brings],
  ['a reply plugin', /how the attempt ended/u, sends],
  ['a model provider', /type must be one of/u, (daemon) => runs(daemon, 'hello'), { provider: 'nothing' }],
]

for (const [what, says, provoke, models = {}] of table)
  test.serial(`runtime-19: ${what} is charged to its plugin, which its log line names`, async (t) => {
    const daemon = await startTestDaemon(t, { root: await rootWith(plugin), config: { models } })
    await openSession(daemon)
    await provoke(daemon)
    t.like(reportOf(daemon), { state: 'degraded', fault_count: 1 })
    t.regex(reportOf(daemon)?.last_fault?.message ?? '', says)
    const charged = daemon.daemon.view.plugins().filter(({ fault_count }) => fault_count > 0)
    t.deepEqual(
      charged.map(({ id }) => id),
      [plugin],
    )
  })
