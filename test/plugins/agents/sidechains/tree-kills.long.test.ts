/**
 * A tree of two hundred agents, four deep, and a daemon that dies two hundred times while it grows, works and ends. The
 * seed from the log brings back the same lengths of lives and the same work; when a life ends within it is up to the
 * machine.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createRandom } from '../../../faults/random.js'
import { freshRoot, mainFile, spawnDaemon, spawnMain, type SpawnedDaemon } from '../../../support/daemon.js'
import { sh } from '../../../support/docs.js'
import { startOpenAiServer } from '../../../support/openai-server.js'
import { checkTree } from './tree-check.js'
import { createLoad, type Load } from './tree-load.js'
import { answerOf, namesBelow, treeSize } from './tree-model.js'
import { momentOf, recount } from './recount.js'
import { partOf } from '../../../support/volume.js'

const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['HOLDFAST_KILLS'] ?? partOf(16, 200))
/** Kills between two counts. */
const countEvery = 20
const clock = createClock()

const many = 1_000_000
const config = {
  'runs.toml': `max_unclean_boots = ${many}\n`,
  'sidechains.toml': [
    'max_live_children_per_parent',
    'max_live_descendants_per_root',
    'max_spawns_per_run',
    'max_live_sidechains_global',
    'max_live_sidechains_per_session',
    'max_spawns_per_session_window',
    'max_spawns_per_profile_window',
    'max_spawns_global_window',
    'max_spawn_cost_microusd_per_window',
    'max_spawn_cpu_ms_per_window',
  ]
    .map((name) => `${name} = ${many}\n`)
    .concat('spawn_rate_window_ms = 86400000\n')
    .join(''),
}

/** Before which kill each turn of an agent is not answered: levels begin one after the other, and leaves end late. */
const gatesOf = (random: ReturnType<typeof createRandom>): ReadonlyMap<string, number> => {
  const share = (percent: number): number => Math.floor((kills * percent) / 100)
  return new Map(
    ['n', ...namesBelow('n')].flatMap((name) => {
      const depth = name.split('.').length - 1
      const first = share(depth * 15) + random.below(share(20) + 1)
      const second = Math.min(share(95), first + random.below(share(25) + 1))
      return [
        [`${name} 0`, first],
        [`${name} 1`, second],
      ] as const
    }),
  )
}

/** What the test has of the daemon that lives now, and how many have died. */
interface Lives {
  daemon: SpawnedDaemon | undefined
  dead: number
}

const serve = (root: string, flags: readonly string[]) => ({ root, flags })

/** A life that ends before it has begun to listen, or soon after. */
const dieEarly = async (root: string, flags: readonly string[], ms: number): Promise<void> => {
  const { child, exited } = spawnMain(['serve', '--bind', '127.0.0.1:0', '--state-root', root, ...flags])
  await clock.sleep(ms)
  child.kill('SIGKILL')
  await exited
}

/** Counts of a moment are those of the lists. False where none was still enough. */
const count = async (t: ExecutionContext, daemon: SpawnedDaemon, root: string, tries: number): Promise<boolean> => {
  const moment = await momentOf(daemon, root, tries)
  if (moment === undefined) return false
  const { lists, whole, tree, working, quotas } = moment
  const { total, with_runtime, statuses, working: busy, started } = recount(lists)
  const shown = Object.fromEntries(Object.keys(statuses).map((status) => [status, whole.counts[status]]))
  t.deepEqual(shown, statuses)
  t.like(whole.counts, { total, filtered: total, with_runtime, without_runtime: total - with_runtime })
  t.deepEqual(tree.counts, whole.counts, 'all agents stand below one root')
  t.is(working.counts.filtered, with_runtime)
  t.is(lists.rows.filter((row) => row.has_runtime).length, with_runtime)
  t.deepEqual(lists.rows.map(({ agent_id }) => agent_id).toSorted(), lists.agents.map(({ id }) => id).toSorted())
  t.like(quotas, {
    live_sidechains: busy,
    started_in_window: started,
    cost_microusd_in_window: started * 1_000,
    cpu_ms_in_window: started * 1_000,
  })
  return true
}

