/** What an agent that a run starts and waits for adds to the run, beside a run without one, in turns. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { median, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { quantile, send, watchRuns } from '../load.js'
import type { Server } from '../server.js'

/** So that no quota is in the way. */
const limits = [
  'max_spawns_per_session_window',
  'max_spawns_per_profile_window',
  'max_spawns_global_window',
  'max_spawn_cost_microusd_per_window',
  'max_spawn_cpu_ms_per_window',
]
  .map((name) => `${name} = 1000000000`)
  .join('\n')

const spawns =
  '/tool spawn_agent {"name":"part","prompt":"/say done","wait":true,"retention":"close_on_settle"}\n/say ok'
/** The same turns with a call that starts nobody. */
const calls = '/tool todo_write {"todos":[]}\n/say ok'

interface Measured {
  /** Milliseconds of each run, from its submission to its end. */
  readonly times: number[]
  /** Of the daemon's CPU. */
  cpu: number
}

const runOne = async (
  daemon: Server,
  watch: Awaited<ReturnType<typeof watchRuns>>,
  content: string,
): Promise<number> => {
  const begin = performance.now()
  const { run_id } = await send(`${daemon.url}/v1/sessions/bench/runs`, { content })
  await watch.completed(run_id)
  return performance.now() - begin
}

const measure = async ({ note, quick }: Bench): Promise<void> => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'sidechains.toml'), limits)
  const daemon = await startDaemon(root)
  await send(`${daemon.url}/v1/sessions`, { session_id: 'bench' })
  const watch = await watchRuns(daemon.url)
  const plain: Measured = { times: [], cpu: 0 }
  const spawning: Measured = { times: [], cpu: 0 }
  const rounds = quick ? 5 : 15
  const each = 20
  for (let round = 0; round < rounds; round += 1)
    for (const [content, into] of [
      [calls, plain],
      [spawns, spawning],
    ] as const) {
      const before = daemon.cpu()
      for (let n = 0; n < each; n += 1) into.times.push(await runOne(daemon, watch, content))
      into.cpu += daemon.cpu() - before
    }
  watch.close()
  const count = rounds * each
  note('a run that starts an agent and waits, p50', 'ms', 'less', median(spawning.times), median(plain.times))
  note('the same, p99', 'ms', 'less', quantile(spawning.times, 0.99), quantile(plain.times, 0.99))
  note('CPU of such a run', 'ms', 'less', spawning.cpu / count, plain.cpu / count)
  const begin = performance.now()
  await (await request(`${daemon.url}/v1/agents/summaries?page=true&limit=100`)).body.dump()
  note(`a page of 100 of ${count + 1} agents, all counted`, 'ms', 'less', performance.now() - begin)
  await daemon.stop()
  rmSync(root, { recursive: true })
}

export const agents: Part = { name: 'agents', measure }
