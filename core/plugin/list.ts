/** A list that operators keep in a file, applied while the daemon runs, entry by entry. */
import type { JsonObject, StructOf } from '../base/schema.js'

/**
 * The list of a plugin: the tables `[table.name]` of `config/<file>.toml`, or arrays of tables, and `beside` them what
 * the plugin says, else nothing. In the file of the plugin's own configuration the table is a field of that too,
 * `record(entry)`: a start reads the whole file strictly.
 */
export interface ListSpec<T = unknown, B = unknown> {
  /** The file's name without `.toml`, such as `routes`; of files of configuration the plugin's own alone. */
  readonly file: string
  /** Such as `routes`. Absent where entries stand in arrays. */
  readonly table?: string
  /**
   * Entries that stand in arrays of tables, `[[slack_connectors]]`, each with its name in the member `name`: their
   * names are `<array>/<name>`. A file of such a list has nothing else.
   */
  readonly arrays?: { readonly of: readonly string[]; readonly name: string }
  /** A flag that names a file to be read in place of that in `config/`, and what it names: a path, if it is given. */
  readonly from?: { readonly flag: string; readonly path: string | undefined }
  readonly summary: string
  readonly entry: StructOf<T>
  /**
   * The members that the file has beside its tables, applied all together. In the file of a configuration they are all
   * of its other fields.
   */
  readonly beside?: StructOf<B>
  /**
   * True of an entry that no start may leave out: if it is wrong then, the plugin does not register, nor with a file
   * that cannot be read at all: nobody knows what is in it.
   */
  isVital?(value: JsonObject): boolean
  /**
   * What is wrong with an entry that fits its struct, without quoting it; undefined if nothing is. `beside` is what
   * stands beside it, undefined before that was right. Must do no I/O.
   */
  fault?(name: string, entry: T, beside?: B): string | undefined
  /** How many entries may be in force that are for the same. One beyond is wrong; those in force keep their places. */
  readonly bound?: {
    readonly most: number
    /** What an entry is for, such as a moment. */
    of(entry: T): string
  }
}
/** Checks the types of a list and returns it. */
export const defineList = <T, B = unknown>(list: ListSpec<T, B>): ListSpec<T, B> => list

/** The entries in force. */
export interface List<T, B = unknown> {
  /** How the file that is read is called: such as `config/mcp.toml`, or the path that a flag names in its place. */
  readonly source: string
  /** In words, that a flag names the file and it is not there: that is a slip, which looks like an empty one. */
  missing(): string | undefined
  /** By name, in the order of the file. */
  all(): ReadonlyMap<string, T>
  /** What stands beside them; undefined before a file was right. */
  beside(): B | undefined
  /**
   * What is wrong, without quoting it: by the name of an entry, with the file as a whole under the empty one, with what
   * stands beside the entries under `=`.
   */
  wrong(): ReadonlyMap<string, string>
  /** The line of the file that a fault of an entry is about, by the member that it begins with; undefined for none. */
  lineOf(name: string, fault: string): number | undefined
  /**
   * Calls back with the names of the entries that were added, changed or removed; none if only what stands beside them
   * was. Returns its undo.
   */
  onChange(listener: (names: readonly string[]) => void): () => void
}

/** What a saved file did to one entry that is in force, or to what stands beside them, which bears the file's name. */
export interface EntryChange {
  readonly name: string
  /** `moved`: it is as it was, and stands elsewhere among those that were there before. */
  readonly change: 'added' | 'changed' | 'moved' | 'removed'
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
