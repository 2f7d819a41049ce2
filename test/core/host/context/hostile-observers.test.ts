/** Those who are told what happens and mean harm by it. */
import test, { type ExecutionContext } from 'ava'
import { quiet, said, startBots } from '../../../plugins/coordination/floor/bots.js'
import { rootWith } from '../../../support/broken-plugins.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { byHand, publish } from '../../../support/learnings.js'
import { makeSchedule } from '../../../support/schedules.js'

const plugin = 'hostile-in-commits'

const start = async (t: ExecutionContext) => startTestDaemon(t, { root: await rootWith(plugin), config: byHand })

const reportOf = ({ daemon }: TestDaemon) => daemon.view.plugins().find(({ id }) => id === plugin)
const faulted = ({ daemon }: TestDaemon) =>
  daemon.view
    .plugins()
    .filter(({ fault_count: count }) => count > 0)
    .map(({ id }) => id)

const heard = 'hearing of the end of an execution by hostile'

/** Until it was charged so often for what it does when executions end. */
const untilCharged = async (t: ExecutionContext, { log }: TestDaemon, times: number): Promise<void> => {
  const count = (): number =>
    log.filter(({ details: { plugin: id, where } }) => id === plugin && where === heard).length
  for (let look = 0; look < 500 && count() < times; look += 1) await new Promise((resolve) => setTimeout(resolve, 10))
  t.is(count(), times)
}

/** By what it does, what it is charged with. */
const acts: Readonly<Record<string, RegExp>> = {
  bare: /^something that cannot be made text$/u,
  trapped: /^something that cannot be made text$/u,
  unreadable: /^something that cannot be made text$/u,
  circular: /^circular$/u,
  long: /^(?:long){75}$/u,
  large: /^The change is larger than one line of the log may be\.$/u,
  many: /^The change is larger than one line of the log may be\.$/u,
  outer: /read only property/u,
  inner: /read only property/u,
  asynchronous: /^it must not be async/u,
  thenable: /^it must not be async/u,
}

test('learnings-20: whatever a plugin does that is told, the learning is revoked, and the plugin is charged once', async (t) => {
  const daemon = await start(t)
  const { request } = daemon
  for (const [at, [reason, message]] of Object.entries(acts).entries()) {
    const learning = await publish(daemon, { content: `The sky is blue for ${reason}.` })
    const { status, body } = await request('POST', `/v1/learnings/${learning.learning_id}/revoke`, { reason })
    t.is(status, 200, reason)
    t.like(body, { status: 'revoked', content: learning.content, scope: learning.scope }, reason)
    t.is((await request('GET', '/v1/broken/notes')).body, 0, reason)
    t.is(reportOf(daemon)?.fault_count, at + 1, reason)
    t.regex(reportOf(daemon)?.last_fault?.message ?? '', message, reason)
  }
  t.deepEqual(faulted(daemon), [plugin])
  t.is((await request('GET', '/v1/broken/bare')).status, 500)
  t.is(reportOf(daemon)?.last_fault?.message, 'something that cannot be made text')
})

test('runtime-19: nobody who is told of a schedule, an agent or a run writes to what is kept of it', async (t) => {
  const daemon = await start(t)
  const { request } = daemon
  const { agent_id } = (await request('POST', '/v1/sessions', { session_id: 's1' })).body
  const { schedule_id } = await makeSchedule(daemon)
  for (const times of [1, 2]) {
    t.is((await request('POST', `/v1/schedules/${schedule_id}/trigger`, {})).status, 200)
    await untilCharged(t, daemon, times)
  }
  t.is((await request('GET', '/v1/sessions/s1/memory-context')).status, 200)
  const subtask = { name: 'review', content: 'Look.' }
  t.is((await request('POST', `/v1/agents/${agent_id}/sidechains`, { subtask })).status, 200)
  t.deepEqual(faulted(daemon), [plugin])
  for (const what of ['schedules', 'sessions', 'runs', 'agents'])
    t.notRegex((await request('GET', `/v1/${what}`)).text, /MUTATED/u)
})

test('floor-22: nobody who is told of a turn writes to what is kept of it', async (t) => {
  const daemon = await startBots(t, ['A'], { script: () => 'Hello, Ann.', root: await rootWith(plugin) })
  await daemon.post('Hello')
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'A: Hello, Ann.'])
  t.deepEqual(faulted(daemon), [plugin])
})
