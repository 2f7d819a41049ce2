/**
 * A year of ten schedules: the real dispatcher on the real store, with a clock
 * that is moved, runs that take their time, kills and power cuts at any
 * operation of the disk, sleeps, stalls and a wall clock that is set forward
 * and back. What must have run is reckoned from the times at which the daemon
 * had looked, not by its own code.
 */
import type { ExecutionContext } from 'ava'
import { fireAfter } from '../../plugins/execution/schedules/calendar/cadence.js'
import type { Cadence, MisfirePolicy, OverlapPolicy } from '../../plugins/execution/schedules/contract.js'
import type { ScheduleRecord } from '../../plugins/execution/schedules/record/store.js'
import { createRandom } from '../faults/random.js'
import { openScheduleLife, type ScheduleLife, type Time } from './schedule-life.js'
import { scheduleRecord } from './schedule-records.js'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const begin = Date.parse('2026-01-01T00:00:30Z')
export const end = Date.parse('2027-01-01T00:00:00Z')

const cron = (expression: string, timezone: string): Cadence => ({ type: 'cron', expression, timezone })
const interval = (hours: number): Cadence => ({ type: 'interval', every_seconds: hours * 3600 })
const plans: readonly [Cadence, OverlapPolicy, MisfirePolicy['type']][] = [
  [interval(9), 'parallel', 'coalesce_once'],
  [interval(11), 'parallel', 'skip_missed'],
  [cron('30 2 * * *', 'Europe/Berlin'), 'parallel', 'coalesce_once'],
  [cron('30 1 * * *', 'America/New_York'), 'parallel', 'skip_missed'],
  [cron('0 */12 * * *', 'Australia/Lord_Howe'), 'parallel', 'coalesce_once'],
  [cron('15 30 9 * * MON-FRI', 'Asia/Kolkata'), 'parallel', 'skip_missed'],
  [cron('*/30 9 * * MON', 'America/Sao_Paulo'), 'skip', 'coalesce_once'],
  [interval(13), 'skip', 'skip_missed'],
  [cron('*/20 4 * * *', 'UTC'), 'queue_one', 'coalesce_once'],
  [cron('0 0 29-31 * *', 'Pacific/Apia'), 'queue_one', 'coalesce_once'],
]
/** What a run of its own commit needs. */
const requirements = [{ type: 'workspace_file' as const, path: 'report' }]

/** Of every third the runs are made in a commit of their own, of the others in that of their fires. */
export const records: readonly ScheduleRecord[] = plans.map(([cadence, overlap_policy, type], n) => ({
  ...scheduleRecord({ now: begin, schedule_id: `schedule_${n}`, cadence, overlap_policy, misfire_policy: { type } }),
  ...(n % 3 === 2 && {
    payload: { kind: 'request', request: { content: 'hello', completion_requirements: requirements } },
  }),
}))

/**
 * A stretch in which the daemon looked: from `from` until its last look, and until `ended` it may have looked. `before`
 * says how it came after the one before it.
 */
interface Stretch {
  readonly from: number
  seen: number
  ended: number
  readonly before: 'start' | 'gap' | 'back'
}

interface Year {
  readonly stretches: readonly Stretch[]
  readonly life: ScheduleLife
  readonly deaths: number
  readonly latest: number
  /** Moments by schedule at which the daemon looked and nothing was in the way. */ readonly free: ReadonlyMap<
    string,
    number[]
  >
}

