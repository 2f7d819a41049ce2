/** The declared collections and streams, and what the log says about them. */
import { assert, fault } from '../../base/assert.js'
import { unsafeCast, type Json } from '../../base/schema.js'
import { createCollection } from '../memory/collection.js'
import type { Hands } from '../memory/hands.js'
import { forgets } from '../memory/removals.js'
import type { StoredCollection } from '../memory/stored-collection.js'
import type { Collection, CollectionSpec, Stream, StreamSpec } from '../contract.js'
import { isName } from '../format/layout.js'
import type { LogLine, Op } from '../format/segment.js'
import { createStream, type StoredStream } from '../memory/stream.js'
import type { PageStores } from '../pages/page-stores.js'
import type { Shapes } from '../memory/transaction.js'

export interface Store extends Shapes {
  declareCollection<T extends object>(spec: CollectionSpec<T>): Collection<T>
  declareStream<E extends Json>(spec: StreamSpec<E>): Stream<E>
  /**
   * Loads what the checkpoint holds of everything declared, and of the collections and streams that are `there` though
   * nobody declared them. No declaration after this.
   */
  load(there: { readonly collections: readonly string[]; readonly streams: readonly string[] }): Promise<void>
  /** Applies one line of the log; the rule it breaks, if any. */
  apply(line: LogLine): string | undefined
  readonly collections: ReadonlyMap<string, StoredCollection<object>>
  readonly streams: ReadonlyMap<string, StoredStream<Json>>
}

/** Nobody declared it: its records are kept as they are, by the id that the log names. */
const undeclared = (name: string): CollectionSpec<object> => ({
  name,
  version: 0,
  indexes: {},
  id: () => {
    throw fault(`collection ${name} is not declared`)
  },
})

export interface StoreParts {
  readonly pageStores: PageStores
  /** When the root was made, Unix ms; 0: nobody knows. */
  readonly madeAt: number
  readonly hands: Hands
}

export const createStore = ({ pageStores, madeAt, hands }: StoreParts): Store => {
  const collections = new Map<string, StoredCollection<object>>()
  const streams = new Map<string, StoredStream<Json>>()
  let frozen = false

  const addCollection = <T extends object>(spec: CollectionSpec<T>, isDeclared: boolean): StoredCollection<T> => {
    assert(isName(spec.name), `${spec.name} is no name for a collection`)
    assert(!collections.has(spec.name), `collection ${spec.name} is declared twice`)
    assert(
      !forgets(spec) || spec.kept === undefined,
      `collection ${spec.name} forgets what is removed and is of a kind`,
    )
    const made = createCollection(spec, pageStores.makeRecords(spec, isDeclared), { madeAt, hands })
    collections.set(spec.name, unsafeCast(made))
    return made
  }
  const addStream = <E extends Json>(spec: StreamSpec<E>, isDeclared: boolean): StoredStream<E> => {
    assert(isName(spec.name), `${spec.name} is no name for a stream`)
    assert(!streams.has(spec.name), `stream ${spec.name} is declared twice`)
    const made = createStream(spec, pageStores.makeEntries(spec, isDeclared), hands)
    streams.set(spec.name, unsafeCast(made))
    return made
  }
  const applyOp = (op: Op): string | undefined => {
    if (op[0] === 'app') {
      const stream = streams.get(op[1]) ?? addStream({ name: op[1], version: 0 }, false)
      return stream.replay(op[2], op[3], op[4])
        ? undefined
        : `entry ${op[3]} of stream ${op[1]} does not follow ${stream.length(op[2])}`
    }
    const collection = collections.get(op[1]) ?? addCollection(undeclared(op[1]), false)
    if (op[0] === 'put') collection.replayPut(op[2], op[3])
    else if (op[0] === 'rem') collection.replayForget(op[2])
    else collection.replayRemove(op[2], op[3])
    return undefined
  }
  const apply = ({ ops }: LogLine): string | undefined => {
    for (const op of ops) {
      const broken = applyOp(op)
      if (broken !== undefined) return broken
    }
    return undefined
  }
  const declarable = (): void => assert(!frozen, 'collections and streams are declared before the state is loaded')
  return {
    collections,
    streams,
    apply,
    declareCollection: (spec) => {
      declarable()
      return addCollection(spec, true)
    },
    declareStream: (spec) => {
      declarable()
      return addStream(spec, true)
    },
    load: async (there) => {
      for (const name of there.collections) if (!collections.has(name)) addCollection(undeclared(name), false)
      for (const name of there.streams) if (!streams.has(name)) addStream({ name, version: 0 }, false)
      frozen = true
      pageStores.carryOver()
      for (const collection of collections.values()) await pageStores.loadRecords(collection)
      for (const name of streams.keys()) await pageStores.loadEntries(name)
    },
    collection: (collection) => unsafeCast(collection),
    stream: (stream) => unsafeCast(stream),
  }
}
