/** What is wrong with one table in itself: with its order, its tree, its numbers, its groups or its filter. */
import { compareKeys, weightOf, widened, type Row, type SectionShape, type Span } from '../tables/rows.js'
import type { Block, TableFile } from '../tables/table-file.js'
import { mostGroups, type GroupInfo, type SectionInfo } from '../tables/table-format.js'

/** What the blocks of a section come to, as they are read in their order. */
class SectionCheck {
  readonly #file: TableFile
  readonly #shape: SectionShape
  readonly #visit: (row: Row) => void
  readonly #groups = new Map<string, { net: number; first: Row; last: Row }>()
  #rows = 0
  #net = 0
  #first: Row = []
  #before: Row | undefined
  #sorts: Span | undefined
  rule: string | undefined

  constructor(file: TableFile, shape: SectionShape, visit: (row: Row) => void) {
    this.#file = file
    this.#shape = shape
    this.#visit = visit
  }

  block({ rows, height, before, named }: Block): void {
    const { name, keyCells } = this.#shape
    const [first] = rows
    if (first === undefined) return this.#complain(`a block of section ${name} is empty`)
    if (before !== this.#net) this.#complain(`a node of section ${name} counts wrongly`)
    if (named !== undefined && compareKeys(named, first, keyCells) !== 0)
      this.#complain(`a node of section ${name} names another row`)
    if (height === 0) for (const row of rows) this.#row(row)
  }

  finish(info: SectionInfo): void {
    const { name, keyCells } = this.#shape
    const ends = [info.first, this.#first, info.last, this.#before ?? []] as const
    const isBetween = compareKeys(ends[0], ends[1], keyCells) === 0 && compareKeys(ends[2], ends[3], keyCells) === 0
    if (this.#rows !== info.rows || this.#net !== info.net || !isBetween)
      this.#complain(`section ${name} is not as long as it says`)
    if (info.groups !== null && !this.#areGroups(info.groups)) this.#complain(`groups of section ${name} are wrong`)
    if (info.sorts !== undefined && !this.#areSorts(info.sorts))
      this.#complain(`sort keys of section ${name} are others`)
  }

  #row(row: Row): void {
    const { name, keyCells } = this.#shape
    const before = this.#before
    if (before !== undefined && compareKeys(before, row, keyCells) >= 0)
      this.#complain(`rows of section ${name} are not in order`)
    if (before === undefined) this.#first = row
    if (before === undefined || before[0] !== row[0]) this.#begin(String(row[0]))
    const net = weightOf(this.#shape, row)
    this.#rows += 1
    this.#net += net
    this.#before = row
    this.#count(row, net)
    this.#visit(row)
  }

  /** A row of an id, an owner or a group that the rows before do not have. */
  #begin(first: string): void {
    const { name } = this.#shape
    if (!this.#file.mayHave(this.#shape, first)) this.#complain(`the filter does not know a row of section ${name}`)
  }

  #count(row: Row, net: number): void {
    if (this.#shape.keyCells !== 3) return
    this.#sorts = widened(this.#sorts, row[1] ?? '')
    if (this.#groups.size > mostGroups) return
    const group = String(row[0])
    const known = this.#groups.get(group)
    if (known === undefined) this.#groups.set(group, { net, first: row, last: row })
    else {
      known.net += net
      known.last = row
    }
  }

  #areSorts([least, greatest]: Span): boolean {
    return this.#sorts !== undefined && least === this.#sorts[0] && greatest === this.#sorts[1]
  }

  #areGroups(told: Readonly<Record<string, GroupInfo>>): boolean {
    const { keyCells } = this.#shape
    const names = Object.keys(told)
    return (
      names.length === this.#groups.size &&
      names.every((name) => {
        const [is, found] = [told[name], this.#groups.get(name)]
        return (
          is !== undefined &&
          is.net === found?.net &&
          compareKeys(is.first, found.first, keyCells) === 0 &&
          compareKeys(is.last, found.last, keyCells) === 0
        )
      })
    )
  }

  #complain(rule: string): void {
    this.rule ??= rule
  }
}

/** Calls `visit` with every row of a section in order; the first rule that it breaks. */
export const brokenRule = (file: TableFile, shape: SectionShape, visit: (row: Row) => void): string | undefined => {
  const info = file.info(shape)
  if (info === undefined) return undefined
  const check = new SectionCheck(file, shape, visit)
  for (const block of file.blocks(shape)) check.block(block)
  check.finish(info)
  return check.rule
}
