/**
 * Lives in which partitions close and fall, crashed before each of their operations: what is found is what readers saw
 * before what was going on or behind it, whole, and `state verify` finds nothing.
 */
import { assert } from '../../core/base/assert.js'
import { join } from 'node:path'
import {
  kind,
  openKept,
  verifyKept,
  viewKept,
  type KeptEngine,
  type KeptNote,
  type KeptNotes,
} from '../support/kept-notes.js'
import { crash, isSettled, policies, type Image } from './image.js'
import { createRandom, type Random } from './random.js'
import { rest } from './stillness.js'
import { createSimulatedDisk, type FaultKind, type Operation, type SimulatedDisk } from './simulated-disk.js'

export interface FallExploration {
  readonly engine: KeptEngine
  readonly seed: number
  readonly steps: number
  /** Looks at every n-th operation only. */
  readonly every: number
  readonly fail?: (operation: Operation) => FaultKind | undefined
}
export interface FallTally {
  states: number
  falls: number
  operations: number
}

const root = '/r'
const tuning = {
  segmentBytes: 1_000_000,
  pageBytes: 500,
  openPages: 3,
  tables: { blockRows: 3, levelRows: 4, fanOut: 2, fullRows: 40 },
  blockBytes: 300,
}
const startedAt = Date.UTC(2026, 0, 1)

/** What may be found behind a crash: one of these. The second is known when what was going on is over. */
interface Allowed {
  readonly before: string
  /** What was seen when what was going on was over, or had failed: in memory, and in the next life. */
  readonly after: string[]
}
interface Moment {
  readonly operation: Operation
  readonly image: Image
  readonly now: number
  readonly allowed: Allowed
}

const describe = (life: KeptNotes, ever: readonly string[]): string =>
  JSON.stringify([
    viewKept(life),
    ever.map((id) => `${id} ${life.notes.has(id)} ${life.notes.hasFallen(id)} ${life.notes.isDeleted(id)}`),
  ])

/** Where a text departs from the nearest of those that were allowed. */
const departs = (found: string, ...allowed: readonly (string | undefined)[]): string =>
  allowed
    .map((one = '') => {
      const at = Array.from(found).findIndex((char, place) => char !== one[place])
      const from = Math.max(0, at - 120)
      return `found\n${found.slice(from, at + 200)}\nnot\n${one.slice(from, at + 200)}`
    })
    .join('\nnor\n')

/** What there was before a fall. */
interface Fallen {
  readonly going: ReadonlySet<string>
  readonly open: ReadonlyMap<string, boolean>
  readonly lengths: readonly (readonly [string, number])[]
}
const everything = { index: 'all', group: 'all', limit: 10_000 } as const

/** One life after the other, of which each step is awaited. */
class Story {
  readonly moments: Moment[] = []
  readonly ever: string[] = []
  falls = 0
  readonly #exploration: FallExploration
  readonly #random: Random
  #disk: SimulatedDisk
  #life: KeptNotes | undefined
  #allowed: Allowed = { before: '', after: [] }
  #now = startedAt
  #number = 0

  constructor(exploration: FallExploration) {
    this.#exploration = exploration
    this.#random = createRandom(exploration.seed)
    this.#disk = this.#makeDisk()
  }

