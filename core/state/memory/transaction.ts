/** `commit`: runs a change against the state, collects what it did, and hands one line to the log. */
import { assert, fault } from '../../base/assert.js'
import type { Clock } from '../../base/clock.js'
import type { Publication } from '../../events/contract.js'
import type { Json } from '../../base/schema.js'
import type { Log } from '../../base/log.js'
import type { Change } from './change.js'
import type { CommitLog, Pending } from '../log/commit-log.js'
import type { Collection, Stream, Tx } from '../contract.js'
import { storageErrors } from '../storage-errors.js'
import type { StorageMode } from '../disk/storage-mode.js'
import type { StoredCollection } from './collection.js'
import type { StoredStream } from './stream.js'

export type Publish = (publication: Publication) => void

export interface Shapes {
  collection<T extends object>(collection: Collection<T>): StoredCollection<T>
  stream<E extends Json>(stream: Stream<E>): StoredStream<E>
}

export interface TransactionOptions {
  readonly shapes: Shapes
  readonly commits: () => CommitLog
  readonly mode: StorageMode
  readonly clock: Clock
  readonly log: Log
  readonly publish: Publish
  /** Most bytes of one line. */
  readonly longestLine: number
}

export interface Transactions {
  commit<R>(change: (tx: Tx) => R): Promise<R>
  durable(since?: number): Promise<void>
  /** The stamp of the last commit of an earlier life. */
  resumeAt(t: number): void
  /** Stamp of the last commit. */
  readonly last: number
}

interface Work {
  readonly changes: Change[]
  /** Each is told about how many bytes the commit keeps in memory. */
  readonly effects: ((bytes: number) => void)[]
}

/**
 * A clock that is set back by less is waited for, so that stamps stay in the order of commits. One that goes back
 * further was wrong before: what is stamped from now on has the right time.
 */
const farBack = 60_000
const stampAfter = (last: number, now: number): number => (now < last && last - now <= farBack ? last : now)

const undoAll = (changes: readonly Change[]): void => {
  for (const change of changes.toReversed()) change.undo()
}

export const createTransactions = ({
  shapes,
  commits,
  mode,
  clock,
  log,
  publish,
  longestLine,
}: TransactionOptions): Transactions => {
  let last = 0
  let open = false

  const createTx = (now: number, { changes, effects }: Work): Tx => {
    const live = (): void => assert(open, 'a transaction was used after its callback returned')
    const keep = (change: Change | undefined): void => {
      if (change !== undefined) changes.push(change)
    }
    return {
      now,
      insert: (collection, record) => {
        live()
        keep(shapes.collection(collection).insert(record))
      },
      put: (collection, record) => {
        live()
        keep(shapes.collection(collection).put(record))
      },
      remove: (collection, id, reason) => {
        live()
        keep(shapes.collection(collection).remove(id, reason))
      },
      append: (stream, owner, entry) => {
        live()
        const { seq, change } = shapes.stream(stream).append(owner, entry)
        changes.push(change)
        return seq
      },
      emit: (event, keys, data) => {
        live()
        effects.push((bytes) => publish({ name: event.name, keys, data, bytes }))
      },
      after: (effect) => {
        live()
        effects.push(effect)
      },
    }
  }
  const runEffects = (effects: Work['effects'], bytes: number): void => {
    for (const effect of effects) {
      try {
        effect(bytes)
      } catch (error) {
        log.error('an effect of a commit threw', { error })
      }
    }
  }
  const textOf = (now: number, changes: readonly Change[]): string | undefined => {
    if (changes.length === 0) return undefined
    const text = `"t":${now},"ops":[${changes.map((change) => change.op).join(',')}]`
    const bytes = text.length * 3 < longestLine ? 0 : Buffer.byteLength(text)
    if (bytes > longestLine) throw storageErrors.commit_too_large({ members: { limit_bytes: longestLine } })
    return text
  }
  /** Runs the callback; what it did is undone if it throws. */
  const perform = <R>(change: (tx: Tx) => R, now: number, work: Work): { result: R; text: string | undefined } => {
    open = true
    try {
      const result = change(createTx(now, work))
      return { result, text: textOf(now, work.changes) }
    } catch (error) {
      undoAll(work.changes)
      throw error
    } finally {
      open = false
    }
  }
  const enqueue = <R>(result: R, text: string | undefined, { changes, effects }: Work): Promise<R> =>
    new Promise((resolve, reject) => {
      const settle = (): void => {
        for (const change of changes) change.onDurable()
        runEffects(effects, text?.length ?? 0)
        resolve(result)
      }
      const pending: Pending = { text, settle, undo: () => undoAll(changes), reject }
      commits().push(pending)
    })
  const begin = async <R>(change: (tx: Tx) => R): Promise<R> => {
    if (!mode.takesChanges) throw mode.problem()
    const now = stampAfter(last, clock.now())
    const work: Work = { changes: [], effects: [] }
    const { result, text } = perform(change, now, work)
    last = now
    return enqueue(result, text, work)
  }
  /** Inside another's callback it throws at once, so that the outer commit is undone too. */
  const commit = <R>(change: (tx: Tx) => R): Promise<R> => {
    if (open) throw fault('a commit was started inside the callback of another')
    return begin(change)
  }
  const durable = (since?: number): Promise<void> => {
    if (since !== undefined && since !== commits().undone)
      return Promise.reject(storageErrors.storage_write_failed({ retryAfter: 5 }))
    return commits().idle ? Promise.resolve() : enqueue(undefined, undefined, { changes: [], effects: [] })
  }
  return {
    commit,
    durable,
    resumeAt: (t) => {
      last = t
    },
    get last() {
      return last
    },
  }
}
