/** A real process, killed around a start: one agent for one request, never two, and none without its run. */
import { rmSync } from 'node:fs'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { call, openAgent, rowsOf, spawn, told } from '../../../support/agents.js'
import { spawnDaemon } from '../../../support/daemon.js'
import { rootForKills } from '../../../support/folders.js'
import { submit, until } from '../../../support/runs.js'

const clock = createClock()
const lives = 5

test('agents-1, agents-2, agents-15, agents-20: through kills around a start each request has one agent with its run', async (t) => {
  const root = rootForKills()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  let parent = ''
  const runs: string[] = []
  for (let n = 0; n < lives; n += 1) {
    const daemon = await spawnDaemon({ root })
    if (n === 0) parent = await openAgent(daemon)
    const { run_id } = await submit(
      daemon,
      's1',
      call('spawn_agent', { name: `tool${n}`, prompt: '/say y', wait: true }),
    )
    runs.push(run_id)
    const cut = spawn(daemon, parent, { ...told('/say x', `http${n}`), spawn_request_id: `r${n}` }).catch(
      () => undefined,
    )
    await clock.sleep(n * 9)
    await daemon.kill('SIGKILL')
    await cut
    const again = await spawnDaemon({ root })
    const { status, body } = await spawn(again, parent, { ...told('/say x', `http${n}`), spawn_request_id: `r${n}` })
    t.is(status, 200, JSON.stringify(body))
    await clock.sleep(n * 3)
    await again.kill('SIGKILL')
  }
  const daemon = await spawnDaemon({ root })
  for (const run_id of runs) await until(daemon, run_id, 'completed')
  const rows: any[] = await rowsOf(daemon)
  for (let n = 0; n < lives; n += 1)
    for (const name of [`tool${n}`, `http${n}`]) {
      const named = rows.filter((row) => row.name === name)
      t.is(named.length, 1, name)
      const found = (await daemon.request('GET', `/v1/runs?session_id=${named[0].session_id}`)).body
      t.is(found.length, 1)
      await until(daemon, found[0].run_id, 'completed')
    }
  t.is(rows.length, 1 + 2 * lives)
  const audit: any[] = (await daemon.request('GET', '/v1/agents/audit?event=agent_started')).body
  const started = rows.filter(({ parent_agent_id }) => parent_agent_id === parent)
  t.deepEqual(audit.map(({ agent_id }) => agent_id).toSorted(), started.map(({ agent_id }) => agent_id).toSorted())
  await daemon.stop()
})
