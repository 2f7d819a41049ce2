/**
 * Rows of tables: a key of one to three cells, then what is known of it. A row of nothing but its key is a removal.
 * Where rows are added up, one that stands again for what a table of an older partition has counts for nothing more.
 */

export type Cell = string | number
export type Row = readonly Cell[]

/** A part of a table that is sorted by its own key. */
export interface SectionShape {
  readonly name: string
  /** How many cells of a row are its key. */
  readonly keyCells: 1 | 2 | 3
  /**
   * How rows of one key in several tables are read: the `newest` counts; or each is one more or, as a removal, one less
   * of something that is there once or not at all.
   */
  readonly rule: 'newest' | 'net'
}

/** Names of the sections, by which a reader who knows no declaration knows their shapes. */
const fixedShapes: Readonly<Record<string, Omit<SectionShape, 'name'>>> = {
  ids: { keyCells: 1, rule: 'newest' },
  open: { keyCells: 1, rule: 'net' },
  extents: { keyCells: 2, rule: 'newest' },
}
/** The shape of a section by its name: `ids`, `open`, `extents`, or `by:` and the name of a declared index. */
export const shapeOf = (name: string): SectionShape => ({
  name,
  ...(fixedShapes[name] ?? { keyCells: 3, rule: 'net' }),
})

/** A place between rows: before or behind all of those whose keys begin so. */
export interface Bound {
  readonly key: Row
  readonly side: 'before' | 'behind'
}

/** The least and the greatest second cell of some rows. */
export type Span = readonly [Cell, Cell]
/** A span that has one more cell too. */
export const widened = (span: Span | undefined, cell: Cell): Span => {
  if (span === undefined) return [cell, cell]
  const [least, greatest] = span
  return cell < least ? [cell, greatest] : cell > greatest ? [least, cell] : span
}

/** Compares the first cells of two rows. */
export const compareKeys = (a: Row, b: Row, cells: number): number => {
  for (let at = 0; at < cells; at += 1) {
    const x = a[at]
    const y = b[at]
    if (x !== y) return (x ?? '') < (y ?? '') ? -1 : 1
  }
  return 0
}

/** Negative for a row before the bound, positive for one behind it. */
export const compareTo = (row: Row, { key, side }: Bound): number =>
  compareKeys(row, key, key.length) || (side === 'before' ? 1 : -1)

export const isRemoval = ({ keyCells }: SectionShape, row: Row): boolean => row.length === keyCells

/** What stands behind a key whose rows are added up, where it is there. */
export const there = 1
/** The same where the row of an older partition stays: this one stands in for it when that falls. */
export const thereAgain = 2

export const isAgain = ({ rule, keyCells }: SectionShape, row: Row): boolean =>
  rule === 'net' && row[keyCells] === thereAgain
/** What a row of a `net` section says of itself alone, whatever older tables have. */
export const asThere = ({ keyCells }: SectionShape, row: Row): Row => [...row.slice(0, keyCells), there]

/** What a row adds to the number of its kind: 1, 0 if it stands again for one that counts already, -1 for a removal. */
export const weightOf = (shape: SectionShape, row: Row): number =>
  isRemoval(shape, row) ? -1 : isAgain(shape, row) ? 0 : 1

/** The first of some rows that is behind the bound. */
export const positionOf = (rows: readonly Row[], bound: Bound): number => {
  let low = 0
  for (let high = rows.length; low < high;) {
    const middle = (low + high) >>> 1
    if (compareTo(rows[middle] ?? [], bound) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Rows as a line has them: a first cell that equals that of the row before is 0, and so is a sort key that equals the
 * id behind it.
 */
export const packRows = (rows: readonly Row[], { keyCells }: SectionShape): string => {
  let group: Cell | undefined
  const packed = rows.map((row) => {
    const [first, second, third] = row
    const isSame = first === group
    const isSorted = keyCells !== 3 || second !== third
    group = first
    if (!isSame && isSorted) return row
    const cells = row.slice()
    if (isSame) cells[0] = 0
    if (!isSorted) cells[1] = 0
    return cells
  })
  return JSON.stringify(packed)
}

export const unpackRows = (packed: readonly Row[], { keyCells }: SectionShape): readonly Row[] => {
  let group: Cell = ''
  return packed.map((row) => {
    const [first = '', second = '', third = ''] = row
    const isSame = first === 0
    const isSorted = keyCells !== 3 || second !== 0
    if (!isSame) group = first
    if (!isSame && isSorted) return row
    const cells = row.slice()
    cells[0] = group
    if (!isSorted) cells[1] = third
    return cells
  })
}
