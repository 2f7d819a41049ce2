/**
 * Computes the fires of each case of the golden table and prints them: run in a process of its own for each host time
 * zone.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { unsafeCast } from '../../core/base/schema.js'
import { openCron } from '../../plugins/execution/schedules/calendar/cron.js'
import { notesOf } from '../../plugins/execution/schedules/preview.js'
import { localText } from '../../plugins/execution/schedules/calendar/zone.js'
import { root } from '../conventions/files.js'

/**
 * The expected fires were reckoned by a program of its own from the zone data and the rule, not by the code under test.
 */
export interface CronCase {
  readonly why: string
  readonly expression: string
  readonly timezone: string
  readonly after: string
  readonly fires: readonly string[]
}

export const cronCases = (): readonly CronCase[] =>
  unsafeCast(JSON.parse(readFileSync(path.join(root, 'test/golden/cron/fires.json'), 'utf8')))

export const iso = (at: number): string => new Date(at).toISOString().replace('.000', '')

export const firesOf = ({ expression, timezone, after, fires }: CronCase): string[] => {
  const { next } = openCron(expression, timezone)
  const found: string[] = []
  for (let at = next(Date.parse(after)); at !== undefined && found.length < fires.length; at = next(at))
    found.push(iso(at))
  return found
}

if (process.argv[2] === 'print') {
  const rows = cronCases().map((one) => ({
    fires: firesOf(one),
    shown: one.fires.map((fire) => [
      localText(Date.parse(fire), one.timezone),
      ...notesOf(one.expression, one.timezone, Date.parse(fire)),
    ]),
  }))
  process.stdout.write(JSON.stringify({ offset: new Date('2026-01-01').getTimezoneOffset(), rows }))
}
