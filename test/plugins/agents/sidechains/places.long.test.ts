/** Many agents that wait for agents, in a process of its own, with as many places as a daemon has. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { call, rowsOf } from '../../../support/agents.js'
import { freshRoot, spawnDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'

test('runs-55, agents-14: three hundred that wait leave their 128 places to their children, and all end', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const limits = [
    'max_live_sidechains_global = 500',
    'max_spawns_per_profile_window = 9999',
    'max_spawns_global_window = 9999',
    'max_spawn_cpu_ms_per_window = 9999999',
  ]
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'config', 'sidechains.toml'), `${limits.join('\n')}\n`)
  const daemon = await spawnDaemon({ root, flags: ['--max-concurrent-runs', '128'] })
  const child = call('spawn_agent', { name: 'part', prompt: '/sleep 50\n/say child', wait: true, timeout_ms: 110_000 })
  const runs = await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      await openSession(daemon, `p${n}`)
      return submit(daemon, `p${n}`, child)
    }),
  )
  for (const { run_id } of runs) await until(daemon, run_id, 'completed')
  const { counts } = await rowsOf(daemon, '?page=true')
  t.like(counts, { total: 600, completed: 600, with_runtime: 0 })
  const said = (await rowsOf(daemon)).filter(({ last_output_preview }: any) => last_output_preview === 'child')
  t.is(said.length, 300)
  await daemon.stop()
})
