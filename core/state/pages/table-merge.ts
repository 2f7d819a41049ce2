/** Tables of one collection or stream that have become many, and the one that they become. */
import type { Oldest } from '../format/manifest.js'
import { firstTaken, firstTakenForGood } from '../tables/compaction.js'
import { mergedRuns, type Source } from '../tables/merge.js'
import { isRemoval, type Row, type SectionShape } from '../tables/rows.js'
import type { TableFile } from '../tables/table-file.js'
import type { TableTuning } from '../tuning.js'
import { idSection } from './record-codec.js'
import type { TableFacts } from './row-set.js'

/**
 * Neighbours of one partition that are to become one; none where no partition has too many. Of a partition where some
 * `become` one already, those that came behind them: small merges do not wait for large ones. One behind which there is
 * a newer one has few.
 */
export const dueIn = (
  files: readonly TableFile[],
  become: ReadonlySet<TableFile>,
  tuning: TableTuning,
): readonly TableFile[] => {
  for (const [at, partition] of partitionsOf(files).entries()) {
    const own = partition.slice(partition.findLastIndex((file) => become.has(file)) + 1)
    const first = at === 0 ? firstTaken : firstTakenForGood
    const from = own.length === files.length && isWorn(own) ? 0 : first(rowsOf(own), tuning)
    if (own.length - from > 1) return own.slice(from)
  }
  return []
}

const rowsOf = (files: readonly TableFile[]): readonly number[] => files.map(({ ref }) => ref.rows)

/** Tables of the newest partition first. */
const partitionsOf = (files: readonly TableFile[]): readonly (readonly TableFile[])[] => {
  const parts = new Map<number | undefined, TableFile[]>()
  for (const file of files) {
    const own = parts.get(file.ref.part)
    if (own === undefined) parts.set(file.ref.part, [file])
    else own.push(file)
  }
  return [...parts.values()].reverse()
}

/**
 * A quarter of all rows of ids takes others away: so that removals do not outlast what was removed, all tables become
 * one.
 */
const isWorn = (files: readonly TableFile[]): boolean => {
  let [all, removals] = [0, 0]
  for (const file of files) {
    const { rows = 0, net = 0 } = file.info(idSection) ?? {}
    all += rows
    removals += (rows - net) / 2
  }
  return removals > 0 && removals * 4 >= all
}

/** What the manifest tells of the one table that these become. */
export const factsOf = (all: readonly TableFacts[]): TableFacts => {
  const oldest = all.reduce<Oldest | undefined>(
    (least, { oldest: one }) => (one !== undefined && (least === undefined || one.since < least.since) ? one : least),
    undefined,
  )
  const reach = Math.min(...all.map((one) => one.reach ?? Infinity))
  return { ...(oldest !== undefined && { oldest }), ...(reach !== Infinity && { reach }) }
}

/** Shapes of the sections that any of them has. */
export const sectionsIn = (files: readonly TableFile[]): readonly string[] => [
  ...new Set(files.flatMap(({ footer }) => Object.keys(footer.sections))),
]

interface Among {
  /** Nothing is older: a removal takes nothing away. */
  readonly isOldest: boolean
  /** Older tables stay as they are, and something may be there again. */
  readonly partly: boolean
}

/** What the tables leave of a section together. */
export function* mergedSection(
  files: readonly TableFile[],
  shape: SectionShape,
  { isOldest, partly }: Among,
): Generator<readonly Row[]> {
  const sources = files.map((file): Source => ({
    least: undefined,
    runs: () => file.runs(shape, { order: 'asc', keep: false }),
  }))
  for (const run of mergedRuns(sources, shape, { order: 'asc', partly })) yield isOldest ? kept(run, shape) : run
}

const kept = (run: readonly Row[], shape: SectionShape): readonly Row[] =>
  run.some((row) => isRemoval(shape, row)) ? run.filter((row) => !isRemoval(shape, row)) : run
