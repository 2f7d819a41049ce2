/**
 * Cron expressions as a pure function of (expression, zone, moment). A list or
 * a range of wall times is a promise about those times: one that a clock change
 * skips fires at the first moment after the gap, one that happens twice fires
 * at the first. A star or a step in seconds, minutes or hours follows real time.
 */
import { Cron } from 'croner'
import { isZone } from '../../../../core/plugin.js'

/** Next moments of one expression in one zone. */
export interface CronTimes {
  /** The first fire strictly after a moment, in Unix ms; undefined if there is none. */
  readonly next: (after: number) => number | undefined
}

export const openCron = (expression: string, timezone: string): CronTimes => {
  const cron = new Cron(expression.trim(), {
    paused: true,
    timezone,
    mode: fieldsOf(expression).length === 6 ? '6-part' : '5-part',
    fixedTimeRule: 'no-wildcard',
  })
  return { next: (after) => cron.nextRun(new Date(after))?.getTime() }
}

const fieldsOf = (expression: string): string[] => expression.trim().split(/\s+/u)

/** Fires closer than this are refused. */
const closest = 5000
const minute = 60_000

/** A rule that an expression or its zone breaks. */
export interface BrokenRule {
  readonly field: 'expression' | 'timezone'
  readonly rule: string
}

/** Looks at an expression as of a moment; undefined if it can be scheduled. */
export const cronFault = (expression: string, timezone: string, now: number): BrokenRule | undefined => {
  const form = formFault(expression)
  if (form !== undefined) return { field: 'expression', rule: form }
  if (!isZone(timezone))
    return { field: 'timezone', rule: 'must be the name of an IANA time zone, such as Europe/Berlin' }
  const times = attempt(() => openCron(expression, timezone))
  if (times === undefined)
    return { field: 'expression', rule: 'has a field that is no cron field, or a value out of range' }
  const first = attempt(() => times.next(now))
  if (first === undefined) return { field: 'expression', rule: 'never fires' }
  if (times.next(first) === undefined) return { field: 'expression', rule: 'fires only once; use the cadence once' }
  return tooClose(expression, times, first)
    ? { field: 'expression', rule: 'must not fire more often than every 5 seconds' }
    : undefined
}

/** The parser also takes nicknames, dates, years and a plus sign; these would mean something else elsewhere. */
const formFault = (expression: string): string | undefined => {
  const fields = fieldsOf(expression)
  if (fields.length !== 5 && fields.length !== 6) return 'must have five fields, or six with seconds first'
  return /^[\dA-Za-z*/,?#\- \t]+$/u.test(expression) ? undefined : 'holds a character that no cron field has'
}

const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

const tooClose = (expression: string, times: CronTimes, first: number): boolean => {
  const fields = fieldsOf(expression)
  if (fields.length === 5) return false
  const seconds = secondsOf(fields[0] ?? '')
  if (seconds.some((second, at) => at > 0 && second - (seconds[at - 1] ?? 0) < closest)) return true
  const across = minute - (seconds.at(-1) ?? 0) + (seconds[0] ?? 0)
  return across < closest && followsClosely(times, first)
}

/** The moments of a minute that a field of seconds names, in ms. */
const secondsOf = (field: string): number[] => {
  const { next } = openCron(`${field} * * * * *`, 'UTC')
  const found: number[] = []
  for (let at = next(-1); at !== undefined && at < minute; at = next(at)) found.push(at)
  return found
}

/** Fires looked at when only two neighbouring minutes could break the rule. */
const looked = 300
const followsClosely = ({ next }: CronTimes, first: number): boolean => {
  let at = first
  for (let n = 0; n < looked; n += 1) {
    const following = next(at)
    if (following === undefined) return false
    if (following - at < closest) return true
    at = following
  }
  return false
}
