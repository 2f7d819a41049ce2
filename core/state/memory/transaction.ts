/** `commit`: runs a change against the state, collects what it did, and hands one line to the log. */
import { assert, fault } from '../../base/assert.js'
import type { Clock } from '../../base/clock.js'
import type { EventKeys, EventSpec, Publication } from '../../events/contract.js'
import type { Json } from '../../base/schema.js'
import type { Log } from '../../base/text/log.js'
import type { Change } from './change.js'
import type { CommitLog } from '../log/commit-log.js'
import { LineSize } from './line-size.js'
import { forgets } from './removals.js'
import type { Collection, Stream, Tx } from '../contract.js'
import { storageErrors } from '../storage-errors.js'
import type { StorageMode } from '../disk/storage-mode.js'
import type { StoredCollection } from './stored-collection.js'
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
  /** The stamps of an earlier life: of the last commit, and the latest. */
  resumeAt(last: number, latest: number): void
  /** Stamp of the last commit. */
  readonly last: number
  /**
   * The latest stamp of all commits that may be in the log and were not when this was asked last: above the last where
   * the clock was set back.
   */
  takeLatest(): number
  /** What was taken is still in the log. */
  restoreLatest(latest: number): void
}

/**
 * A clock that is set back by less is waited for, so that stamps stay in the order of commits. One that goes back
 * further was wrong before: what is stamped from now on has the right time.
 */
const farBack = 60_000
const stampAfter = (last: number, now: number): number => (now < last && last - now <= farBack ? last : now)

const beginOf = (now: number): string => `"t":${now},"ops":[`

/** Is told how many bytes of the commit are each event's. */
type Effect = (bytes: number) => void

/** What a callback returned, and the line of the log that says what it did; none if it changed nothing. */
interface Filled<R> {
  readonly result: R
  readonly text: string | undefined
  readonly forgets: boolean
}

/** Of a line, what is left to the rest of the commit by a part that is tried: who made that did not ask for it. */
const leftByPart = 1 / 4

/** What one commit does: it is in memory at once, and taken back if the callback throws or the line is not written. */
class Transaction implements Tx {
  readonly now: number
  readonly #options: TransactionOptions
  readonly #changes: Change[] = []
  readonly #effects: Effect[] = []
  readonly #size: LineSize
  /** Bytes of the line that may be used now. */
  #most: number
  #events = 0
  #forgets = false
  #isOpen = true

  constructor(options: TransactionOptions, now: number) {
    this.#options = options
    this.now = now
    this.#most = options.longestLine
    this.#size = new LineSize(beginOf(now).length)
  }

  insert<T extends object>(collection: Collection<T>, record: T): void {
    this.#add(this.#shapes.collection(collection).insert(record))
    this.#forgets ||= forgets(collection.spec)
  }

  put<T extends object>(collection: Collection<T>, record: T): void {
    this.#add(this.#shapes.collection(collection).put(record))
    this.#forgets ||= forgets(collection.spec)
  }

  remove<T extends object>(collection: Collection<T>, id: string, reason: string): void {
    const change = this.#shapes.collection(collection).remove(id, reason)
    if (change === undefined) return
    this.#add(change)
    this.#forgets ||= forgets(collection.spec)
  }

  append<E extends Json>(stream: Stream<E>, owner: string, entry: E): number {
    const { seq, change } = this.#shapes.stream(stream).append(owner, entry)
    this.#add(change)
    return seq
  }