const untilOver = async (daemon: SpawnedDaemon, load: Load): Promise<void> => {
  const deadline = clock.elapsed() + 900_000
  for (;;) {
    const open = (await daemon.request('GET', '/v1/runs?priority_active=true&limit=1')).body
    const waiting = (await daemon.request('GET', '/v1/agents/summaries?has_runtime=true')).body
    const isOver = open.every(({ finished_at_ms }: any) => finished_at_ms !== undefined)
    if (isOver && waiting.length === 0 && load.left() === 0) return
    if (clock.elapsed() > deadline) throw new Error(`it never ends: ${JSON.stringify({ open, waiting })}`)
    await clock.sleep(50)
  }
}

test(`agents-1, agents-12, agents-14, mailboxes-4: through ${kills} kills a tree of agents is whole`, async (t) => {
  t.log(`HOLDFAST_SEED=${seed}, ${kills} kills`)
  const random = createRandom(seed)
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(config)) writeFileSync(join(root, 'config', name), text)

  const lives: Lives = { daemon: undefined, dead: 0 }
  const gates = gatesOf(random)
  const parents = new Map<string, string>()
  const readings = new Map<string, number>()
  const untilKill = async (gate: number, gone: Promise<boolean>): Promise<void> => {
    let isGone = false
    void gone.then(() => (isGone = true))
    while (!isGone && lives.dead < gate) await clock.sleep(20)
  }
  const model = answerOf({
    async parentOf(name) {
      if (!parents.has(name))
        for (const { agent } of (await lives.daemon?.request('GET', '/v1/agents'))?.body ?? [])
          if (agent.parent !== null) parents.set(agent.name, agent.parent)
      const found = parents.get(name)
      if (found === undefined) throw new Error(`nobody knows ${name}`)
      return found
    },
    turn: (name, turn, gone) => untilKill(gates.get(`${name} ${Math.min(turn, 1)}`) ?? 0, gone),
    /** Most are read while the daemon dies, once or twice. */
    reading(messages, gone) {
      const gate = readings.get(messages) ?? Math.min(kills, lives.dead + random.below(3))
      readings.set(messages, gate)
      return untilKill(gate, gone)
    },
  })
  const server = await startOpenAiServer(model)
  t.teardown(() => server.close())
  const provider = ['--provider', 'openai_compatible', '--provider-base-url', server.url, '--model', 'm']
  const flags = [...provider, '--log-level', 'error', '--max-concurrent-runs', '256']

  const began = clock.elapsed()
  let daemon = await spawnDaemon(serve(root, flags))
  lives.daemon = daemon
  const agent_id: string = (await daemon.request('POST', '/v1/sessions', { session_id: 'root' })).body.agent_id
  await daemon.request('POST', '/v1/sessions/root/runs', { content: 'work of n' })
  const load = createLoad({ root: agent_id, random, spawns: 20, letters: 60 })
  const grown: number[] = []
  let counted = 0
  while (lives.dead < kills) {
    const work = load.live(daemon)
    work.catch(() => undefined)
    if (lives.dead % countEvery === countEvery - 1) counted += Number(await count(t, daemon, agent_id, 4))
    else await clock.sleep(random.below(300))
    await daemon.die()
    lives.dead += 1
    await work
    if (lives.dead < kills && random.chance(0.6)) {
      await dieEarly(root, flags, random.below(600))
      lives.dead += 1
    }
    daemon = await spawnDaemon(serve(root, flags))
    lives.daemon = daemon
    if (lives.dead % 20 < 2) grown.push((await daemon.request('GET', '/v1/agents')).body.length)
  }
  const killing = clock.elapsed() - began
  while (load.left() > 0) await load.live(daemon)
  await untilOver(daemon, load)
  t.log(`${Math.round(killing / 1000)} s of kills, ${Math.round((clock.elapsed() - began) / 1000)} s in all`)
  t.log(`agents as the kills went on: ${grown.join(' ')}; ${counted} counts of moments meanwhile`)
  t.true(await count(t, daemon, agent_id, 20))
  await checkTree(t, daemon, { root: agent_id, load, size: treeSize })
  await daemon.stop()
  const verified = await sh(`'${process.execPath}' '${mainFile}' state verify --state-root '${root}'`, root)
  t.is(verified.code, 0, verified.out + verified.err)
})
