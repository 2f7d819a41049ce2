/** A real process, killed again and again while a goal goes on: each turn is one run. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { freshRoot, spawnDaemon } from '../../../support/daemon.js'

const clock = createClock()
const path = '/v1/sessions/s1/goal'
const turns = 90

test('goals-6: through kills each turn of a goal is exactly one run, and it ends at its bound', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'goals.toml'), `max_turns = ${turns}\n`)
  const first = await spawnDaemon({ root })
  await first.request('POST', '/v1/sessions', { session_id: 's1' })
  await first.request('POST', path, { objective: 'Never reached.' })
  await first.kill('SIGKILL')
  let kills = 1
  for (;;) {
    const daemon = await spawnDaemon({ root })
    await clock.sleep(5 + ((kills * 7) % 25))
    const { goal } = (await daemon.request('GET', path)).body
    const all: any[] = (await daemon.request('GET', '/v1/runs?limit=100')).body
    if (goal.status === 'active') {
      await daemon.kill('SIGKILL')
      kills += 1
      continue
    }
    t.like(goal, { status: 'paused', stop_code: 'goal_turns_exhausted', turns })
    t.is(all.length, turns)
    t.deepEqual([...new Set(all.map(({ status }) => status))], ['completed'])
    t.is(
      goal.last_continuation_run_id,
      all
        .map(({ run_id }) => run_id)
        .toSorted()
        .at(-1),
    )
    await daemon.stop()
    break
  }
  t.log(`${kills} kills`)
  t.true(kills > 3)
})
