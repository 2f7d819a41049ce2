/** The daemon's one event bus. Rules: docs/rules/events.md. */
import type { StructOf } from '../base/schema.js'

/** A kind of event. `name` is the SSE event name and the `type` member of its data. */
export interface EventSpec<D extends object> {
  readonly name: string
  readonly summary: string
  readonly data: StructOf<D>
}
/** Checks the type of an event kind and returns it. */
export const defineEvent = <D extends object>(spec: EventSpec<D>): EventSpec<D> => Object.freeze(spec)

/** What a filtered stream selects by: scope name to id, such as `{ session: 's1', run: 'r1' }`. */
export type EventKeys = Readonly<Record<string, string>>

/** One event as it stands in the replay window. */
export interface PublishedEvent {
  /** Decimal string: epoch × 2^32 + counter (events-5). */
  readonly id: string
  readonly name: string
  readonly keys: EventKeys
  /** The bare object with its `type`, serialised once. */
  json(): string
}

/** An event as the state hands it over. */
export interface Publication {
  readonly name: string
  readonly keys: EventKeys
  /** Called at most once, on first use. */
  readonly data: () => object
  /** About how many bytes the data keeps in memory. */
  readonly bytes: number
}

/** A view of the bus: events that carry this key, and also that of `within`. Absent: all events. */
export interface EventFilter {
  readonly scope: string
  readonly id: string
  readonly within?: { readonly scope: string; readonly id: string } | undefined
}

/** Text that leaves together: what came of one kind since the last time, joined. */
export interface DeltaPiece<K extends string> {
  readonly kind: K
  readonly text: string
  /** Unix ms. */
  readonly timestamp_ms: number
}
/** What a client has not been sent: it was slow, or came when that had been said. */
export interface DeltaLoss {
  /** Deltas. */
  readonly count: number
  /** UTF-16 code units of their text. */
  readonly chars: number
  /** Unix ms. */
  readonly timestamp_ms: number
}
/**
 * Texts that are shown while they are made, to those who ask with `?include=`, and are not kept: their frames are those
 * of an event, without an id, and come never again. The functions must not throw, and `data` must put text and time
 * into its value as they are.
 */
export interface DeltaSpec<S, K extends string, D extends object> {
  /** The word of `?include=`. */
  readonly include: string
  readonly event: EventSpec<D>
  readonly data: (subject: S, piece: DeltaPiece<K>) => D
  /** Tells one client what it has lost of the texts with the keys of the subject. */
  readonly lost: (subject: S, loss: DeltaLoss) => D
}
/** Checks the type of a kind of deltas and returns it. */
export const defineDeltas = <S, K extends string, D extends object>(spec: DeltaSpec<S, K, D>): DeltaSpec<S, K, D> =>
  Object.freeze(spec)

/** A piece of a text as it was written. */
export interface WrittenDelta<S, K extends string> {
  /** What the text was opened with. */
  readonly subject: S
  readonly kind: K
  readonly text: string
}

/** One text while it is made. */
export interface Deltas<K extends string> {
  /** Shows more of it. Costs next to nothing while nobody follows; never throws. */
  write(kind: K, text: string): void
  /** Shows what is left, before everything that is published from now on. What is written later is not shown. */
  close(): void
}

/** The bus, as a plugin sees it. */
export interface Events {
  /** For what is not state, such as traces. What follows from a commit uses `tx.emit`. */
  emit<D extends object>(event: EventSpec<D>, keys: EventKeys, data: () => D): void
  /**
   * Listens in this process. A listener that throws is charged to its plugin; others still run. While `wanted`, which
   * must be fast, says no, it is not told, and no data is made for it.
   */
  on<D extends object>(
    event: EventSpec<D>,
    listener: (data: D, keys: EventKeys) => void,
    listening?: { readonly wanted?: (() => boolean) | undefined },
  ): () => void
  /** A text that is made now, for those who follow what carries these keys. It must be closed. */
  openDeltas<S, K extends string, D extends object>(spec: DeltaSpec<S, K, D>, keys: EventKeys, subject: S): Deltas<K>
  /**
   * Listens in this process to texts while they are made, piece by piece as they are written. A listener that throws is
   * charged to its plugin. While `wanted`, which must be fast, says no, it is not told.
   */
  onDeltas<S, K extends string, D extends object>(
    spec: DeltaSpec<S, K, D>,
    listener: (piece: WrittenDelta<S, K>) => void,
    listening?: { readonly wanted?: (() => boolean) | undefined },
  ): () => void
  /** Events kept in the replay window after an id, oldest first. */
  since(id: string, filter?: EventFilter): PublishedEvent[]
}
