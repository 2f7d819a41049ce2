/** A real root with one of everything: pages, tombstones, streams, a log behind them, a document and a blob. */
import type { ExecutionContext } from 'ava'
import { object, string, boolean, unsafeCast } from '../../core/base/schema.js'
import type { CollectionSpec, StreamSpec } from '../../core/state/contract.js'
import type { Disk } from '../../core/state/disk/disk.js'
import type { Tuning } from '../../core/state/tuning.js'
import type { Declarations } from '../../core/state/inspect/verify.js'
import { note, notesSpec, tempRoot, type Note } from './notes.js'
import { clock, disk, takeRoot } from './taken-root.js'

export { clock, disk }
/** Files that grow can only be read in pieces on it, as if each were larger than a buffer can be (A6). */
export const smallReads: Disk = {
  ...disk,
  readFile: (path) => {
    if (/\/(blobs|data|streams|log)\//u.test(path)) throw new Error(`${path} was read whole`)
    return disk.readFile(path)
  },
}

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

/** Takes a root as a daemon does. */
export const holdRoot = async (root: string, on: Disk = disk, tuning: Partial<Tuning> = {}) => {
  const taken = await takeRoot(root, { on, tuning })
  const shapes = {
    people: taken.state.collection(people),
    notes: taken.state.collection(notes),
    journal: taken.state.stream(journal),
  }
  const report = await taken.load()
  return { ...taken, ...shapes, report }
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
