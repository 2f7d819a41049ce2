/**
 * Whether the tables say exactly what the pages hold. Rows of any number are compared without being kept: by their
 * number, and by the sum of their digests, in which their order does not matter.
 */
import { createHash } from 'node:crypto'
import type { CollectionSpec } from '../contract.js'
import type { Fault } from '../format/line.js'
import { entryRow, extentOfLine, extentSection, type EntryLine } from '../pages/entry-codec.js'
import {
  fingerprints,
  idSection,
  indexSection,
  isSettled,
  openSection,
  placesIn,
  type RecordLine,
} from '../pages/record-codec.js'
import { compareKeys, isRemoval, shapeOf, weightOf, type Row, type SectionShape } from '../tables/rows.js'
import type { TableFile } from '../tables/table-file.js'
import type { Tables } from '../tables/tables.js'
import type { PagePlace, SurveyVisitor } from './survey.js'
import type { FindingKind } from './verify-findings.js'

type Report = (kind: FindingKind, fault: Fault) => void

/** Some rows, in any order. */
interface Sum {
  rows: number
  digest: bigint
}
type Sums = Map<string, Sum>

const digestOf = (row: Row): bigint => createHash('sha1').update(JSON.stringify(row)).digest().readBigUInt64LE()

const addTo = (sums: Sums, section: string, row: Row): void => {
  const sum = sums.get(section) ?? { rows: 0, digest: 0n }
  sums.set(section, sum)
  sum.rows += 1
  sum.digest = BigInt.asUintN(64, sum.digest + digestOf(row))
}

/** What a section should hold of a record: the row without what a declaration says of it. */
const located = (row: Row): Row => row.slice(0, 4)

interface Found {
  readonly sums: Sums
  readonly file: string
  /** They were made by the declaration there is: their indexes can be held against the records. */
  readonly isCurrent: boolean
}

export const watchTables = (report: Report, specs: ReadonlyMap<string, CollectionSpec<object>>) => {
  const wanted = new Map<string, Sums>()
  const found = new Map<string, Found>()
  const want = (pageStore: string, section: SectionShape, row: Row): void => {
    const sums: Sums = wanted.get(pageStore) ?? new Map<string, Sum>()
    wanted.set(pageStore, sums)
    addTo(sums, section.name, row)
  }

  const tables: SurveyVisitor['tables'] = ({ kind, name }, { tables: all, file }) => {
    for (const rule of all.files.flatMap((one) => brokenRules(one))) report('index', { file, offset: 0, rule })
    const spec = kind === 'data' ? specs.get(name) : undefined
    const marks = spec === undefined ? [] : fingerprints(spec)
    const isCurrent = all.files.every(({ footer }) => marks.includes(footer.mark))
    found.set(`${kind}/${name}`, { sums: sumsOf(all), file, isCurrent })
  }
  const record = (collection: string, line: RecordLine<object>, { page, offset, length }: PagePlace): void => {
    const [pageStore, spec] = [`data/${collection}`, specs.get(collection)]
    want(pageStore, idSection, [line.id, page, offset, length])
    if (spec === undefined) return
    if (!isSettled(spec, line.r)) return want(pageStore, openSection, [line.id, 1])
    const names = Object.keys(spec.indexes)
    placesIn(spec, line).forEach(({ group, sort }, at) => {
      if (group !== undefined) want(pageStore, indexSection(names[at] ?? ''), [group, sort, line.id, 1])
    })
  }
  const compare = (pageStore: string, { sums, file, isCurrent }: Found): void => {
    const due = wanted.get(pageStore) ?? new Map<string, Sum>()
    const compared = isCurrent ? new Set([...sums.keys(), ...due.keys()]) : [idSection.name, extentSection.name]
    for (const section of compared) {
      const [is, should] = [sums.get(section), due.get(section)]
      if (is?.rows === should?.rows && is?.digest === should?.digest) continue
      const rule = `section ${section} has ${is?.rows ?? 0} rows; the pages call for ${should?.rows ?? 0} or others`
      report('index', { file, offset: 0, rule })
    }
  }
  return {
    tables,
    record,
    entries: (stream: string, line: EntryLine<unknown>, place: PagePlace): void =>
      want(`streams/${stream}`, extentSection, entryRow(line.owner, extentOfLine(line, place))),
    finish: (): void => found.forEach((one, pageStore) => compare(pageStore, one)),
  }
}

const sumsOf = (all: Tables): Sums => {
  const sums: Sums = new Map()
  for (const name of new Set(all.files.flatMap(({ footer }) => Object.keys(footer.sections)))) {
    const shape = shapeOf(name)
    for (const row of all.all(shape))
      if (!isRemoval(shape, row)) addTo(sums, name, name === idSection.name ? located(row) : row)
  }
  return sums
}

/** Of so many rows one is looked for from the root. */
const looked = 31

/** What is wrong with one table in itself: with its order, its numbers or its filter. */
const brokenRules = (file: TableFile): string[] =>
  Object.keys(file.footer.sections).flatMap((name) => brokenRule(file, shapeOf(name)) ?? [])

const brokenRule = (file: TableFile, shape: SectionShape): string | undefined => {
  const info = file.info(shape)
  if (info === undefined) return undefined
  let [rows, net] = [0, 0]
  let before: Row | undefined
  for (const row of file.rows(shape, { order: 'asc' })) {
    const { name, keyCells } = shape
    if (before !== undefined && compareKeys(before, row, keyCells) >= 0)
      return `rows of section ${name} are not in order`
    if (rows % looked === 0 && file.rank(shape, { key: row.slice(0, keyCells), side: 'before' }) !== net)
      return `a node of section ${name} counts wrongly`
    if (keyCells !== 3 && file.find(shape, row.slice(0, keyCells)) === undefined)
      return `the filter does not know a row of section ${name}`
    if (keyCells === 3 && file.group(shape, String(row[0])) === undefined)
      return `a group of section ${name} is not known`
    rows += 1
    net += weightOf(shape, row)
    before = row
  }
  return rows === info.rows && net === info.net ? undefined : `section ${shape.name} is not as long as it says`
}
