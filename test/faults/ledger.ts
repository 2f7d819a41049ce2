/**
 * What the store was told, in order, and what it acknowledged. Commits are
 * one line after the other, so a recovered store must equal the state after
 * some number of them: at least those that were acknowledged, at most those
 * that were sent.
 */
import { assert } from '../../core/base/assert.js'
import type { Item, Life } from './life.js'

export type Step =
  | { readonly do: 'insert' | 'put'; readonly item: Item; readonly in?: 'queue' }
  | { readonly do: 'remove'; readonly id: string; readonly in?: 'queue' }
  | { readonly do: 'append'; readonly owner: string; readonly entry: string }

export interface Model {
  readonly items: ReadonlyMap<string, Item>
  readonly deleted: ReadonlySet<string>
  readonly queue: ReadonlyMap<string, Item>
  readonly entries: ReadonlyMap<string, readonly string[]>
}
const emptyModel: Model = { items: new Map(), deleted: new Set(), queue: new Map(), entries: new Map() }

const applySteps = (model: Model, steps: readonly Step[]): Model => {
  const items = new Map(model.items)
  const deleted = new Set(model.deleted)
  const queue = new Map(model.queue)
  const entries = new Map(model.entries)
  for (const step of steps) {
    if (step.do === 'append') entries.set(step.owner, [...(entries.get(step.owner) ?? []), step.entry])
    else if (step.do !== 'remove') (step.in === 'queue' ? queue : items).set(step.item.id, step.item)
    else if (step.in === 'queue') queue.delete(step.id)
    else if (items.delete(step.id)) deleted.add(step.id)
  }
  return { items, deleted, queue, entries }
}

const sorted = (values: Iterable<string>): string[] => [...values].toSorted()
interface Shown {
  readonly items: readonly Item[]
  readonly deleted: readonly string[]
  readonly queue: readonly Item[]
  readonly entries: readonly (readonly [string, readonly string[]])[]
}
const renderItems = (items: readonly Item[]): string =>
  items
    .map((item) => `${item.id} ${item.owner} ${item.n} ${item.done} ${item.text} ${item.blob?.sha256 ?? ''}`)
    .join('\n')
const render = ({ items, deleted, queue, entries }: Shown): string =>
  [
    renderItems(items),
    deleted.join(' '),
    renderItems(queue),
    entries.map(([owner, list]) => `${owner}: ${list.join(' ')}`).join('\n'),
  ].join('\n')

const byId = (items: Iterable<Item>): Item[] => [...items].toSorted((a, b) => (a.id < b.id ? -1 : 1))
const describeModel = ({ items, deleted, queue, entries }: Model): string =>
  render({
    items: byId(items.values()),
    deleted: sorted(deleted),
    queue: byId(queue.values()),
    entries: [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  })

/** The same text, read through the store's own doors: indexes, records, tombstones, streams. */
export const describeLife = ({ items, queue, journal }: Life, everSent: ReadonlySet<string>): string => {
  const records = recordsOf(items)
  assert(![...everSent].some((id) => queue.isDeleted(id)), 'a forgotten id is called deleted')
  const deleted = sorted(everSent).filter((id) => items.isDeleted(id))
  const entries = sorted(journal.owners()).map((owner) => {
    const read = journal.read(owner, { after: 0, limit: 1_000_000 })
    assert(
      read.length === journal.length(owner) && read.every(({ seq }, at) => seq === at + 1),
      `the stream of ${owner} has a gap`,
    )
    return [owner, read.map(({ entry }) => entry)] as const
  })
  return render({ items: records, deleted, queue: recordsOf(queue), entries })
}

/** Every record, in order of the ids; the indexes agree about them. */
const recordsOf = (items: Life['items']): Item[] => {
  const ids = items.ids('all', 'all')
  const records = ids.map((id) => {
    const item = items.find(id)
    assert(item, `the index names ${id}, but there is no record`)
    return item
  })
  const byOwner = items.groups('by_owner').flatMap((owner) => items.ids('by_owner', owner))
  assert(
    byOwner.length === ids.length && new Set(byOwner).size === ids.length,
    'the two indexes do not hold the same records',
  )
  const counts = items.groups('by_owner').map((owner) => items.count('by_owner', owner))
  assert(
    items.count('all', 'all') === ids.length && counts.reduce((sum, count) => sum + count, 0) === ids.length,
    'an index counts other records than it lists',
  )
  return records
}

/** What may be found after a crash at one moment. */
export interface Expected {
  /** Descriptions after 0, 1, 2 … commits. */
  readonly after: readonly string[]
  readonly acked: number
  /** States with commits that were refused with an unknown outcome. */
  readonly ghosts: ReadonlySet<string>
  readonly everSent: ReadonlySet<string>
  /** Versions of the document that may be found; 0 is absent. */
  readonly notes: readonly number[]
  readonly generation: number
}

export interface Ledger {
  readonly model: Model
  /** The commit is sent; returns its number. */
  send(steps: readonly Step[]): number
  ack(commit: number): void
  /** Refused; everything behind it is gone as well. Its lines may still be on the disk. */
  refuse(commit: number): void
  sendNote(version: number): void
  ackNote(version: number): void
  /** A crash left the state after so many commits, and this version of the document. */
  restart(found: Found): void
  opened(generation: number): void
  expected(): Expected
}
export interface Found {
  readonly description: string
  readonly note: number
}

export const createLedger = (): Ledger => {
  let models: Model[] = [emptyModel]
  let after: string[] = [describeModel(emptyModel)]
  let acked = 0
  let ghosts = new Map<string, Model>()
  let everSent: ReadonlySet<string> = new Set<string>()
  let notes: readonly number[] = [0]
  let generation = 0
  const last = (): Model => models.at(-1) ?? emptyModel
  const cut = (count: number): void => {
    models = models.slice(0, count + 1)
    after = after.slice(0, count + 1)
  }
  const send = (steps: readonly Step[]): number => {
    const next = applySteps(last(), steps)
    everSent = new Set([...everSent, ...steps.flatMap((step) => (step.do === 'insert' ? [step.item.id] : []))])
    models = [...models, next]
    after = [...after, describeModel(next)]
    return models.length - 1
  }
  const refuse = (commit: number): void => {
    if (commit >= models.length) return
    assert(commit > acked, 'a commit was refused after a later one was acknowledged')
    ghosts = new Map([
      ...ghosts,
      ...models.slice(commit).map((model, at) => [after[commit + at] ?? '', model] as const),
    ])
    cut(commit - 1)
  }
  const restart = ({ description, note }: Found): void => {
    const count = after.indexOf(description, acked)
    const ghost = ghosts.get(description)
    assert(
      count >= 0 || ghost !== undefined,
      `a restart found a state that was never sent:\n${description}\nacknowledged ` +
        `was\n${after[acked]}\nrefused were ${ghosts.size}`,
    )
    if (count >= 0) cut(count)
    else models = [...models.slice(0, acked + 1), ghost ?? emptyModel]
    if (count < 0) after = [...after.slice(0, acked + 1), description]
    acked = models.length - 1
    ghosts = new Map()
    notes = [note]
  }
  return {
    get model() {
      return last()
    },
    send,
    refuse,
    restart,
    ack: (commit) => {
      acked = Math.max(acked, commit)
      ghosts = new Map()
    },
    sendNote: (version) => {
      notes = [...notes, version]
    },
    ackNote: (version) => {
      notes = notes.slice(Math.max(0, notes.indexOf(version)))
    },
    opened: (opened) => {
      generation = opened
    },
    expected: () => ({ after, acked, ghosts: new Set(ghosts.keys()), everSent, notes, generation }),
  }
}
