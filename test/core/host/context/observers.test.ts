/** Those who are told what happens hold up nobody, whatever they do. */
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { longestSettlingMs } from '../../../../plugins/coordination/learnings/operate.js'
import { rootWith } from '../../../support/broken-plugins.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { answerOf, bring, byHand, publish } from '../../../support/learnings.js'
import { makeSchedule } from '../../../support/schedules.js'
import { quiet, said, startBots } from '../../../plugins/coordination/floor/bots.js'

const plugin = 'throws-in-commits'

/** Ten seconds of waiting for others are a fifth of one. */
const hasty = () => {
  const clock = createClock()
  const sleep = (ms: number, signal?: AbortSignal) => clock.sleep(ms === longestSettlingMs ? 200 : ms, signal)
  return { ...clock, sleep }
}

const start = async (t: ExecutionContext) =>
  startTestDaemon(t, { root: await rootWith(plugin), clock: hasty(), config: byHand })

const faultOf = ({ daemon }: TestDaemon) => daemon.view.plugins().find(({ id }) => id === plugin)

/** What was charged, as the log tells it. */
const untilCharged = async (t: ExecutionContext, daemon: TestDaemon, message: string): Promise<void> => {
  const isTold = (): boolean =>
    daemon.log.some(({ details: { plugin: id, error } }) => id === plugin && String(error).includes(message))
  for (let look = 0; look < 500 && !isTold(); look += 1) await new Promise((resolve) => setTimeout(resolve, 10))
  t.true(isTold(), message)
}

test('runtime-19: what is thrown in a commit of others is charged, and nothing of it stays', async (t) => {
  const daemon = await start(t)
  const { request } = daemon
  const { agent_id } = (await request('POST', '/v1/sessions', { session_id: 's1' })).body
  const { schedule_id } = await makeSchedule(daemon)
  await untilCharged(t, daemon, 'created is broken')
  await request('POST', `/v1/schedules/${schedule_id}/trigger`, {})
  await untilCharged(t, daemon, 'settled is broken')
  t.is((await request('GET', '/v1/sessions/s1/memory-context')).status, 200)
  await untilCharged(t, daemon, 'remembered is broken')
  const subtask = { name: 'review', content: 'Look.' }
  t.is((await request('POST', `/v1/agents/${agent_id}/sidechains`, { subtask })).status, 200)
  await untilCharged(t, daemon, 'spawned is broken')
  t.is((await request('GET', '/v1/broken/notes')).body, 0)
  const { warnings } = (await request('GET', '/v1/status')).body.health
  t.true(warnings.some(({ code, related_id: id }: any) => code === 'plugin_degraded' && id === plugin))
})

test('learnings-20: a plugin that throws keeps no learning from being revoked', async (t) => {
  const daemon = await start(t)
  const { learning_id } = await publish(daemon)
  const { status, body } = await daemon.request('POST', `/v1/learnings/${learning_id}/revoke`)
  t.is(status, 200)
  t.is(body.status, 'revoked')
  t.is((await daemon.request('GET', '/v1/broken/notes')).body, 0)
  t.deepEqual(
    daemon.daemon.view
      .plugins()
      .filter(({ fault_count: count }) => count > 0)
      .map(({ id }) => id),
    [plugin],
  )
})

test('learnings-29: a plugin that never ends is charged once, and the request is answered', async (t) => {
  const daemon = await start(t)
  const { request } = daemon
  const ids: string[] = []
  for (const content of ['Fact number 1', 'Fact number 2']) ids.push((await publish(daemon, { content })).learning_id)
  t.is(faultOf(daemon)?.fault_count, 0, 'nothing has ended, and nobody is waited for')
  t.is((await request('POST', `/v1/learnings/${ids[0]}/revoke`)).status, 200)
  t.like(faultOf(daemon)?.last_fault, {
    where: 'what follows from ended learnings by broken',
    message: `it did not end within ${longestSettlingMs} ms`,
  })
  const before = faultOf(daemon)?.fault_count ?? 0
  const { candidate_id } = await bring(daemon, { content: 'Fact number 3' })
  t.is((await answerOf(daemon, { candidate_id }, { supersedes: ids[1] })).status, 200)
  t.is(faultOf(daemon)?.last_fault?.message, 'ended is broken')
  t.is(faultOf(daemon)?.fault_count, before + 1)
})

test('floor-22: a plugin that hears of turns and throws keeps nobody from speaking', async (t) => {
  const daemon = await startBots(t, ['A'], { script: () => 'Hello, Ann.', root: await rootWith(plugin) })
  await daemon.post('Hello')
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'A: Hello, Ann.'])
  await untilCharged(t, daemon, 'granted is broken')
  t.is((await daemon.request('GET', '/v1/broken/notes')).body, 0)
})
