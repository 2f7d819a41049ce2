/**
 * Whether the tables say exactly what the pages hold. Rows of any number are compared without being kept: by their
 * number, and by the sum of their digests.
 */
import type { CollectionSpec } from '../contract.js'
import type { Fault } from '../format/line.js'
import { fingerprints, indexSection, isSettled, openSection, placesIn, type RecordLine } from '../pages/record-codec.js'
import { shapeOf, weightOf, type Row, type SectionShape } from '../tables/rows.js'
import type { TableFile } from '../tables/table-file.js'
import { add, isSame, noDigest, type Digest } from './survey/row-digest.js'
import type { FindingKind, SurveyVisitor } from './survey/visitor.js'
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

interface Compared {
  /** What the tables have, and what the records call for. */
  readonly has: Sums
  readonly wants: Sums
  readonly file: string
  readonly spec: CollectionSpec<object>
  readonly indexes: readonly string[]
}

export const watchTables = (
  { report, count }: { readonly report: Report; readonly count: Inspection['count'] },
  specs: ReadonlyMap<string, CollectionSpec<object>>,
) => {
  const compared = new Map<string, Compared>()
  const tables: SurveyVisitor['tables'] = ({ kind, name }, { tables: { files }, file }) => {
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
    if (files.every(({ footer }) => marks.includes(footer.mark)))
      compared.set(name, { has, wants: new Map(), file, spec, indexes: Object.keys(spec.indexes).map(sectionOf) })
  }
  const record = (collection: string, line: RecordLine<object>): void => {
    const known = compared.get(collection)
    if (known === undefined) return
    const { spec, wants, indexes } = known
    const want = (section: string, row: Row): void => {
      const sum = sumIn(wants, section)
      sum.rows += 1
      add(sum.digest, row)
    }
    if (!isSettled(spec, line.r)) return want(openSection.name, [line.id])
    placesIn(spec, line).forEach(({ group, sort }, at) => {
      if (group !== undefined) want(indexes[at] ?? '', [group, sort, line.id])
    })
  }
  return { tables, record, finish: (): void => compared.forEach((one) => compare(one, report)) }
}

const sectionOf = (index: string): string => indexSection(index).name

/** Whether rows of a section may be in several tables, where each adds one or takes one away. */
const isCounted = ({ rule }: SectionShape): boolean => rule === 'net'

/** Sums up a section of one table; what is wrong with it in itself. */
const check = (file: TableFile, section: string, sums: Sums): string[] => {
  const shape = shapeOf(section)
  const sum = isCounted(shape) ? sumIn(sums, section) : undefined
  const rule = brokenRule(file, shape, (row) => {
    if (sum === undefined) return
    const times = weightOf(shape, row)
    sum.rows += times
    add(sum.digest, row.slice(0, shape.keyCells), times)
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
