/** What retention has to know after a restart: one document, replaced whole. */
import { parse } from '../base/parse.js'
import { array, defaulted, integer, object, timestamp, type Infer } from '../base/schema.js'
import type { Log } from '../base/text/log.js'
import type { State } from '../state/contract.js'

const Stored = object({
  /** Sizes of the root, the oldest first. */
  samples: defaulted(array(object({ at_ms: timestamp(), bytes: integer({ min: 0 }) })), []),
})
export type Stored = Infer<typeof Stored>

export interface RetentionDocument {
  readonly value: Stored
  /** Keeps a change; where nothing can be written, until the daemon stops. */
  change(change: (value: Stored) => Stored): Promise<void>
}

const nothing: Stored = { samples: [] }

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
