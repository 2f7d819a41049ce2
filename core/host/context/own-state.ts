/**
 * The state as one plugin has it: what it declares is its own, its commits are charged to it, and after its stop it
 * changes nothing any more.
 */
import type { Problem } from '../../base/errors.js'
import type { Blobs, Collection, Document, Fall, Retention, Spools, State, Stream, Tx } from '../../state/contract.js'
import type { EventKeys, EventSpec } from '../../events/contract.js'
import type { Json, JsonObject } from '../../base/schema.js'
import { errors } from '../errors.js'
import type { Faults } from './faults.js'
import type { Registry } from './registry.js'
import type { Scope } from './scope.js'

export interface OwnStateParts {
  /** Id of the plugin. */
  readonly owner: string
  readonly state: State
  readonly scope: Scope
  readonly registry: Registry
  readonly faults: Faults
}

/** Rejects work that comes too late, and charges it: whoever asks for it runs on although its plugin was stopped. */
type Late = <T>(what: string) => Promise<T> | undefined

const lateness =
  ({ owner, scope, faults }: OwnStateParts): Late =>
  (what) => {
    if (!scope.ended) return undefined
    const problem: Problem = errors.plugin_ended({ details: { plugin: owner, what } })
    faults.charge(owner, `${what} after its stop`, problem)
    return Promise.reject(problem)
  }

const ownDocument = <T extends JsonObject>(document: Document<T>, late: Late): Document<T> => ({
  path: document.path,
  read: () => document.read(),
  write: (value) => late<void>('a document') ?? document.write(value),
})

const ownBlobs = (blobs: Blobs, late: Late): Blobs => ({
  ...blobs,
  put: (bytes, named) => late<Awaited<ReturnType<Blobs['put']>>>('a blob') ?? blobs.put(bytes, named),
  remove: (ref) => late<void>('a removal of a blob') ?? blobs.remove(ref),
})

const ownSpools = (spools: Spools, late: Late): Spools => ({
  ...spools,
  begin: (owner) => late<Awaited<ReturnType<Spools['begin']>>>('a spool') ?? spools.begin(owner),
  remove: (owner) => late<void>('a removal of a spool') ?? spools.remove(owner),
  keepOnly: (owners) => late<number>('a removal of spools') ?? spools.keepOnly(owners),
})

const ownRetention = ({ owner, state: { retention }, faults }: OwnStateParts, late: Late): Retention => ({
  declared: () => retention.declared(),
  bounded: () => retention.bounded(),
  kinds: () => retention.kinds(),
  closeAt: (kind, limits) => retention.closeAt(kind, limits),
  heldBy: (kind) => retention.heldBy(kind),
  isLeaving: (path) => retention.isLeaving(path),
  beside: (kind) => retention.beside(kind),
  withRoom: (work) => retention.withRoom(work),
  preview: (kind, upto) => retention.preview(kind, upto),
  freeUpto: (kind, upto) => retention.freeUpto(kind, upto),
  contents: (fall, read) => retention.contents(fall, read),
  checkpoint: (closing) => late<boolean>('a checkpoint') ?? retention.checkpoint(closing),
  fall: (told) => late<Fall>('a fall') ?? retention.fall(told),
  onFall: (listener) =>
    retention.onFall((kind) => void faults.guard(owner, 'hearing of a fall', () => listener(kind))()),
})

/** A transaction whose effects are charged to the plugin if they throw. */
class OwnTx implements Tx {
  readonly now: number
  readonly #tx: Tx
  readonly #parts: OwnStateParts

  constructor(tx: Tx, parts: OwnStateParts) {
    this.now = tx.now
    this.#tx = tx
    this.#parts = parts
  }

  insert<T extends object>(collection: Collection<T>, record: T): void {
    this.#tx.insert(collection, record)
  }

  put<T extends object>(collection: Collection<T>, record: T): void {
    this.#tx.put(collection, record)
  }

  remove<T extends object>(collection: Collection<T>, id: string, reason: string): void {
    this.#tx.remove(collection, id, reason)
  }

  append<E extends Json>(stream: Stream<E>, owner: string, entry: E): number {
    return this.#tx.append(stream, owner, entry)
  }

  emit<D extends object>(event: EventSpec<D>, keys: EventKeys, data: () => D): void {
    this.#tx.emit(event, keys, data)
  }

  tryPart<R>(part: () => R): R {
    return this.#tx.tryPart(part)
  }

  after(effect: () => void): void {
    const { owner, faults } = this.#parts
    this.#tx.after(faults.guard(owner, 'an effect of a commit', effect))
  }
}

export const ownState = (parts: OwnStateParts): State => {
  const { owner, state, registry } = parts
  const late = lateness(parts)
  const claim = (kind: string, name: string): void => registry.claim(owner, kind, name)
  return {
    collection: (spec) => {
      claim('collection', spec.name)
      return state.collection(spec)
    },
    stream: (spec) => {
      claim('stream', spec.name)
      return state.stream(spec)
    },
    document: <T extends JsonObject>(name: string) => {
      claim('document', name)
      return ownDocument(state.document<T>(name), late)
    },
    blobs: (area) => {
      claim('blob area', area)
      return ownBlobs(state.blobs(area), late)
    },
    spools: (area) => {
      claim('spool area', area)
      return ownSpools(state.spools(area), late)
    },
    commit: <R>(change: (tx: Tx) => R) => late<R>('a commit') ?? state.commit((tx) => change(new OwnTx(tx, parts))),
    durable: (since) => state.durable(since),
    retention: ownRetention(parts, late),
    get health() {
      return state.health
    },
  }
}
