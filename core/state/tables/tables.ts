/**
 * The tables of one collection or stream, from the oldest to the newest. A
 * checkpoint adds one, which takes the newest of the others with it when they
 * have become many; none is ever changed.
 */
import type { TableRef } from '../format/manifest.js'
import { merged } from './merge.js'
import { isRemoval, weightOf, type Row, type SectionShape } from './rows.js'
import { SectionTables, type GroupRange } from './section-tables.js'
import type { TableFile } from './table-file.js'

export class Tables {
  readonly #open: (ref: TableRef) => TableFile
  #files: readonly TableFile[] = []
  readonly #sections = new Map<string, SectionTables>()

  constructor(open: (ref: TableRef) => TableFile) {
    this.#open = open
  }

  get files(): readonly TableFile[] {
    return this.#files
  }

  /** Tables that are known already stay open. Throws `storage_damaged` where a footer is not as it was written. */
  use(refs: readonly TableRef[]): void {
    const known = new Map(this.#files.map((file) => [file.ref.no, file]))
    this.#files = refs.map((ref) => known.get(ref.no) ?? this.#open(ref))
    this.#sections.clear()
  }

  /** Some of the tables, or others that were just written, the oldest first. */
  of(files: readonly TableFile[]): Tables {
    const some = new Tables(this.#open)
    some.#files = files
    return some
  }

  /** Opens one that was just written. */
  open(ref: TableRef): TableFile {
    return this.#open(ref)
  }

  /** Whether a key is there, by its rows in all tables. */
  has(shape: SectionShape, key: Row): boolean {
    if (shape.rule === 'newest') return this.find(shape, key) !== undefined
    return this.#files.reduce((sum, file) => sum + weightIn(file, shape, key), 0) > 0
  }

  /** The newest row of a key that is no removal. */
  find(shape: SectionShape, key: Row): Row | undefined {
    for (let at = this.#files.length - 1; at >= 0; at -= 1) {
      const row = this.#files[at]?.find(shape, key)
      if (row !== undefined) return isRemoval(shape, row) ? undefined : row
    }
    return undefined
  }

  /** The last row whose first cells are these, where rows of a newer table are behind those of the older. */
  findLast(shape: SectionShape, prefix: Row): Row | undefined {
    for (let at = this.#files.length - 1; at >= 0; at -= 1) {
      const row = this.#files[at]?.findLast(shape, prefix)
      if (row !== undefined) return row
    }
    return undefined
  }

  /** Every row of a section in order. */
  all(shape: SectionShape): Generator<Row> {
    const sources = this.#files.map((file) => ({ least: undefined, runs: () => file.runs(shape, { order: 'asc' }) }))
    return merged(sources, shape, { order: 'asc' })
  }

  /** How many rows a group of a section has; with `beyond` those behind that sort key. */
  count(shape: SectionShape, group: string, beyond?: string): number {
    const section = this.#section(shape)
    return beyond === undefined ? section.count(group) : section.countBeyond(group, beyond)
  }

  /** Groups of a section, in order; some have no row any more. */
  groups(shape: SectionShape): Iterable<string> {
    return this.#section(shape).groups()
  }

  /** Rows of a group in order. */
  range(shape: SectionShape, range: GroupRange): Iterable<Row> {
    return this.#section(shape).range(range)
  }

  #section(shape: SectionShape): SectionTables {
    const known = this.#sections.get(shape.name)
    if (known !== undefined) return known
    const section = new SectionTables(shape, this.#files)
    this.#sections.set(shape.name, section)
    return section
  }
}

const weightIn = (file: TableFile, shape: SectionShape, key: Row): number => {
  const row = file.find(shape, key)
  return row === undefined ? 0 : weightOf(shape, row)
}
