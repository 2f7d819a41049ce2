/** A real process, killed again and again while a goal goes on: each turn is one run. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { rootForKills } from '../../../support/folders.js'
import { createPause } from '../../../support/pause.js'

const preload = pathToFileURL(join(import.meta.dirname, '../../../support/kill-step.js')).href
const path = '/v1/sessions/s1/goal'
const turns = 90

/** The goal when it does not go on, and its runs. */
const endOf = async ({ request }: SpawnedDaemon): Promise<{ readonly goal: any; readonly all: readonly any[] }> => {
  for (const pause = createPause(); ; await pause()) {
    const { goal } = (await request('GET', path)).body
    if (goal.status !== 'active') return { goal, all: (await request('GET', '/v1/runs?limit=100')).body }
  }
}

test('goals-6: through kills each turn of a goal is exactly one run, and it ends at its bound', async (t) => {
  const root = rootForKills()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'config', 'goals.toml'), `max_turns = ${turns}\n`)
  const first = await spawnDaemon({ root })
  await first.request('POST', '/v1/sessions', { session_id: 's1' })
  await first.request('POST', path, { objective: 'Never reached.' })
  await first.kill('SIGKILL')
  let kills = 1
  for (;;) {
    // Killed by what it does to files and not by time: each life does a little more, and none comes to the end at once.
    const env = { NODE_OPTIONS: `--import ${preload}`, KILL_AT: String(40 + kills * 15) }
    const daemon = await spawnDaemon({ root, env }).catch(() => undefined)
    const found = daemon && (await endOf(daemon).catch(() => undefined))
    if (found === undefined) {
      await daemon?.kill('SIGKILL')
      kills += 1
      continue
    }
    const { goal, all } = found
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
    await daemon?.kill('SIGKILL')
    break
  }
  t.log(`${kills} kills`)
  t.true(kills > 3)
})