export const live = async (seed: number): Promise<Year> => {
  const random = createRandom(seed)
  const time: Time = { wall: begin, mono: 0 }
  const longestRun = 45 * minute
  const stretches: Stretch[] = []
  let [generation, deaths, latest] = [1, 0, begin]
  let life = await openScheduleLife({ time, random, generation, longestRun })
  await life.store.state.commit((tx) => {
    for (const record of records) tx.insert(life.store.schedules, record)
  })
  const open = (from: number, before: Stretch['before']): Stretch => {
    const made = { from, seen: from - 1, ended: from, before }
    stretches.push(made)
    return made
  }
  let now = open(begin, 'start')
  const reopen = async (): Promise<void> => {
    now.ended = time.wall
    deaths += 1
    await life.settle()
    const image = life.left(random.chance(0.5))
    time.wall += random.chance(0.1)
      ? -random.below(20) * minute
      : random.below(random.pick([2 * minute, hour, 2 * day]))
    time.mono += 1000
    now = open(time.wall, 'gap')
    life = await openScheduleLife({ time, random, generation: (generation += 1), image, longestRun })
  }
  const happen = (): void => {
    const what = random.below(5)
    if (what < 2) life.killAfter(random.below(12))
    else if (what === 2) time.wall += minute + random.below(random.pick([10 * minute, 2 * day]))
    else if (what === 3) [time.wall, time.mono] = [time.wall + 5 * minute, time.mono + 5 * minute]
    else time.wall -= minute + random.below(3 * hour)
  }
  const free = new Map(records.map(({ schedule_id }): [string, number[]] => [schedule_id, []]))
  const alone = records.filter(({ overlap_policy }) => overlap_policy !== 'parallel')
  const idle = (): ScheduleRecord[] =>
    alone
      .flatMap(({ schedule_id }) => life.store.schedules.find(schedule_id) ?? [])
      .filter(({ executions, queued_fire_at_ms }) => executions.length === 0 && queued_fire_at_ms === undefined)
  while (time.wall < end) {
    const before = { ...time }
    if (random.below(1000) === 0) happen()
    const slip = time.wall - before.wall
    if (slip < 0) {
      now.ended = before.wall
      now = open(time.wall, 'back')
    }
    const waiting = slip === 0 ? idle() : []
    const lives = await life.step()
    latest = Math.max(latest, time.wall)
    if (slip > 0) {
      now.ended = before.wall
      now = open(time.wall, 'gap')
    }
    if (lives)
      for (const { schedule_id, next_fire_at_ms: next = Infinity } of waiting)
        if (next >= now.from && next <= time.wall) free.get(schedule_id)?.push(next)
    if (lives) now.seen = time.wall
    if (lives) await life.endRuns(random.chance(0.8))
    if (life.dead) await reopen()
  }
  await life.step()
  now.ended = time.wall
  return { stretches, life, deaths, free, latest: Math.max(latest, time.wall) }
}

const instantsOf = (record: ScheduleRecord, until: number): number[] => {
  const found: number[] = []
  for (let at = fireAfter(record, begin); at !== undefined && at <= until; at = fireAfter(record, at)) found.push(at)
  return found
}

type Verdict = 'one' | 'none' | 'any'

/** What the policies say about a moment, from the stretches alone. */
const verdictOf = (
  at: number,
  {
    stretches,
    instants,
    misfire,
  }: { stretches: readonly Stretch[]; instants: readonly number[]; misfire: MisfirePolicy['type'] },
): Verdict => {
  if (stretches.some(({ from, seen }) => at >= from && at <= seen)) return 'one'
  if (stretches.some(({ seen, ended }) => at > seen && at <= ended)) return 'any'
  let highest = begin
  for (const [n, { from, before }] of stretches.entries()) {
    const last = stretches[n - 1]
    if (last === undefined) continue
    highest = Math.max(highest, last.ended)
    if (before !== 'gap' || at <= last.seen || at >= from) continue
    const newest = instants.findLast((instant) => instant < from)
    if (at !== newest) continue
    if (misfire === 'coalesce_once') return at > highest ? 'one' : 'any'
  }
  return 'none'
}

export const judge = (t: ExecutionContext, { life, stretches, latest, free }: Year): number => {
  const runs = life.runs.ids('all', 'all').map((id) => life.runs.find(id))
  let total = 0
  for (const record of records) {
    const fires = runs.flatMap((run) => (run?.schedule_id === record.schedule_id ? [run.fire] : []))
    const instants = instantsOf(record, latest + day)
    const known = new Set(instants)
    t.is(new Set(fires).size, fires.length, `${record.schedule_id}: no fire has two runs`)
    t.deepEqual(
      fires.filter((fire) => !known.has(fire)),
      [],
      `${record.schedule_id}: every fire is a moment of its cadence`,
    )
    total += fires.length
    const fired = new Set(fires)
    t.deepEqual(
      free.get(record.schedule_id)?.filter((at) => !fired.has(at)),
      [],
      `${record.schedule_id}: fires when nothing is in the way`,
    )
    if (record.overlap_policy !== 'parallel') continue
    const wrong = instants
      .filter((at) => at <= latest)
      .flatMap((at) => {
        const verdict = verdictOf(at, { stretches, instants, misfire: record.misfire_policy.type })
        return verdict === 'any' || (verdict === 'one') === fired.has(at)
          ? []
          : [`${new Date(at).toISOString()} should have ${verdict}`]
      })
    t.deepEqual(wrong, [], record.schedule_id)
  }
  return total
}
