/**
 * Canonical workloads: groups of commits of every kind, blobs that records
 * name, a document, time that passes, clean closes, kills and power cuts, from
 * a seed. Whatever happens to the disk meanwhile, the ledger knows what the
 * store said.
 */
import { assert } from '../../core/base/assert.js'
import type { BlobRef } from '../../core/state/contract.js'
import { crash, type Image, type Policy } from './image.js'
import { describeLife, type Ledger, type Step } from './ledger.js'
import type { Item, Life } from './life.js'
import type { Random } from './random.js'
import { rest } from './stillness.js'

export interface WorkloadOptions {
  readonly random: Random
  readonly ledger: Ledger
  /** Rounds of work. */
  readonly rounds: number
  /** Opens the store on what a crash left, or, without an image, on the disk as it is after a clean close. */
  readonly open: (image?: Image) => Promise<Life>
  /** How lives end in between. */
  readonly ends: readonly ('close' | 'kill' | 'power')[]
}

const owners = ['ann', 'bob', 'cyd'] as const
type Invention = Pick<WorkloadOptions, 'random' | 'ledger'>
/** So few ids that they come again and again. */
const places = ['q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7', 'q8'] as const

/** Most that stay in the queue for long, with texts so long that their pages stay too, and what is dead on them. */
const mostStay = 10

const stayingSteps = ({ random, ledger }: Invention, n: number): Step[] => {
  const there = [...ledger.model.queue.keys()].filter((id) => id.startsWith('stay'))
  const known = there[random.below(there.length)]
  const item = { owner: random.pick(owners), n, done: true, text: 'z'.repeat(60 + random.below(60)) }
  if (there.length < mostStay && !random.chance(0.3))
    return [{ do: 'insert', item: { id: `stay${n}`, ...item }, in: 'queue' }]
  return known === undefined ? [] : [{ do: 'put', item: { id: known, ...item }, in: 'queue' }]
}

/** What becomes of a place in the queue; one that is taken away may be taken again in the same commit. */
const queueSteps = ({ random, ledger }: Invention, n: number): Step[] => {
  const id = random.pick(places)
  const item = (): Item => ({
    id,
    owner: random.pick(owners),
    n,
    done: random.chance(0.5),
    text: 'y'.repeat(random.below(30)),
  })
  if (!ledger.model.queue.has(id)) return [{ do: 'insert', item: item(), in: 'queue' }]
  const kind = random.below(4)
  if (kind === 0) return [{ do: 'put', item: item(), in: 'queue' }]
  const removed: Step = { do: 'remove', id, in: 'queue' }
  return kind === 1 ? [removed, { do: 'insert', item: item(), in: 'queue' }] : [removed]
}

/** Steps that hold in the state they are made for. */
const inventSteps = ({ random, ledger }: Invention, n: number, blob?: BlobRef): Step[] => {
  const { items } = ledger.model
  const ids = [...items.keys()]
  const item = (id: string, more: Partial<Item> = {}): Item => ({
    id,
    owner: random.pick(owners),
    n,
    done: false,
    text: 'x'.repeat(random.below(60)),
    ...more,
  })
  const steps: Step[] = [
    { do: 'insert', item: item(`i${String(n).padStart(4, '0')}`, blob === undefined ? {} : { blob }) },
  ]
  const known = ids[random.below(ids.length)]
  const kind = random.below(6)
  if (known !== undefined && kind < 2) steps.push({ do: 'put', item: item(known, { done: kind === 1 }) })
  if (known !== undefined && kind === 2) steps.push({ do: 'remove', id: known })
  if (kind !== 5) steps.push({ do: 'append', owner: random.pick(owners), entry: `e${n}` })
  if (random.chance(0.6)) steps.push(...queueSteps({ random, ledger }, n))
  if (random.chance(0.25)) steps.push(...stayingSteps({ random, ledger }, n))
  if (kind === 4) steps.push({ do: 'append', owner: random.pick(owners), entry: `f${n}` })
  return steps
}

