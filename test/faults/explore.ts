/**
 * Runs a workload once, and from the copy of the disk before each operation makes the states that a crash there can
 * leave; recovers each of them and judges it.
 */
import { assert } from '../../core/base/assert.js'
import { crash, isSettled, policies, type Image, type Policy } from './image.js'
import { createLedger, describeLife, type Expected } from './ledger.js'
import { declaredIn, openLife, root, type Engine, type Life } from './life.js'
import { createRandom, type Random } from './random.js'
import { createSimulatedDisk, type FaultKind, type Operation } from './simulated-disk.js'
import { runWorkload, sendCommit, type WorkloadOptions } from './workload.js'

export interface Exploration {
  readonly engine: Engine
  readonly seed: number
  readonly rounds: number
  readonly ends: WorkloadOptions['ends']
  /** Random images a policy makes at each operation. */
  readonly images: number
  /** Fails operations of the workload. */
  readonly fail?: (operation: Operation) => FaultKind | undefined
  /** Operations of the workload and of every recovery that the disk forgets: they succeed and do nothing. */
  readonly forget?: (operation: Operation) => boolean
  /** Looks at every n-th operation only. */
  readonly every?: number
  readonly enough?: () => boolean
}
/**
 * `states`: crash images that were recovered and judged; some of them are of a crash inside a recovery, some of one
 * after it.
 */
export interface Tally {
  states: number
  operations: number
  insideRecovery: number
  afterRecovery: number
}

interface Moment {
  readonly operation: Operation | undefined
  readonly image: Image
  readonly expected: Expected
}

/** Names the state that broke a promise, so that it can be made again. */
const broken = (sentence: string, { seed }: Exploration, operation: Operation | undefined, policy: string): never => {
  throw new TypeError(
    `${sentence}\n  seed ${seed}, before operation ${operation?.number ?? 'none, at the end'} ` +
      `(${operation?.call ?? ''} ${operation?.path ?? ''}), ${policy}`,
  )
}

/** Every other declaration of the queue has its tables made again: the pages alone must tell the truth. */
const anyVersion = (random: Random): { readonly version: number } => ({ version: random.chance(0.3) ? 2 : 1 })
const isOrdered = (rebuilt: string): boolean => rebuilt === 'index of queue: the declaration changed'

