/**
 * Lives without a crash whose queue forgets what is removed: few ids come and go beside records that stay, in every
 * other life the tables are made again from the pages, and behind each checkpoint a check looks at the disk.
 */
import { assert } from '../../core/base/assert.js'
import type { Image } from './image.js'
import { declaredIn, openLife, root, type Engine, type Item, type Life } from './life.js'
import { createRandom, type Random } from './random.js'
import { createSimulatedDisk } from './simulated-disk.js'

type Model = Map<string, Item>

const idsOf = (model: Model): string => [...model.keys()].toSorted().join(' ')

/** One change of one id, and of the model. */
const change = async ({ opened, queue }: Life, model: Model, { random, n }: { random: Random; n: number }) => {
  const stays = random.chance(0.3)
  const id = stays ? `stay${random.below(10)}` : `q${random.below(8)}`
  const text = stays ? 'z'.repeat(60 + random.below(60)) : 'y'.repeat(random.below(30))
  const item: Item = { id, owner: 'ann', n, done: random.chance(0.5), text }
  const goes = model.has(id) && !stays && random.chance(0.7)
  const comes = !goes || random.chance(0.3)
  await opened.state.commit((tx) => {
    if (goes) tx.remove(queue, id, 'test')
    if (comes) tx.put(queue, item)
  })
  if (comes) model.set(id, item)
  else model.delete(id)
}

const judge = async (engine: Engine, life: Life, model: Model): Promise<void> => {
  const { disk, clock, queue } = life
  assert(queue.ids('all', 'all').join(' ') === idsOf(model), `the queue has ${queue.ids('all', 'all').join(' ')}`)
  for (const [id, { n }] of model) assert(queue.find(id)?.n === n, `${id} is another one`)
  const { findings } = await engine.verifyRoot({ root, disk, clock, declared: declaredIn(life), live: true })
  const found = findings.find(({ severity }) => severity !== 'leftover')
  assert(found === undefined, `a check found ${JSON.stringify(found)}`)
}

const churnOnce = async (engine: Engine, seed: number): Promise<void> => {
  const random = createRandom(seed)
  const model: Model = new Map()
  let image: Image | undefined
  let n = 0
  for (let lives = 0; lives < 6; lives += 1) {
    const disk = createSimulatedDisk({ root, ...(image !== undefined && { image }) })
    const version = random.chance(0.3) ? 2 : 1
    const tuning = { segmentBytes: random.chance(0.5) ? 1_000_000 : 1500 }
    const startedAt = 1_700_000_000_000 + lives * 1_000_000
    const life = await openLife({ engine, disk, random, version, startedAt, tuning })
    await judge(engine, life, model)
    for (let round = 0; round < 12; round += 1) {
      for (let changes = random.below(5); changes >= 0; changes -= 1) await change(life, model, { random, n: (n += 1) })
      if (random.chance(0.5)) await life.opened.checkpoint()
      await judge(engine, life, model)
    }
    if (random.chance(0.4)) await life.opened.close()
    image = disk.image()
  }
}

/** Lives from so many seeds. */
export const churn = async (engine: Engine, seeds: number): Promise<void> => {
  for (let seed = 1; seed <= seeds; seed += 1)
    await churnOnce(engine, seed).catch((cause: unknown) => {
      throw new TypeError(`${cause instanceof Error ? cause.message : String(cause)}\n  seed ${seed}`)
    })
}