  emit<D extends object>(event: EventSpec<D>, keys: EventKeys, data: () => D): void {
    this.#events += 1
    this.after((bytes) => this.#options.publish({ name: event.name, keys, data, bytes }))
  }

  after(effect: Effect): void {
    this.#requireOpen()
    this.#effects.push(effect)
  }

  tryPart<R>(part: () => R): R {
    const [changes, effects, events, forgot] = [this.#changes.length, this.#effects.length, this.#events, this.#forgets]
    const [most, shrink] = [this.#most, this.#size.mark()]
    this.#most = this.#options.longestLine * (1 - leftByPart)
    try {
      return part()
    } catch (error) {
      this.#undoFrom(changes)
      shrink()
      this.#effects.length = effects
      this.#events = events
      this.#forgets = forgot
      throw error
    } finally {
      this.#most = most
    }
  }

  /** Runs the callback; what it did is undone if it throws. */
  fill<R>(change: (tx: Tx) => R): Filled<R> {
    try {
      return { result: change(this), text: this.#text(), forgets: this.#forgets }
    } catch (error) {
      this.undo()
      throw error
    } finally {
      this.#isOpen = false
    }
  }

  undo(): void {
    this.#undoFrom(0)
  }

  /** The line is on disk. */
  settle(bytes: number): void {
    for (const change of this.#changes) change.onDurable()
    const share = Math.ceil(bytes / Math.max(1, this.#events))
    for (const effect of this.#effects) this.#run(effect, share)
  }

  /** What has no room any more is taken back, and throws. */
  #add(change: Change): void {
    if (this.#size.add(this.#changes, change, this.#most)) return void this.#changes.push(change)
    change.undo()
    throw storageErrors.commit_too_large({ members: { limit_bytes: this.#options.longestLine } })
  }

  #undoFrom(from: number): void {
    for (const change of this.#changes.splice(from).toReversed()) change.undo()
  }

  get #shapes(): Shapes {
    this.#requireOpen()
    return this.#options.shapes
  }

  #requireOpen(): void {
    assert(this.#isOpen, 'a transaction was used after its callback returned')
  }

  #text(): string | undefined {
    if (this.#changes.length === 0) return undefined
    // Joined with what stands around them: that is one copy.
    const parts = this.#changes.map(({ op }) => op)
    parts[0] = `${beginOf(this.now)}${parts[0]}`
    parts.push(`${parts.pop()}]`)
    return parts.join(',')
  }

  #run(effect: Effect, bytes: number): void {
    try {
      effect(bytes)
    } catch (error) {
      this.#options.log.error('an effect of a commit threw', { error })
    }
  }
}

class Committer implements Transactions {
  readonly #options: TransactionOptions
  #last = 0
  /** Since it was taken last, and before: what was queued then is in the log since. */
  #latest = 0
  #before = 0
  #isOpen = false

  constructor(options: TransactionOptions) {
    this.#options = options
  }

  get last(): number {
    return this.#last
  }

  takeLatest(): number {
    const latest = Math.max(this.#before, this.#latest)
    this.#before = this.#latest
    this.#latest = this.#last
    return latest
  }

  restoreLatest(latest: number): void {
    this.#before = Math.max(this.#before, latest)
  }

  resumeAt(last: number, latest: number): void {
    this.#last = last
    this.#latest = latest
  }

  /** Inside another's callback it throws at once, so that the outer commit is undone too. */
  commit<R>(change: (tx: Tx) => R): Promise<R> {
    if (this.#isOpen) throw fault('a commit was started inside the callback of another')
    return this.#perform(change)
  }

  durable(since?: number): Promise<void> {
    const commits = this.#options.commits()
    if (since !== undefined && since !== commits.undone)
      return Promise.reject(storageErrors.storage_write_failed({ retryAfter: 5 }))
    if (commits.idle) return Promise.resolve()
    return new Promise((resolve, reject) => {
      commits.push({ text: undefined, forgets: false, settle: resolve, undo: () => {}, reject })
    })
  }

  async #perform<R>(change: (tx: Tx) => R): Promise<R> {
    const { mode, clock } = this.#options
    if (!mode.takesChanges) throw mode.problem()
    const transaction = new Transaction(this.#options, stampAfter(this.#last, clock.now()))
    const filled = this.#fill(transaction, change)
    this.#last = transaction.now
    this.#latest = Math.max(this.#latest, transaction.now)
    return this.#enqueue(transaction, filled)
  }

  #fill<R>(transaction: Transaction, change: (tx: Tx) => R): Filled<R> {
    this.#isOpen = true
    try {
      return transaction.fill(change)
    } finally {
      this.#isOpen = false
    }
  }

  #enqueue<R>(transaction: Transaction, { result, text, forgets: forgetting }: Filled<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        transaction.settle(text?.length ?? 0)
        resolve(result)
      }
      this.#options.commits().push({ text, forgets: forgetting, settle, undo: () => transaction.undo(), reject })
    })
  }
}

export const createTransactions = (options: TransactionOptions): Transactions => new Committer(options)