const record = async (exploration: Exploration): Promise<Moment[]> => {
  const { engine, seed, rounds, ends, fail, forget } = exploration
  const random = createRandom(seed)
  const ledger = createLedger()
  const moments: Moment[] = []
  let disk = createSimulatedDisk({ root: '/r' })
  let offset = 0
  let last: Operation | undefined
  const before = (operation: Operation): void => {
    last = { ...operation, number: offset + operation.number }
    if (operation.call !== 'open') moments.push({ operation: last, image: disk.image(), expected: ledger.expected() })
  }
  const openOnce = (image?: Image): Promise<Life> => {
    offset = last?.number ?? 0
    const failing = fail && ((operation: Operation) => fail({ ...operation, number: offset + operation.number }))
    disk = createSimulatedDisk({
      root: '/r',
      before,
      paced: true,
      random,
      ...(image && { image }),
      ...(failing && { fail: failing }),
      ...(forget && { forget }),
    })
    return openLife({ engine, disk, random, ...anyVersion(random), startedAt: 1_700_000_000_000 + offset * 1000 })
  }
  /** A start that a fault of the disk refuses is tried again, as an operator would. */
  const open = async (image?: Image, tries = 0): Promise<Life> => {
    const life = await openOnce(image).catch((cause: unknown) => {
      if (fail === undefined || tries > 40) throw cause
      return undefined
    })
    if (life !== undefined && life.opened.state.health.mode === 'ok') return life
    if (fail === undefined || tries > 40)
      return life ?? broken('the store does not open', exploration, last, 'starting')
    return open(disk.image(), tries + 1)
  }
  try {
    await runWorkload({ random, ledger, rounds, open, ends })
  } catch (cause) {
    broken(
      `the workload failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      exploration,
      last,
      'running',
    )
  }
  moments.push({ operation: undefined, image: disk.image(), expected: ledger.expected() })
  return moments
}

/** The recovered store holds what it must, nothing that it must not, and no more than that. */
const judge = async (life: Life, expected: Expected): Promise<string> => {
  assert(life.report.damage === undefined, `damage: ${JSON.stringify(life.report.damage)}`)
  assert(life.opened.state.health.mode === 'ok', `storage is ${life.opened.state.health.reason}`)
  assert(life.generation > expected.generation, `generation ${life.generation} is not above ${expected.generation}`)
  const broke = life.report.rebuilt.filter((rebuilt) => !isOrdered(rebuilt))
  assert(broke.length === 0, `derived files were broken: ${broke.join(', ')}`)
  const description = describeLife(life, expected.everSent)
  if (expected.after.indexOf(description, expected.acked) < 0 && !expected.ghosts.has(description)) {
    assert(
      false,
      'the state is not one that was acknowledged or sent; acknowledged ' +
        `was\n${expected.after[expected.acked]}\nfound is\n${description}`,
    )
  }
  const version = life.note.read()?.version ?? 0
  assert(expected.notes.includes(version), `the document is of version ${version}, not ${expected.notes.join(' or ')}`)
  for (const id of life.items.ids('all', 'all')) {
    const blob = life.items.find(id)?.blob
    if (blob !== undefined) assert(await life.blobs.read(blob), `the blob of ${id} is gone`)
  }
  return description
}

/** Most recovered stores begin no checkpoint at once, which is what costs most. */
const calm = { segmentBytes: 1_000_000 }
const openOn = ({ engine, forget }: Exploration, image: Image, random: Random): Promise<Life> =>
  openLife({
    engine,
    disk: createSimulatedDisk({ root: '/r', image, ...(forget && { forget }) }),
    random,
    startedAt: 1_900_000_000_000,
    ...anyVersion(random),
    tuning: random.chance(0.05) ? {} : calm,
  })

/** Nothing is wrong with what stands on the disk. */
const judgeFiles = async ({ engine }: Exploration, life: Life): Promise<void> => {
  await life.opened.checkpoint()
  const { disk, clock } = life
  const { findings } = await engine.verifyRoot({ root, disk, clock, declared: declaredIn(life), live: true })
  const [found] = findings.filter(({ severity }) => severity !== 'leftover')
  assert(found === undefined, `a check found ${JSON.stringify(found)}`)
}

/** A second recovery changes nothing, and what is acknowledged by the recovered store survives as well. */
const judgeAgain = async (
  exploration: Exploration,
  life: Life,
  { expected, description }: { readonly expected: Expected; readonly description: string },
  random: Random,
): Promise<void> => {
  const { engine } = exploration
  const ledger = createLedger()
  const version = life.note.read()?.version
  const fresh = random.chance(0.5)
  if (fresh) await sendCommit(life, ledger, [{ do: 'append', owner: 'zoe', entry: 'fresh' }])
  const left = createSimulatedDisk({
    root: '/r',
    image: crash(life.disk.image(), random.pick(['drop', 'drop', 'keep', 'names']), random),
  })
  const second = await openLife({
    engine,
    disk: left,
    random,
    tuning: calm,
    ...anyVersion(random),
    startedAt: 1_900_000_100_000,
    opening: { generation: life.generation + 1, root_id: life.rootId },
  })
  assert(second.report.damage === undefined, `damage in the second recovery: ${JSON.stringify(second.report.damage)}`)
  assert(
    second.note.read()?.version === version,
    `the document went from version ${version} to ${second.note.read()?.version}`,
  )
  if (random.chance(0.1)) await judgeFiles(exploration, second)
  const again = describeLife(second, expected.everSent)
  assert(
    again === (fresh ? `${description}${description.endsWith('\n') ? '' : '\n'}zoe: fresh` : description),
    `a second recovery gave another state:\n${description}\nthen\n${again}`,
  )
}

const judgeState = async (exploration: Exploration, moment: Moment, image: Image, random: Random): Promise<void> => {
  const life = await openOn(exploration, image, random)
  const description = await judge(life, moment.expected)
  await judgeAgain(exploration, life, { expected: moment.expected, description }, random)
}

/** Crashes the recovery itself before each of its operations. */
const judgeRecovery = async (
  exploration: Exploration,
  moment: Moment,
  image: Image,
  random: Random,
): Promise<number> => {
  const images: Image[] = []
  const disk = createSimulatedDisk({
    root: '/r',
    image,
    before: () => {
      images.push(disk.image())
    },
  })
  await openLife({ engine: exploration.engine, disk, random, startedAt: 1_900_000_000_000 })
  for (const half of images) {
    const life = await openOn(exploration, crash(half, random.pick(policies), random), random)
    await judge(life, { ...moment.expected, generation: moment.expected.generation })
  }
  return images.length
}

const imagesAt = (
  moment: Moment,
  images: number,
  random: Random,
): { readonly policy: Policy | 'kill'; readonly image: Image }[] => {
  if (isSettled(moment.image)) return [{ policy: 'drop', image: crash(moment.image, 'drop', random) }]
  const random_ = policies
    .slice(2)
    .flatMap((policy) => Array.from({ length: images }, () => ({ policy, image: crash(moment.image, policy, random) })))
  const plain = (['drop', 'keep'] as const).map((policy) => ({ policy, image: crash(moment.image, policy, random) }))
  return [{ policy: 'kill', image: moment.image }, ...plain, ...random_]
}

/** Operations of a workload while nothing fails. */
export const countOperations = async (exploration: Exploration): Promise<number> => {
  let last = 0
  await record({
    ...exploration,
    fail: ({ number }) => {
      last = number
      return undefined
    },
  })
  return last
}

export const explore = async (exploration: Exploration, tally: Tally): Promise<void> => {
  const moments = await record(exploration)
  const random = createRandom(exploration.seed ^ 0x5bd1e995)
  for (const [at, moment] of moments.entries()) {
    if (at % (exploration.every ?? 1) !== 0) continue
    if (exploration.enough?.() === true) return
    tally.operations += 1
    for (const { policy, image } of imagesAt(moment, exploration.images, random)) {
      try {
        await judgeState(exploration, moment, image, random)
        tally.states += 2
        tally.afterRecovery += 1
        if (!random.chance(0.02)) continue
        const inside = await judgeRecovery(exploration, moment, image, random)
        tally.insideRecovery += inside
        tally.states += inside
      } catch (cause) {
        broken(cause instanceof Error ? cause.message : String(cause), exploration, moment.operation, policy)
      }
    }
  }
}