const codeOf = (cause: unknown): string => (cause instanceof Error && 'code' in cause ? String(cause.code) : '')
/** The store's refusals; anything else is a fault of the store. A mutant's problems are of a class of its own. */
const isRefusal = (cause: unknown): boolean => codeOf(cause).startsWith('storage_')
/** A close may also fail with what the disk said: the next start decides. */
const notClosed = (cause: unknown): void => {
  if (!isRefusal(cause) && !/^E[A-Z]+$/u.test(codeOf(cause))) throw cause
}

export const sendCommit = async (
  { opened, items, queue, journal }: Life,
  ledger: Ledger,
  steps: readonly Step[],
): Promise<boolean> => {
  const number = ledger.send(steps)
  try {
    await opened.state.commit((tx) => {
      for (const step of steps) {
        if (step.do === 'append') tx.append(journal, step.owner, step.entry)
        else if (step.do === 'remove') tx.remove(step.in === 'queue' ? queue : items, step.id, 'test')
        else tx[step.do](step.in === 'queue' ? queue : items, step.item)
      }
    })
    ledger.ack(number)
    return true
  } catch (cause) {
    if (!isRefusal(cause)) throw cause
    ledger.refuse(number)
    return false
  }
}

const refused = (cause: unknown): undefined => {
  if (!isRefusal(cause)) throw cause
  return undefined
}

/** What a life shows, for the ledger to go on from. */
const foundIn = (life: Life, ledger: Ledger) => ({
  description: describeLife(life, ledger.expected().everSent),
  note: life.note.read()?.version ?? 0,
})

export const runWorkload = async (options: WorkloadOptions): Promise<Life> => {
  const { random, ledger, rounds, open, ends } = options
  let life = await open()
  ledger.opened(life.generation)
  let n = 0
  const group = async (): Promise<void> => {
    const blob = random.chance(0.2)
      ? await life.blobs.put(Buffer.from(`bytes ${n} ${'b'.repeat(random.below(700))}`)).catch(refused)
      : undefined
    await Promise.all(
      Array.from({ length: 1 + random.below(3) }, () => sendCommit(life, ledger, inventSteps(options, (n += 1), blob))),
    )
  }
  const writeNote = async (): Promise<void> => {
    const version = (n += 1)
    ledger.sendNote(version)
    if ((await life.note.write({ version }).then(() => true, refused)) === true) ledger.ackNote(version)
  }
  const dropBlob = async (): Promise<void> => {
    const named = [...ledger.model.items.values()].find((item) => item.blob !== undefined)
    if (named?.blob === undefined) return
    const { blob } = named
    const sharers = [...ledger.model.items.values()].filter((item) => item.blob?.sha256 === blob.sha256)
    const gone = await sendCommit(
      life,
      ledger,
      sharers.map(({ id }) => ({ do: 'remove', id })),
    )
    if (gone) await life.blobs.remove(blob).catch(refused)
  }
  const endLife = async (end: WorkloadOptions['ends'][number] | undefined): Promise<void> => {
    if (end === undefined) return
    if (end === 'close') await life.opened.close().catch(notClosed)
    const before = life.disk.image()
    const policy: Policy = random.pick(['drop', 'keep', 'tear', 'reorder', 'names'])
    life = await open(end === 'power' ? crash(before, policy, random) : before)
    assert(life.report.damage === undefined, `damage after ${end}: ${JSON.stringify(life.report.damage)}`)
    ledger.restart(foundIn(life, ledger))
    ledger.opened(life.generation)
  }
  for (let round = 0; round < rounds; round += 1) {
    const dice = random.below(12)
    if (dice < 7) await group()
    else if (dice === 7) await writeNote()
    else if (dice === 8) await dropBlob()
    else if (dice < 11) {
      life.clock.advance(400 + random.below(1200))
      await rest(random.pick([0, 8, 200]))
    } else await endLife(ends[random.below(ends.length)])
    if (life.opened.state.health.mode === 'ok' || (await life.opened.recover())) continue
    if (random.chance(0.3)) await endLife(random.chance(0.5) ? 'kill' : 'close')
  }
  return life
}
