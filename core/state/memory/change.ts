/** One operation of a commit: it is in memory already; it is durable when its line is on disk, or is undone. */
import { storageErrors } from '../storage-errors.js'

export interface Change {
  /** JSON of the operation as it goes into the log. */
  readonly op: string
  /** Takes it out of memory; called in reverse order of the changes. */
  undo(): void
  /** It is durable: the next checkpoint writes it. */
  onDurable(): void
}

/** What a record was before a change: in memory, or on its page alone. */
export interface Before<T> {
  readonly record: T
  readonly wasHot: boolean
}

/** What is known of an id that is written: the record that it has, or that no table has a row of it. */
export interface Known<T> {
  readonly before?: Before<T> | undefined
  readonly isNew?: boolean
}

/** JSON text of a value that is to be stored. */
export const serialise = (value: unknown): string => {
  try {
    const text: string | undefined = JSON.stringify(value)
    if (text !== undefined) return text
  } catch (cause) {
    throw storageErrors.commit_not_serialisable({ cause })
  }
  throw storageErrors.commit_not_serialisable()
}
