/**
 * Kill -9 at random moments of a mixed load, a restart after each, and a full
 * check. A seed from the log brings the same load back; the moments of death
 * are those of the machine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { createClock } from '../../core/base/clock.js'
import { declarationsOf, shippedPlugins } from '../../core/shipped.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { verifyRoot } from '../../core/state/inspect/verify.js'
import { createRandom, type Random } from '../faults/random.js'
import { freshRoot, spawnDaemon, spawnMain, type SpawnedDaemon } from '../support/daemon.js'
import { createSender } from './client.js'
import { checkAll, checkRuns, type Tally } from './kill-check.js'
import { createLedger, type Ledger } from './kill-ledger.js'
import { resolveWaiting, work, type Load } from './kill-load.js'
import { partOf } from '../support/volume.js'

const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)
const cycles = Number(process.env['HOLDFAST_KILLS'] ?? partOf(10, 100))
const clock = createClock()

interface Stage {
  readonly root: string
  readonly effects: string
  readonly ledger: Ledger
  readonly random: Random
}

const flagsOf = ({ effects }: Stage): string[] => ['--workspace-root', path.dirname(effects), '--log-level', 'error']

/** One life: the load, the check of what earlier lives left, and a death. */
const live = async (stage: Stage, cycle: number): Promise<void> => {
  const { root, effects, ledger, random } = stage
  const daemon = await spawnDaemon({ root, flags: flagsOf(stage) })
  const sender = createSender(daemon.url)
  let dead = false
  const load: Load = {
    ledger,
    random,
    effects,
    sender,
    dead: () => dead,
    sessions: [`s${cycle}-0`, `s${cycle}-1`, `s${cycle}-2`],
    budget: 30,
  }
  try {
    if (cycle % 5 === 0) await checkRuns({ ledger, sender, effects })
    const working = work(load)
    working.catch(() => undefined)
    // Every other life has acknowledged some when it is killed.
    const acknowledged = (): number => [...ledger.intents.values()].filter((one) => one.acknowledged).length
    const enough = cycle % 2 === 0 ? acknowledged() + 4 : 0
    await Promise.race([clock.sleep(50 + random.below(350)), working])
    while (acknowledged() < enough && load.budget > 0) await Promise.race([clock.sleep(20), working])
    dead = true
    await daemon.die()
    await working
  } finally {
    sender.close()
    if (!dead) await daemon.die()
  }
}

/** A life that does not get as far as to listen. */
const dieEarly = async ({ root, random, ...stage }: Stage): Promise<void> => {
  const { child, exited } = spawnMain([
    'serve',
    '--bind',
    '127.0.0.1:0',
    '--state-root',
    root,
    ...flagsOf({ root, random, ...stage }),
  ])
  await clock.sleep(50 + random.below(400))
  child.kill('SIGKILL')
  await exited
}

/** With nobody to disturb it and every request answered, each run ends. */
const rest = async (stage: Stage, daemon: SpawnedDaemon): Promise<Load> => {
  const { ledger, random, effects } = stage
  const load: Load = {
    ledger,
    random,
    effects,
    sender: createSender(daemon.url),
    dead: () => false,
    sessions: [],
    budget: 0,
  }
  const deadline = clock.elapsed() + 600_000
  while ((await resolveWaiting(load, true)) > 0) {
    if (clock.elapsed() > deadline) throw new Error('runs neither end nor wait')
    await clock.sleep(20)
  }
  return load
}

/** A life without a death: everything ends, and everything is looked at. */
const settle = async (stage: Stage): Promise<Tally> => {
  const { root, ledger, effects } = stage
  const daemon = await spawnDaemon({ root, flags: flagsOf(stage) })
  try {
    const { sender } = await rest(stage, daemon)
    const tally = await checkAll({ ledger, sender, effects })
    sender.close()
    await daemon.stop()
    return tally
  } catch (error) {
    await daemon.die()
    throw error
  }
}

const verifyHere = async (root: string): Promise<string[]> => {
  const declared = await declarationsOf(await shippedPlugins())
  const { findings } = await verifyRoot({ root, disk: createDisk(), clock, declared, live: false })
  return findings
    .filter(({ severity }) => severity !== 'leftover')
    .map(({ file, offset, rule }) => `${file} at byte ${offset}: ${rule}`)
}

test(`${cycles} kills at random moments lose nothing that was acknowledged, undo nothing, and repeat nothing`, async (t) => {
  t.log(`seed ${seed}`)
  const root = await freshRoot()
  const workspace = await mkdtemp(path.join(tmpdir(), 'holdfast-effects-'))
  const stage: Stage = {
    root,
    effects: path.join(workspace, 'effects'),
    ledger: createLedger(),
    random: createRandom(seed),
  }
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    await live(stage, cycle)
    if (cycle % 8 === 0) await dieEarly(stage)
    if (cycle % 20 !== 0 && cycle !== cycles) continue
    t.deepEqual(await verifyHere(root), [], `after kill ${cycle}`)
    const tally = await settle(stage)
    t.log(
      `after ${cycle} kills: ${tally.runs} runs, ${tally.effects} effects, ${tally.unknown} with an unknown outcome`,
    )
  }
  t.true(stage.ledger.ended.size > cycles, `${stage.ledger.ended.size} runs`)
  const { text, exited } = spawnMain(['state', 'verify', '--state-root', root])
  t.is((await exited).code, 0, text.out)
  await rm(root, { recursive: true, force: true })
  await rm(workspace, { recursive: true, force: true })
})
