/** Third-party plugins that answer wrongly, or not at all, are charged themselves, and hold up nobody. */
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { longestAnswerMs } from '../../../../core/host/context/own-view.js'
import { rootWith } from '../../../support/broken-plugins.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { submit, until } from '../../../support/runs.js'

const plugin = 'returns-garbage'

/** Ten seconds of waiting for others are a fifth of one. */
const hasty = () => {
  const clock = createClock()
  const sleep = (ms: number, signal?: AbortSignal) => clock.sleep(ms === longestAnswerMs ? 200 : ms, signal)
  return { ...clock, sleep }
}

const start = async (t: ExecutionContext) => startTestDaemon(t, { root: await rootWith(plugin), clock: hasty() })

/** Whose faults they are, and what was charged. */
const charged = ({ daemon }: TestDaemon) => {
  const faulty = daemon.view.plugins().filter(({ fault_count: count }) => count > 0)
  const own = faulty.find(({ id }) => id === plugin)
  return { ids: faulty.map(({ id }) => id), count: own?.fault_count ?? 0, last: own?.last_fault }
}

const open = (daemon: TestDaemon, session_id: string) => daemon.request('POST', '/v1/sessions', { session_id })

/** What a run in each of these sessions is charged with, whose wrong answers are in its name. */
const runIn = async (t: ExecutionContext, daemon: TestDaemon, session_id: string, where: string) => {
  const { count } = charged(daemon)
  await open(daemon, session_id)
  const said = session_id.startsWith('gate') ? '/tool bash {"command":"true"}\n---\n/say done' : 'hello'
  const { run_id } = await submit(daemon, session_id, said)
  t.is((await until(daemon, run_id, 'completed', 'failed')).status, 'completed', session_id)
  t.true(charged(daemon).count > count, session_id)
  t.deepEqual(charged(daemon).ids, [plugin], session_id)
  t.regex(charged(daemon).last?.where ?? '', new RegExp(`^${where} \\S+$`, 'u'), session_id)
}

test('runtime-19: a tool gate that throws or returns garbage hides every tool, is charged, and runs go on', async (t) => {
  const daemon = await start(t)
  for (const kind of ['list', 'object', 'promise', 'bare', 'function', 'late']) {
    await runIn(t, daemon, `gate-${kind}`, 'hidden of tool-gates@1')
    const { session } = (await daemon.request('GET', `/v1/sessions/gate-${kind}/events`)).body
    const outcome = session.journal.find(({ type }: any) => type === 'outcome')
    t.is(outcome.entry.output.error.code, 'tool_not_found', kind)
  }
})

test('runtime-19: a section of the system prompt that throws or is no text is left out and charged, and runs go on', async (t) => {
  const daemon = await start(t)
  for (const kind of ['number', 'object', 'promise', 'bare'])
    await runIn(t, daemon, `section-${kind}`, 'text of system-sections@1')
})

test('runtime-19: a source of memory that throws or returns garbage is left out and charged, and runs go on', async (t) => {
  const daemon = await start(t)
  for (const what of ['scopes', 'learnings'])
    for (const kind of ['object', 'list', 'bare'])
      await runIn(t, daemon, `${what}-${kind}`, `${what} of memory-sources@1`)
})

test('hooks-35: who throws anything at all, when asked what it looks at too, has no objection and is charged', async (t) => {
  const daemon = await start(t)
  for (const kind of ['number', 'bare', 'rejected'])
    await runIn(t, daemon, `ruling-${kind}`, 'intercept of interceptors@1')
  await open(daemon, 's1')
  t.is((await daemon.request('POST', '/v1/sessions/s1/end', {})).status, 200)
  t.regex(charged(daemon).last?.where ?? '', /^wants of interceptors@1 [a-z-]+$/u)
  t.deepEqual(charged(daemon).ids, [plugin])
})

test('hooks-35: one that does not end is charged after ten seconds, and is not asked again', async (t) => {
  const daemon = await start(t)
  await runIn(t, daemon, 'hang-1', 'intercept of interceptors@1')
  t.is(charged(daemon).last?.message, `it did not end within ${longestAnswerMs} ms`)
  const { count } = charged(daemon)
  await open(daemon, 'hang-2')
  await until(daemon, (await submit(daemon, 'hang-2', 'hello')).run_id, 'completed')
  t.is(charged(daemon).count, count)
})

test('hooks-35: one that does not end holds up no stop, which is charged with nothing', async (t) => {
  const daemon = await startTestDaemon(t, { root: await rootWith(plugin) })
  await open(daemon, 'told')
  const begun = performance.now()
  await daemon.stop()
  t.true(performance.now() - begun < longestAnswerMs / 2)
  t.deepEqual(charged(daemon).ids, [])
})
