/** Writes one table. Nothing of it counts before the manifest names it. */
import { fault } from '../../base/assert.js'
import type { Pause } from '../../base/turns.js'
import type { Disk } from '../disk/disk.js'
import { createLineFile, type LineFile, type LineFileHeader } from '../format/line-file.js'
import type { TableRef } from '../format/manifest.js'
import { createBloomDraft, type BloomDraft } from './bloom.js'
import { compareKeys, packRows, weightOf, widened, type Row, type SectionShape, type Span } from './rows.js'
import { groupMember, mostGroups, type GroupInfo, type SectionInfo, type TableFooter } from './table-format.js'

export interface TableDraft {
  /** Adds a section: its rows in ascending order of their keys, some at a time. */
  section(shape: SectionShape, runs: Iterable<readonly Row[]>): Promise<void>
  finish(latest: string): Promise<TableRef>
  abandon(): Promise<void>
}

type Groups = Map<string, { net: number; first: Row; last: Row }>

interface TableParts {
  readonly file: LineFile
  readonly bloom: BloomDraft
  readonly blockRows: number
  readonly pause: Pause
}

export interface TableOptions {
  readonly no: number
  readonly header: LineFileHeader
  readonly mark: string
  /** Rows of a leaf, and children of a node. */
  readonly blockRows: number
  /** Called behind each leaf. */
  readonly pause: Pause
}

/** One section while its rows come. */
class SectionDraft {
  readonly #file: LineFile
  readonly #shape: SectionShape
  readonly #bloom: BloomDraft
  readonly #blockRows: number
  readonly #pause: Pause
  readonly #groups: Groups = new Map()
  #nodes: Row[] = []
  #batch: Row[] = []
  #rows = 0
  #net = 0
  #before = 0
  #first: Row = []
  #last: Row = []
  #group: string | undefined
  #sorts: Span | undefined

  constructor({ file, bloom, blockRows, pause }: TableParts, shape: SectionShape) {
    this.#file = file
    this.#shape = shape
    this.#bloom = bloom
    this.#blockRows = blockRows
    this.#pause = pause
  }

  async fill(runs: Iterable<readonly Row[]>): Promise<SectionInfo | undefined> {
    for (const run of runs)
      for (const row of run) {
        this.#add(row)
        if (this.#batch.length >= this.#blockRows) await this.#closeLeaf()
      }
    if (this.#batch.length > 0) await this.#closeLeaf()
    return this.#rows === 0 ? undefined : this.#finish()
  }

  /** Only rows of rising keys make a table: anything else would be found by chance. */
  #add(row: Row): void {
    const { name, keyCells } = this.#shape
    if (this.#rows === 0) this.#first = row.slice(0, keyCells)
    else if (compareKeys(this.#last, row, keyCells) >= 0) throw fault(`the rows of section ${name} are not in order`)
    this.#last = row
    this.#batch.push(row)
    this.#rows += 1
    const net = weightOf(this.#shape, row)
    this.#net += net
    this.#remember(row, net)
  }

  #remember(row: Row, net: number): void {
    const { name, keyCells } = this.#shape
    const group = String(row[0])
    const isNew = group !== this.#group
    this.#group = group
    if (isNew) this.#bloom.add(keyCells === 3 ? groupMember(name, group) : group)
    if (keyCells !== 3) return
    this.#sorts = widened(this.#sorts, row[1] ?? '')
    if (this.#groups.size > mostGroups) return
    const known = this.#groups.get(group)
    if (known === undefined) this.#groups.set(group, { net, first: row, last: row })
    else {
      known.net += net
      known.last = row
    }
  }

  async #closeLeaf(): Promise<void> {
    const rows = this.#batch
    this.#batch = []
    this.#nodes.push(this.#put(rows, this.#shape, this.#before))
    this.#before = this.#net
    if (this.#file.full) await this.#file.flush()
    await this.#pause()
  }

  /** Writes a block; returns the row that stands for it in the node above. */
  #put(rows: readonly Row[], shape: SectionShape, before: number): Row {
    const { offset, length } = this.#file.add(`{"rows":${packRows(rows, shape)}`)
    return [...(rows[0] ?? []).slice(0, this.#shape.keyCells), offset, length, before]
  }

  /** Nodes over nodes, until one is the root. */
  #finish(): SectionInfo {
    const { keyCells } = this.#shape
    let height = 0
    while (this.#nodes.length > 1) {
      const below = this.#nodes
      this.#nodes = []
      for (let at = 0; at < below.length; at += this.#blockRows) {
        const children = below.slice(at, at + this.#blockRows)
        this.#nodes.push(this.#put(children, this.#shape, Number(children[0]?.[keyCells + 2] ?? 0)))
      }
      height += 1
    }
    const [root = []] = this.#nodes
    const listed = keyCells === 3 && this.#groups.size <= mostGroups
    return {
      rows: this.#rows,
      net: this.#net,
      height,
      root: [Number(root[keyCells]), Number(root[keyCells + 1])],
      first: this.#first,
      last: this.#last.slice(0, keyCells),
      groups: listed ? this.#groupInfos() : null,
      ...(this.#sorts !== undefined && !listed && { sorts: this.#sorts }),
    }
  }

  #groupInfos(): Record<string, GroupInfo> {
    const { keyCells } = this.#shape
    return Object.fromEntries(
      Array.from(this.#groups, ([group, { net, first, last }]) => [
        group,
        { net, first: first.slice(0, keyCells), last: last.slice(0, keyCells) },
      ]),
    )
  }
}

export const createTable = async (
  disk: Disk,
  path: string,
  { no, header, mark, blockRows, pause }: TableOptions,
): Promise<TableDraft> => {
  const file = await createLineFile(disk, path, header)
  const bloom = createBloomDraft()
  const parts = { file, bloom, blockRows, pause }
  const sections: Record<string, SectionInfo> = {}
  let rows = 0
  return {
    async section(shape, runs) {
      const info = await new SectionDraft(parts, shape).fill(runs)
      if (info === undefined) return
      sections[shape.name] = info
      rows = Math.max(rows, info.rows)
    },
    async finish(latest) {
      const filter = file.add(`{"bloom":"${bloom.finish()}"`)
      const footer: TableFooter = { mark, sections, bloom: [filter.offset, filter.length], latest }
      const last = file.add(JSON.stringify(footer).slice(0, -1))
      await file.sync()
      await file.close()
      return { no, length: file.length, footer: last.offset, rows }
    },
    abandon: () => file.close().catch(() => undefined),
  }
}
