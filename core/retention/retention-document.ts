/** What retention has to know after a restart: one document, replaced whole. */
import { parse } from '../base/parse.js'
import {
  array,
  defaulted,
  doc,
  enums,
  integer,
  object,
  optional,
  record,
  string,
  timestamp,
  type Infer,
} from '../base/schema.js'
import type { Log } from '../base/text/log.js'
import type { State } from '../state/contract.js'

/** Something that fell. */
export const Fallen = object({
  at_ms: timestamp(),
  kind: string(),
  cause: doc(enums(['age', 'count', 'bytes']), 'Older than max_age, more than max_count, or room for max_bytes.'),
  from: doc(integer({ min: 0 }), 'Unix ms of the first change in it; 0: not known.'),
  to: doc(integer({ min: 0 }), 'Unix ms of the last change in it.'),
  records: doc(integer({ min: 0 }), 'Records that lead the kind.'),
  bytes: doc(integer({ min: 0 }), 'On disk.'),
  behind_bytes: doc(
    optional(integer({ min: 1 })),
    'Of what goes behind it by itself, such as debug evidence; absent: nothing does.',
  ),
  archive: optional(doc(string(), 'The file that keeps it.')),
})
export type Fallen = Infer<typeof Fallen>

const Stored = object({
  /** Sizes of the root, the oldest first. */
  samples: defaulted(
    array(
      object({ at_ms: timestamp(), bytes: integer({ min: 0 }), kinds: defaulted(record(integer({ min: 0 })), {}) }),
    ),
    [],
  ),
  /** Kinds of which something falls from some time after this moment on, and under which policy. */
  announced: defaulted(record(object({ at_ms: timestamp(), policy: string() })), {}),
  /** The last look. */
  looked_at_ms: defaulted(timestamp(), 0),
  /** The latest falls, the oldest first. */
  fallen: defaulted(array(Fallen), []),
})
export type Stored = Infer<typeof Stored>

export interface RetentionDocument {
  readonly value: Stored
  /** Keeps a change; where nothing can be written, until the daemon stops. */
  change(change: (value: Stored) => Stored): Promise<void>
}

const nothing: Stored = { samples: [], announced: {}, looked_at_ms: 0, fallen: [] }

const readStored = (state: State, log: Log): Stored => {
  const parsed = parse(Stored, state.document('retention').read() ?? {})
  if (parsed.ok) return parsed.value
  log.warn('what retention kept cannot be read: it begins anew')
  return nothing
}

/** Reads nothing before it is asked for: the state may not be loaded yet. */
export const openDocument = (state: State, log: Log): RetentionDocument => {
  let value: Stored | undefined
  const read = (): Stored => (value ??= readStored(state, log))
  return {
    get value() {
      return read()
    },
    async change(change) {
      value = change(read())
      await state
        .document<Stored>('retention')
        .write(value)
        .catch((error: unknown) => log.warn('what retention knows was not kept', { error }))
    },
  }
}
