/** Short forms for tests of schedules. */
import { createPause } from './pause.js'
import { createClock } from '../../core/base/clock.js'
import type { Ask } from './daemon.js'

const clock = createClock()
interface Target {
  readonly request: Ask
}

export const hourly = { type: 'interval', every_seconds: 3600 }

/** The body of a schedule; `more` replaces members. */
export const scheduleBody = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: 'report',
  target_session_id: 's1',
  cadence: hourly,
  request: { content: 'hello' },
  ...more,
})

/** Makes a schedule and returns its view. */
export const makeSchedule = async ({ request }: Target, more: Record<string, unknown> = {}): Promise<any> => {
  const { status, body } = await request('POST', '/v1/schedules', scheduleBody(more))
  if (status !== 201) throw new Error(`the schedule was refused: ${JSON.stringify(body)}`)
  return body
}

/** Reads a schedule until it is as wanted. */
export const scheduleUntil = async (
  { request }: Target,
  schedule_id: string,
  wanted: (view: any) => boolean,
): Promise<any> => {
  const deadline = clock.elapsed() + 300_000
  const pause = createPause()
  for (;;) {
    const { body } = await request('GET', `/v1/schedules/${schedule_id}`)
    if (wanted(body)) return body
    if (clock.elapsed() > deadline) throw new Error(`the schedule stayed ${JSON.stringify(body)}`)
    await pause()
  }
}

/** True when every execution is over and there are so many. */
export const settledTimes =
  (count: number) =>
  (view: any): boolean =>
    view.recent_executions.filter(({ status }: any) => status === 'settled').length === count &&
    view.in_flight_fire_at_ms === undefined

/** Runs that schedules made, in order of submission. */
export const scheduledRuns = async ({ request }: Target, session_id = 's1'): Promise<any[]> => {
  const found: any[] = []
  for (let cursor = ''; ;) {
    const { body } = await request('GET', `/v1/runs?page=true&limit=100&session_id=${session_id}${cursor}`)
    found.push(...body.items.filter(({ kind }: any) => kind === 'scheduled_input'))
    if (!body.pagination.has_more) return found
    cursor = `&cursor=${body.pagination.next_cursor}`
  }
}
