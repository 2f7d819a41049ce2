/** What `/v1/status` says of each kind. */
import {
  array,
  doc,
  integer,
  literal,
  named,
  number,
  object,
  optional,
  record,
  string,
  type Infer,
} from '../base/schema.js'
import type { KeptKind } from '../state/contract.js'
import { isFree } from '../state/disk/outside.js'
import type { DueNow } from './due.js'
import { bytesIn, recordsIn } from './kinds.js'
import type { Policy } from './policy.js'
import { Fallen } from './retention-document.js'
import { sayHeld } from './words.js'

const KindReport = named(
  'KeptKind',
  object({
    bytes: doc(integer({ min: 0 }), 'On disk, as of the last checkpoint.'),
    growth_bytes_per_day: doc(optional(number()), 'Over the last week; absent while it is not known.'),
    records: doc(integer({ min: 0 }), 'Records that lead the kind and no longer change.'),
    partitions: doc(integer({ min: 0 }), 'Parts that can fall one after the other.'),
    oldest_ms: doc(optional(integer({ min: 1 })), 'Of the oldest of it, Unix ms; absent where nobody knows.'),
    max_age_ms: optional(integer({ min: 1 })),
    max_count: optional(integer({ min: 1 })),
    falls_at_ms: doc(
      optional(integer({ min: 0 })),
      'When something of it falls for the first time, Unix ms: at the first look from then on.',
    ),
    stays_because: doc(optional(string()), 'Why something stays though it is due, as of the last checkpoint.'),
  }),
)
const FallenReport = named(
  'FallenPart',
  object({
    ...Fallen.schema,
    archive_gone: optional(doc(literal(true), 'The file that kept it is no longer there; absent where it is.')),
  }),
)
export const RetentionReport = named(
  'RetentionReport',
  object({
    min_age_ms: doc(integer({ min: 1 }), 'Nothing younger falls.'),
    max_bytes: doc(optional(integer({ min: 1 })), 'Of the whole root.'),
    archive_dir: optional(string()),
    kinds: record(KindReport),
    fallen: doc(array(FallenReport), 'The latest falls, the oldest first.'),
  }),
)
export type RetentionReport = Infer<typeof RetentionReport>

export interface ReportParts {
  readonly policy: Policy
  readonly kinds: readonly KeptKind[]
  readonly fallen: readonly Fallen[]
  readonly found: DueNow
  readonly growthOf: (kind: string) => number | undefined
  readonly fallsAt: (kind: string) => number | undefined
}

const reasonOf = ({ falls, stays }: DueNow, kind: string): string | undefined => {
  const held = falls.find((one) => one.kind === kind)?.held
  return stays.find((one) => one.kind === kind)?.sentence ?? (held && sayHeld(held))
}

const kindReport = (parts: ReportParts, { kind, partitions }: KeptKind): Infer<typeof KindReport> => {
  const { policy, found, growthOf, fallsAt } = parts
  const { maxAge, maxCount } = policy.kinds.get(kind) ?? {}
  const since = Math.min(...partitions.map((partition) => partition.since ?? partition.from))
  return {
    bytes: partitions.reduce((sum, partition) => sum + bytesIn(partition), 0),
    growth_bytes_per_day: growthOf(kind),
    records: partitions.reduce((sum, partition) => sum + recordsIn(partition), 0),
    partitions: partitions.length,
    oldest_ms: since > 0 && since < Infinity ? since : undefined,
    max_age_ms: maxAge,
    max_count: maxCount,
    falls_at_ms: fallsAt(kind),
    stays_because: reasonOf(found, kind),
  }
}

const withArchive = (fallen: Fallen): Infer<typeof FallenReport> => {
  const isGone = fallen.archive !== undefined && isFree(fallen.archive)
  return { ...fallen, ...(isGone && { archive_gone: true }) }
}

export const reportOf = (parts: ReportParts): RetentionReport => {
  const { policy, kinds, fallen } = parts
  return {
    min_age_ms: policy.minAge,
    max_bytes: policy.maxBytes,
    archive_dir: policy.archiveDir,
    kinds: Object.fromEntries(kinds.map((kept) => [kept.kind, kindReport(parts, kept)])),
    fallen: fallen.map(withArchive),
  }
}
