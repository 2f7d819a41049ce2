/** What the root holds, how fast it grows, and when its disk is full. */
import type { Clock } from '../base/clock.js'
import type { Warning } from '../base/health.js'
import { doc, enums, integer, named, number, object, optional, timestamp, type Infer } from '../base/schema.js'
import type { Retention } from '../state/contract.js'
import type { Disk } from '../state/disk/disk.js'
import { defaultTuning } from '../state/tuning.js'
import { showDay, showSize } from './amounts.js'
import { measure, type RootBytes } from './bytes.js'
import { kindBytes } from './kinds.js'
import { forecastOf, growthOf, sampled, sampleEvery, type Sample } from './growth.js'
import type { RetentionDocument } from './retention-document.js'

export const StorageUsage = named(
  'StorageUsage',
  object({
    measured_at_ms: timestamp(),
    root_bytes: doc(integer({ min: 0 }), 'Bytes of all files of the state root.'),
    log_bytes: doc(integer({ min: 0 }), 'Of these, changes that are on no page yet.'),
    blob_bytes: doc(integer({ min: 0 }), 'Of these, blobs.'),
    free_bytes: doc(integer({ min: 0 }), 'Free on the file system of the root.'),
    growth_bytes_per_day: doc(
      optional(number()),
      'Of the root, over the last week or as much of it as is known; absent before the daemon knows six hours.',
    ),
    forecast: doc(
      enums(['unknown', 'not_growing', 'full_at']),
      'Whether the disk will be full at the rate of the last week.',
    ),
    full_at_ms: doc(optional(integer({ min: 0 })), 'When changes would be refused at this rate, Unix ms.'),
  }),
)
export type StorageUsage = Infer<typeof StorageUsage>

export interface UsageParts {
  readonly disk: Disk
  readonly root: string
  readonly clock: Clock
  readonly document: RetentionDocument
  readonly retention: Pick<Retention, 'kinds' | 'isLeaving'>
}

export interface Usage {
  /** What the root holds, counted anew if the last count is older than some seconds. */
  report(): Promise<StorageUsage>
  /** Bytes of the root that stay, from the same count. */
  staying(): Promise<number>
  /** The next one who asks has all counted anew: by a count of before a fall, too much would fall the next time. */
  expire(): void
  /** Takes a sample for the rate if one is due. */
  sample(): Promise<void>
  /** Bytes a day of a kind, as `growth_bytes_per_day` of the report. */
  growthOf(kind: string): number | undefined
  /** That the disk is full soon, as far as the last report knows. */
  warnings(): readonly Warning[]
}

/** So long a count is good enough for whoever asks next. Milliseconds. */
const freshMs = 10_000
/** A disk that is full within so much time wants somebody's hand now. Milliseconds. */
const soonMs = 7 * 86_400_000

const soonFull = ({ full_at_ms, measured_at_ms, growth_bytes_per_day = 0 }: StorageUsage): Warning[] =>
  full_at_ms === undefined || full_at_ms - measured_at_ms > soonMs
    ? []
    : [
        {
          severity: 'warning',
          code: 'disk_full_soon',
          message:
            `The state root grows by ${showSize(growth_bytes_per_day)} a day: ` +
            `at this rate its disk is full on ${showDay(full_at_ms)}.`,
          action: 'Make room on the disk, or let old runs fall: see config/retention.toml in docs/operations.md.',
        },
      ]

interface Counted extends RootBytes {
  readonly at: Sample
  readonly elapsed: number
}

const rounded = (growth: number | undefined): number | undefined => growth && Math.round(growth)

const sumOf = ({ areas }: RootBytes, folder: string): number =>
  [...areas].reduce((sum, [area, bytes]) => (area === folder || area.startsWith(`${folder}/`) ? sum + bytes : sum), 0)

export const createUsage = ({ disk, root, clock, document, retention }: UsageParts): Usage => {
  let last: Counted | undefined
  let running: Promise<Counted> | undefined
  /** Grows: a count that began before that is of no use. */
  let expired = 0
  let isCurrent = false
  const sampleNow = (bytes: number): Sample => ({ at_ms: clock.now(), bytes, kinds: kindBytes(retention.kinds()) })
  const countNow = async (): Promise<Counted> => {
    const [elapsed, before] = [clock.elapsed(), expired]
    const found = await measure(disk, root, retention.isLeaving)
    isCurrent = before === expired
    return (last = { ...found, at: sampleNow(found.total), elapsed })
  }
  const counted = (): Promise<Counted> => {
    if (last !== undefined && isCurrent && clock.elapsed() - last.elapsed < freshMs) return Promise.resolve(last)
    return (running ??= countNow().finally(() => {
      running = undefined
    }))
  }
  let reported: StorageUsage | undefined
  const report = async (): Promise<StorageUsage> => {
    const found = await counted()
    const free = disk.space(root).free
    const growth = growthOf(document.value.samples, found.at)
    return (reported = {
      measured_at_ms: found.at.at_ms,
      root_bytes: found.total,
      log_bytes: sumOf(found, 'log'),
      blob_bytes: sumOf(found, 'blobs'),
      free_bytes: free,
      ...(growth !== undefined && { growth_bytes_per_day: Math.round(growth) }),
      ...forecastOf(growth, { free: Math.max(0, free - defaultTuning.freeBytes), now: found.at.at_ms }),
    })
  }
  const sample = async (): Promise<void> => {
    await report()
    const [newest] = document.value.samples.slice(-1)
    const now = clock.now()
    if (newest !== undefined && newest.at_ms <= now && now - newest.at_ms < sampleEvery) return
    const { at } = await counted()
    await document.change((value) => ({ ...value, samples: [...sampled(value.samples, at)] }))
  }
  const growthOfKind = (kind: string): number | undefined =>
    last && rounded(growthOf(document.value.samples, last.at, ({ kinds }) => kinds[kind]))
  return {
    report,
    async staying() {
      const { total, leaving } = await counted()
      return total - leaving
    },
    expire() {
      expired += 1
      isCurrent = false
      running = undefined
    },
    sample,
    growthOf: growthOfKind,
    warnings: () => (reported === undefined ? [] : soonFull(reported)),
  }
}
