/** A list that operators keep in a file, applied while the daemon runs, entry by entry. */
import type { JsonObject, StructOf } from '../base/schema.js'

/**
 * The list of a plugin: the tables `[table.name]` of `config/<file>.toml`, which has nothing else. In the file of the
 * plugin's own configuration the table is a field of that too, `record(entry)`: a start reads the whole file strictly.
 */
export interface ListSpec<T = unknown> {
  /** The file's name without `.toml`, such as `routes`; of files of configuration the plugin's own alone. */
  readonly file: string
  /** Such as `routes`. */
  readonly table: string
  readonly summary: string
  readonly entry: StructOf<T>
  /** True of an entry that no start may leave out: if it is wrong then, the plugin does not register. */
  isVital?(value: JsonObject): boolean
  /** What is wrong with an entry that fits its struct, without quoting it; undefined if nothing is. Must do no I/O. */
  fault?(name: string, entry: T): string | undefined
}
/** Checks the types of a list and returns it. */
export const defineList = <T>(list: ListSpec<T>): ListSpec<T> => list

/** The entries in force. */
export interface List<T> {
  /** By name, in the order of the file. */
  all(): ReadonlyMap<string, T>
  /** Calls back with the names of the entries that were added, changed or removed. Returns its undo. */
  onChange(listener: (names: readonly string[]) => void): () => void
}

/** What a saved file did to one entry that is in force. */
export interface EntryChange {
  readonly name: string
  readonly change: 'added' | 'changed' | 'removed'
  /** Names of its members that differ, of an added one all; no values. */
  readonly members: readonly string[]
}
/** What a saved file changed. */
export interface ListChange {
  /** Such as `mcp`, for `config/mcp.toml`. */
  readonly file: string
  /** At least one. */
  readonly entries: readonly EntryChange[]
}
