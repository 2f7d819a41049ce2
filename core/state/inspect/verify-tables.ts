/**
 * Whether the tables say exactly what the pages hold. Rows of any number are compared without being kept: by their
 * number, and by the sum of their digests.
 */
import type { CollectionSpec } from '../contract.js'
import type { Fault } from '../format/line.js'
import type { LinePlace } from '../format/segment.js'
import { forgets } from '../memory/removals.js'
import {
  deadOf,
  fingerprints,
  indexSection,
  isRemovedRow,
  isSettled,
  openSection,
  placesIn,
  type RecordLine,
} from '../pages/record-codec.js'
import { shapeOf, weightOf, type Row, type SectionShape } from '../tables/rows.js'
import type { TableFile } from '../tables/table-file.js'
import { createFinder } from './survey/lookup.js'
import { add, isSame, noDigest, type Digest } from './survey/row-digest.js'
import type { FindingKind, PageStoreName, SurveyVisitor } from './survey/visitor.js'
import type { Inspection } from './verify-findings.js'
import { brokenRule } from './verify-table.js'

type Report = (kind: FindingKind, fault: Fault) => void

/** Some rows, in any order. */
interface Sum {
  rows: number
  readonly digest: Digest
}
type Sums = Map<string, Sum>

const sumIn = (sums: Sums, section: string): Sum => {
  const sum = sums.get(section) ?? { rows: 0, digest: noDigest() }
  sums.set(section, sum)
  return sum
}

const addTo = (sum: Sum, row: Row, times = 1): void => {
  sum.rows += times
  add(sum.digest, row, times)
}

interface Compared {
  /** What the tables have, and what the records call for. */
  readonly has: Sums
  readonly wants: Sums
  readonly file: string
  readonly spec: CollectionSpec<object>
  readonly indexes: readonly string[]
  /** Finds the row of an id, in a collection that forgets. */
  readonly find: ((id: string) => Row | undefined) | undefined
}

/** Lines with records, of a collection that forgets: as many of each id as its row says. */
const lines = 'lines'

export const watchTables = (
  { report, count }: { readonly report: Report; readonly count: Inspection['count'] },
  specs: ReadonlyMap<string, CollectionSpec<object>>,
) => {
  const compared = new Map<string, Compared>()
  const buried = new Set<string>()
  const tables: SurveyVisitor['tables'] = ({ kind, name }, { tables: all, file }) => {
    const { files } = all
    const has: Sums = new Map()
    const broken = files.flatMap((one) => {
      const rules = Object.keys(one.footer.sections).flatMap((section) => check(one, section, has))
      count({ bytes: one.ref.length })
      return rules
    })
    for (const rule of broken) report('index', { file, offset: 0, rule })
    const spec = kind === 'data' ? specs.get(name) : undefined
    if (spec === undefined) return
    // Rows by another declaration cannot be held against the records; the next start makes them again.
    const marks = fingerprints(spec)
    if (!files.every(({ footer }) => marks.includes(footer.mark))) return
    const indexes = Object.keys(spec.indexes).map(sectionOf)
    compared.set(name, {
      has,
      wants: new Map(),
      file,
      spec,
      indexes,
      find: forgets(spec) ? createFinder(all) : undefined,
    })
  }
  /** Of an id: how many lines with records there should be. */
  const row = ({ kind, name }: PageStoreName, cells: Row): void => {
    const known = kind === 'data' ? compared.get(name) : undefined
    if (known?.find === undefined) return
    addTo(sumIn(known.has, lines), cells.slice(0, 1), deadOf(cells) + (isRemovedRow(cells) ? 0 : 1))
  }
  const record = (collection: string, line: RecordLine<object>): void => {
    const known = compared.get(collection)
    if (known === undefined) return
    const { spec, wants, indexes } = known
    const want = (section: string, row: Row): void => addTo(sumIn(wants, section), row)
    if (known.find !== undefined) want(lines, [line.id])
    if (!isSettled(spec, line.r)) return want(openSection.name, [line.id])
    placesIn(spec, line).forEach(({ group, sort }, at) => {
      if (group !== undefined) want(indexes[at] ?? '', [group, sort, line.id])
    })
  }
  /** Made again from the pages, the tables would have a line of which they know nothing. */
  const dead = (collection: string, id: string, { file, offset }: LinePlace): void => {
    const known = compared.get(collection)
    if (known?.find === undefined) return
    if (known.find(id) !== undefined) return addTo(sumIn(known.wants, lines), [id])
    const rule = `${id} of ${collection} is gone, and nothing on the pages says so: this old line would bring it back`
    report('record', { file, offset, rule })
  }
  const tombstone = (collection: string): void => {
    const known = compared.get(collection)
    if (known?.find === undefined || buried.has(collection)) return
    buried.add(collection)
    const rule = `${collection} has tombstones, though it forgets what is removed`
    report('index', { file: known.file, offset: 0, rule })
  }
  return { tables, row, record, dead, tombstone, finish: (): void => compared.forEach((one) => compare(one, report)) }
}

const sectionOf = (index: string): string => indexSection(index).name

/** Whether rows of a section may be in several tables, where each adds one or takes one away. */
const isCounted = ({ rule }: SectionShape): boolean => rule === 'net'

/** Sums up a section of one table; what is wrong with it in itself. */
const check = (file: TableFile, section: string, sums: Sums): string[] => {
  const shape = shapeOf(section)
  const sum = isCounted(shape) ? sumIn(sums, section) : undefined
  const rule = brokenRule(file, shape, (row) => {
    if (sum !== undefined) addTo(sum, row.slice(0, shape.keyCells), weightOf(shape, row))
  })
  return rule === undefined ? [] : [rule]
}

const compare = ({ has, wants, file }: Compared, report: Report): void => {
  for (const section of new Set([...has.keys(), ...wants.keys()])) {
    const [is, should] = [sumIn(has, section), sumIn(wants, section)]
    if (is.rows === should.rows && isSame(is.digest, should.digest)) continue
    const rule = `section ${section} has ${is.rows} rows; the pages call for ${should.rows} or others`
    report('index', { file, offset: 0, rule })
  }
}
