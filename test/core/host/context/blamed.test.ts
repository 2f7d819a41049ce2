/** A wrong answer has no stack of its plugin: it is charged to who contributed what was asked. */
import test, { type ExecutionContext } from 'ava'
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
/** What the model is told of the call is its code; the run goes on, and so does the next of its session. */
const tool =
  (name: string, told = 'tool_failed') =>
  async (daemon: TestDaemon, t: ExecutionContext): Promise<void> => {
    await runs(daemon, `/tool ${name} {}\n---\n/say done`)
    await runs(daemon, 'hello')
    const { session, run_events } = (await daemon.request('GET', '/v1/sessions/s1/events')).body
    const outcomes = session.journal.filter(({ type }: any) => type === 'outcome')
    t.deepEqual(
      outcomes.map(({ entry }: any) => entry.output?.error?.code),
      [told],
    )
    t.is(run_events.filter(({ event }: any) => event.type === 'completed').length, 2)
  }

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
const table: readonly (readonly [
  string,
  RegExp,
  (daemon: TestDaemon, t: ExecutionContext) => Promise<unknown>,
  JsonObject?,
])[] = [
  ['a tool that returns nothing', /no outcome of a tool/u, tool('says_nothing')],
  ['a tool that returns no type', /no outcome of a tool: type is required/u, tool('says_typ')],
  ['a tool that forgets its output', /no outcome of a tool: output is required/u, tool('output_nothing')],
  ['one that only looks and forgets it', /no outcome of a tool: output is required/u, tool('looks_at_nothing')],
  ['a tool whose output is no JSON', /not plain JSON: output is a bigint/u, tool('output_bigint')],
  ['a tool whose output is a symbol', /not plain JSON: output is a symbol/u, tool('output_symbol')],
  ['a tool whose output is a function', /not plain JSON: output is a function/u, tool('output_call')],
  ['a tool whose output has no number', /not plain JSON: output.0 is no finite number/u, tool('output_nan')],
  ['a tool whose output is a promise', /not plain JSON: output is neither/u, tool('output_promise')],
  ['a tool whose output has no end', /more than 65 levels/u, tool('output_deep')],
  ['a tool whose files are none', /files are no assets/u, tool('gives_no_asset')],
  ['a tool whose files are a text', /files are no assets/u, tool('files_text')],
  ['a tool whose files are a function', /files are no assets/u, tool('files_call')],
  ['a tool whose files are an object', /files are no assets/u, tool('files_object')],
  ['a tool whose files have no end', /files are no assets/u, tool('files_deep')],
  ['a tool whose files are names alone', /files are no assets/u, tool('files_named')],
  ['a tool whose question is no text', /description is a bigint/u, tool('asks_no_text')],
  ['a tool whose apply is async', /^it must not be async: .* ends with that$/u, tool('applies_later')],
  ['a tool whose apply throws a text', /^oops$/u, tool('applies_badly')],
  ['a tool that does not end', /^it did not end within 50 ms of/u, tool('never_ends', 'call_not_ended')],
  ['a tool that throws a text', /^oops$/u, tool('throws_text')],
  ['a callback of a hook', /decision must be one of/u, withHook],
  ['a metric', /must be numbers/u, ({ request }) => request('GET', '/metrics')],
  ['a derivation profile', /what came of the derivation/u, derives],
  ['a normaliser of assets', /is no file/u, brings],
  ['a reply plugin', /what it returned is wrong: type/u, sends],
  ['a model provider', /type must be one of/u, (daemon) => runs(daemon, 'hello'), { provider: 'nothing' }],
]

for (const [what, says, provoke, models = {}] of table)
  test.serial(`runtime-19: ${what} is charged to its plugin, which its log line names`, async (t) => {
    const daemon = await startTestDaemon(t, {
      root: await rootWith(plugin),
      config: { models, runs: { stop_grace_ms: 50 } },
    })
    await openSession(daemon)
    await provoke(daemon, t)
    t.like(reportOf(daemon), { state: 'degraded', fault_count: 1 })
    t.notRegex(reportOf(daemon)?.last_fault?.where ?? 'a call by', /^a call by|@1$/u, 'it names the contribution')
    t.regex(reportOf(daemon)?.last_fault?.message ?? '', says)
    const charged = daemon.daemon.view.plugins().filter(({ fault_count }) => fault_count > 0)
    t.deepEqual(
      charged.map(({ id }) => id),
      [plugin],
    )
  })
