/** What is known of refreshes through restarts: that one was begun, and that one was refused. */
import {
  boolean,
  doc,
  integer,
  object,
  optional,
  string,
  timestamp,
  type CollectionSpec,
  type Infer,
  type State,
  type Tx,
} from '../../../../core/plugin.js'

const Mark = object({
  slot_ref: string(),
  version: doc(integer({ min: 1 }), 'Of the account that it is about: another one knows nothing of it.'),
  begun_at_ms: doc(timestamp(), 'When a refresh was begun whose answer is not stored.'),
  lost: doc(boolean(), 'An earlier answer never came, or the daemon ended before it was stored.'),
  refused: optional(doc(string(), 'The code that the authorization server refused with.')),
})
export type Mark = Infer<typeof Mark>

const marks: CollectionSpec<Mark> = {
  name: 'mcp_oauth_marks',
  version: 1,
  id: ({ slot_ref }) => slot_ref,
  indexes: { all: { group: () => 'all' } },
  removed: 'forgotten',
  bounded: { marks: 'one for each account whose refresh is under way or was refused' },
  schema: Mark,
}

/** A version of an account. */
export interface Place {
  readonly slot_ref: string
  readonly version: number
}

export interface Marks {
  find(place: Place): Mark | undefined
  begin(tx: Tx, place: Place): void
  /** No refresh is tried until the account has another version. */
  refuse(tx: Tx, place: Place, code: string): void
  clear(tx: Tx, slot_ref: string): void
  /** Those about versions that are gone. */
  stale(isThere: (place: Place) => boolean): readonly string[]
}

export const createMarks = (state: State): Marks => {
  const collection = state.collection(marks)
  const find = ({ slot_ref, version }: Place): Mark | undefined => {
    const mark = collection.find(slot_ref)
    return mark?.version === version ? mark : undefined
  }
  const clear = (tx: Tx, slot_ref: string): void => {
    if (collection.find(slot_ref) !== undefined) tx.remove(collection, slot_ref, 'it is settled')
  }
  return {
    find,
    begin(tx, { slot_ref, version }) {
      const lost = find({ slot_ref, version }) !== undefined
      tx.put(collection, { slot_ref, version, begun_at_ms: tx.now, lost })
    },
    refuse(tx, place, code) {
      const { begun_at_ms = tx.now, lost = false } = find(place) ?? {}
      const { slot_ref, version } = place
      tx.put(collection, { slot_ref, version, begun_at_ms, lost, refused: code })
    },
    clear,
    stale: (isThere) =>
      collection.ids('all', 'all').filter((slot_ref) => {
        const mark = collection.find(slot_ref)
        return mark !== undefined && !isThere(mark)
      }),
  }
}