  async play(): Promise<void> {
    await this.#open()
    for (let step = 0; step < this.#exploration.steps; step += 1) await this.#step()
    await this.#lives.close().catch(() => false)
  }

  get #lives(): KeptNotes {
    assert(this.#life, 'no life has begun')
    return this.#life
  }

  #makeDisk(image?: Image): SimulatedDisk {
    const { fail } = this.#exploration
    return createSimulatedDisk({
      root,
      paced: true,
      random: this.#random,
      ...(image && { image }),
      ...(fail && { fail: (operation: Operation) => fail({ ...operation, number: this.#number }) }),
      before: (operation) => {
        this.#number += 1
        if (operation.call === 'open') return
        const at = { ...operation, number: this.#number }
        this.moments.push({ operation: at, image: this.#disk.image(), now: this.#now, allowed: this.#allowed })
      },
    })
  }

  /** A start that a fault of the disk refuses is tried again. */
  async #open(tries = 0): Promise<void> {
    const { engine } = this.#exploration
    const opened = await openKept(root, { disk: this.#disk, engine, tuning, startedAt: this.#now }).catch(
      (cause: unknown) => {
        if (tries > 5) throw cause
        return undefined
      },
    )
    if (opened !== undefined && opened.state.health.mode === 'ok') {
      this.#life = opened
      if (this.#allowed.before === '') this.#allowed = { before: describe(opened, this.ever), after: [] }
      return
    }
    assert(tries <= 5, 'the store does not open')
    this.#disk = this.#makeDisk(this.#disk.image())
    await this.#open(tries + 1)
  }

  /**
   * What goes on now: until it is over either is allowed, then what is seen. Behind a failure the next life tells;
   * whether a commit or a fall that failed in a sync took place is not known before.
   */
  async #during(action: () => Promise<unknown>, mayBe: (seen: string) => boolean = () => false): Promise<void> {
    const under = action()
    const going = describe(this.#lives, this.ever)
    const failure = await under.then(
      () => undefined,
      (error: unknown) => (error instanceof Error && 'code' in error ? error.code : 'unknown'),
    )
    const { before, after } = this.#allowed
    const failed = failure !== undefined || this.#lives.state.health.mode !== 'ok'
    if (failure === 'storage_sync_failed') after.push(going)
    if (failed) {
      after.push(describe(this.#lives, this.ever))
      this.#disk = this.#makeDisk(this.#disk.image())
      await this.#open()
    }
    const seen = describe(this.#lives, this.ever)
    const isAllowed = !failed || seen === before || after.includes(seen) || mayBe(seen)
    assert(isAllowed, `a failure: ${departs(seen, before, ...after)}`)
    after.push(seen)
    this.#allowed = { before: seen, after: [] }
  }

  async #step(): Promise<void> {
    const dice = this.#random.below(14)
    const { retention } = this.#lives.state
    if (dice < 4) return this.#during(() => this.#write())
    if (dice < 6) return this.#during(() => this.#change())
    if (dice === 6) return this.#during(() => this.#remove())
    if (dice < 9) return this.#during(() => this.#checkpoint())
    if (dice < 11) {
      this.#lives.pass(this.#random.pick([0.3, 2]))
      this.#now = this.#lives.clock.now()
      return
    }
    if (dice === 11) return this.#reopen()
    const upto = retention.kinds()[0]?.partitions.at(-1 - this.#random.below(2))?.no
    if (upto === undefined) return
    this.falls += 1
    if (upto === retention.kinds()[0]?.partitions.at(-1)?.no) {
      await this.#during(() => retention.checkpoint(new Set([kind])))
      if (!this.#lives.state.retention.kinds()[0]?.partitions.some(({ no }) => no > upto)) return
    }
    await this.#fall(upto)
  }

  /** Besides what a crash leaves: nothing falls that can still change, or that is of a later partition, or is named. */
  async #fall(upto: number): Promise<void> {
    const preview = this.#lives.state.retention.preview(kind, upto)
    const going = new Set(
      await this.#lives.state.retention.contents(preview, (lines) =>
        Promise.resolve(Array.from(lines, (line) => ('id' in line ? line.id : ''))),
      ),
    )
    // What is written while it is archived does not fall.
    if (this.#random.chance(0.5)) await this.#during(() => this.#write())
    if (this.#random.chance(0.5)) await this.#during(() => this.#checkpoint())
    const { notes, journal } = this.#lives
    const open = new Map(notes.list(everything).map((note) => [note.id, note.done]))
    const lengths = [...journal.owners()].map((owner) => [owner, journal.length(owner)] as const)
    let isWhole = false
    const left = [...open.keys()].filter((id) => !going.has(id)).join(' ')
    const fall = async (): Promise<void> => {
      await this.#lives.state.retention.fall(preview)
      isWhole = true
    }
    await this.#during(fall, () => this.#lives.notes.ids('all', 'all').join(' ') === left)
    if (isWhole) this.#checkFall({ going, open, lengths })
  }

  #checkFall({ going, open, lengths }: Fallen): void {
    const { notes, journal } = this.#lives
    const told = [...journal.owners()].flatMap((owner) => journal.read(owner, { after: 0, limit: 10_000 }))
    for (const [id, done] of open) {
      assert(done || notes.has(id), `${id} can still change and fell`)
      assert(notes.has(id) || going.has(id), `${id} fell, and nobody said so`)
      const entry = `wrote ${id}`
      if (notes.has(id))
        assert(
          told.some((one) => one.entry === entry),
          `what ${id} left fell, and it did not`,
        )
    }
    const listed = new Set(notes.ids('all', 'all'))
    for (const id of this.ever) assert(notes.has(id) === listed.has(id), `${id} is there, and no index has it`)
    for (const [owner, length] of lengths)
      assert(journal.length(owner) === length, `the entries of ${owner} are numbered from another end`)
    const facts = this.#disk.readFile(join(root, 'root.json')) ?? new Uint8Array()
    assert(Buffer.from(facts).includes('"partitions"'), 'an earlier version would open the root')
  }

  async #write(): Promise<void> {
    const { ids } = this.#lives
    const id = ids.make('note')
    // It is asked for from now on: both texts are of the same ids.
    this.#allowed = { before: describe(this.#lives, [...this.ever, id]), after: [] }
    this.ever.push(id)
    const owner = this.#random.pick(['ann', 'bob', 'cyd'])
    await this.#lives.write({ id, owner, done: this.#random.chance(0.7), text: this.#random.pick(['new', 'old']) })
  }

  #pickNote(): KeptNote | undefined {
    const ids = this.#lives.notes.ids('all', 'all')
    return this.#lives.notes.find(ids[this.#random.below(ids.length)] ?? '')
  }

  async #change(): Promise<void> {
    const note = this.#pickNote()
    if (note === undefined) return
    await this.#lives.change(note, { done: this.#random.chance(0.8), text: this.#random.pick(['new', 'old', 'odd']) })
  }

  async #remove(): Promise<void> {
    const note = this.#pickNote()
    if (note === undefined) return
    const { state, notes, marks, plain } = this.#lives
    await state.commit((tx) => {
      tx.remove(notes, note.id, 'test')
      for (const collection of [marks, plain])
        for (const mark of collection.list({ index: 'all', group: 'all', limit: 10_000 }))
          if (mark.note === note.id) tx.remove(collection, mark.id, 'test')
    })
  }

  async #checkpoint(): Promise<void> {
    assert(await this.#lives.checkpoint(), 'a checkpoint failed')
    await rest(this.#random.pick([0, 8, 200]))
  }

  /** In order, or by a kill. */
  async #reopen(): Promise<void> {
    if (this.#random.chance(0.5)) await this.#lives.close().catch(() => false)
    this.#disk = this.#makeDisk(this.#disk.image())
    await this.#during(() => this.#open())
  }
}

const broken = (sentence: string, seed: number, { operation }: Moment): never => {
  throw new TypeError(
    `${sentence}\n  seed ${seed}, before operation ${operation.number} (${operation.call} ${operation.path})`,
  )
}

const nothingFound = async (disk: SimulatedDisk, what: string): Promise<void> => {
  const { findings } = await verifyKept(root, disk)
  assert(findings.length === 0, `${what} finds ${JSON.stringify(findings)}`)
}

/** Lets one of the newest partitions that have ended fall; false if none has. */
const fallOne = async (life: KeptNotes, random: Random): Promise<boolean> => {
  const { retention } = life.state
  if (retention.kinds().length === 0) return false
  await retention.checkpoint(new Set([kind]))
  const upto = retention.kinds()[0]?.partitions.at(-2 - random.below(2))?.no
  if (upto === undefined) return false
  await life.fall(upto)
  return true
}

const judge = async (
  { engine }: FallExploration,
  image: Image,
  { moment, ever, random }: { readonly moment: Moment; readonly ever: readonly string[]; readonly random: Random },
): Promise<void> => {
  const disk = createSimulatedDisk({ root, image })
  const parts = { engine, disk, tuning, startedAt: moment.now }
  const life = await openKept(root, parts)
  assert(life.report.damage === undefined, `damage: ${JSON.stringify(life.report.damage)}`)
  assert(life.report.rebuilt.length === 0, `derived files were broken: ${life.report.rebuilt.join(', ')}`)
  const { before, after } = moment.allowed
  const found = describe(life, ever)
  const known = before === '' ? [] : (JSON.parse(before) as [unknown, string[]])[1]?.length
  const text = describe(life, ever.slice(0, Number(known)))
  assert(before === '' || text === before || after.includes(text), departs(text, before, ...after))
  const falls = random.chance(0.2) && (await fallOne(life, random))
  const seen = falls ? describe(life, ever) : found
  await life.close()
  await nothingFound(disk, falls ? 'a check behind a fall' : 'a check')
  if (random.chance(0.2)) await dropTables(disk)
  const again = await openKept(root, { ...parts, startedAt: moment.now + 1000 })
  const second = describe(again, ever)
  assert(second === seen, `a second life: ${departs(second, seen)}`)
  await again.checkpoint()
  await rest(random.pick([0, 200]))
  await again.checkpoint()
  await again.close()
  await nothingFound(disk, 'a check behind a second life')
}

/** The tables of a store with fallen partitions are made again from its pages. */
const dropTables = async (disk: SimulatedDisk): Promise<void> => {
  for (const folder of ['data/kept_notes', 'streams/kept_journal'].map((name) => join(root, name)))
    for (const name of disk.list(folder)) if (name.startsWith('index-')) await disk.unlink(join(folder, name))
}

export const exploreFalls = async (exploration: FallExploration, tally: FallTally): Promise<void> => {
  const story = new Story(exploration)
  await story.play()
  const random = createRandom(exploration.seed ^ 0x5bd1e995)
  tally.falls += story.falls
  for (const [at, moment] of story.moments.entries()) {
    if (at % exploration.every !== 0) continue
    tally.operations += 1
    const images = isSettled(moment.image)
      ? [crash(moment.image, 'drop', random)]
      : [moment.image, crash(moment.image, 'drop', random), crash(moment.image, random.pick(policies), random)]
    for (const image of images) {
      await judge(exploration, image, { moment, ever: story.ever, random }).catch((cause: unknown) =>
        broken(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause), exploration.seed, moment),
      )
      tally.states += 1
    }
  }
}
