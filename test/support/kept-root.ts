/** A real root with one of everything: pages, tombstones, streams, a log behind them, a document and a blob. */
import type { ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'
import { createIds } from '../../core/base/ids.js'
import { object, string, boolean, unsafeCast } from '../../core/base/schema.js'
import type { CollectionSpec, StreamSpec } from '../../core/state/contract.js'
import type { Disk } from '../../core/state/disk/disk.js'
import { acquireLock } from '../../core/state/root/lock.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { openState } from '../../core/state/store/root.js'
import type { Tuning } from '../../core/state/tuning.js'
import type { Declarations } from '../../core/state/inspect/verify.js'
import { note, notesSpec, tempRoot, type Note } from './notes.js'

export const clock = createClock()
export const disk = createDisk()
/** Files that grow can only be read in pieces on it, as if each were larger than a buffer can be (A6). */
export const smallReads: Disk = {
  ...disk,
  readFile: (path) => {
    if (/\/(blobs|data|streams|log)\//u.test(path)) throw new Error(`${path} was read whole`)
    return disk.readFile(path)
  },
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

interface Person {
  readonly name: string
}

const people: CollectionSpec<Person> = {
  name: 'people',
  version: 1,
  id: (one) => one.name,
  indexes: {},
  schema: object({ name: string({ min: 2 }) }),
}
const notes: CollectionSpec<Note> = {
  ...notesSpec,
  schema: object({ id: string(), owner: string(), at: string(), text: string(), done: boolean() }),
  references: (one) => [{ collection: 'people', id: one.owner }],
}
const journal: StreamSpec<string> = { name: 'journal', version: 1, schema: string({ max: 20 }) }

export const declared: Declarations = {
  collections: new Map<string, CollectionSpec<object>>([
    ['people', unsafeCast(people)],
    ['notes', unsafeCast(notes)],
  ]),
  streams: new Map([['journal', unsafeCast(journal)]]),
}

/**
 * Takes a root as a daemon does. `end` closes in order, `die` leaves it as a kill would: nothing is being written then,
 * so no watermark is written behind the test's back.
 */
export const holdRoot = async (root: string, on: Disk = disk, tuning: Partial<Tuning> = {}) => {
  const lock = await acquireLock({ root, clock, log: silent, disk: on })
  const opened = await openState({
    root,
    disk: on,
    clock,
    ids: createIds(clock),
    log: silent,
    publish: () => undefined,
    generation: lock.generation,
    rootId: lock.facts.root_id,
    tuning: { ballastBytes: 4096, freeBytes: 0, watermarkMs: 60_000, ...tuning },
  })
  const shapes = {
    people: opened.state.collection(people),
    notes: opened.state.collection(notes),
    journal: opened.state.stream(journal),
  }
  const report = await opened.load()
  return {
    ...opened,
    ...shapes,
    lock,
    report,
    end: async () => {
      await opened.close()
      await lock.release()
    },
    die: async () => {
      opened.halt('lock_lost')
      await opened.close()
      await lock.release()
    },
  }
}
export type HeldRoot = Awaited<ReturnType<typeof holdRoot>>

/** `n` notes, each with a line in the journal of its owner. */
export const writeNotes = (held: HeldRoot, from: number, count: number): Promise<void[]> =>
  Promise.all(
    Array.from({ length: count }, (_, at) =>
      held.state.commit((tx) => {
        tx.put(held.notes, note(from + at, { done: at % 2 === 0 }))
        tx.append(held.journal, at % 3 === 0 ? 'ann' : 'bob', `entry ${from + at}`)
      }),
    ),
  )

/** As a kill leaves it: pages up to a checkpoint, and twenty commits in the log behind them. */
export const keptRoot = async (t: ExecutionContext<any>): Promise<string> => {
  const root = tempRoot(t)
  const held = await holdRoot(root)
  await held.state.commit((tx) => tx.insert(held.people, { name: 'ann' }))
  await writeNotes(held, 1, 40)
  await held.state.commit((tx) => tx.remove(held.notes, 'n7', 'test'))
  await held.checkpoint()
  await writeNotes(held, 35, 20)
  await held.state.commit((tx) => tx.remove(held.notes, 'n9', 'test'))
  await held.state.document<{ theme: string }>('settings').write({ theme: 'dark' })
  await held.state.blobs('pictures').put(Buffer.from('a picture'))
  const spool = await held.state.spools('tasks').begin('ann')
  await spool.append(Buffer.from('what ann put out\n'))
  await spool.close()
  await held.die()
  return root
}
