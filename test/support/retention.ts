/** Daemons with a configuration of retention, whose clock leaps. */
import type { ExecutionContext } from 'ava'
import type { JsonObject } from '../../core/base/schema.js'
import type { Disk } from '../../core/state/disk/disk.js'
import { startTestDaemon, type TestDaemon } from './daemon.js'
import { createLeapingClock, type LeapingClock } from '../../core/testing/leaping-clock.js'
import { submit, until } from './runs.js'

export const day = 86_400_000

export interface Stand extends TestDaemon {
  readonly clock: LeapingClock
}
export const stand = async (t: ExecutionContext, retention: JsonObject, root?: string, disk?: Disk): Promise<Stand> => {
  const clock = createLeapingClock()
  const where = { ...(root !== undefined && { root }), ...(disk !== undefined && { disk }) }
  const daemon = await startTestDaemon(t, { clock, config: { retention }, ...where })
  return { ...daemon, clock }
}
export const weekOfRuns = { kinds: { runs: { max_age: '8d' } } }

export const retain = async ({ request }: TestDaemon, dry_run: boolean): Promise<any> => {
  const { status, body } = await request('POST', '/v1/retention', { dry_run })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}
export const complete = async (daemon: TestDaemon, content: string, session_id = 's1'): Promise<string> => {
  const { run_id } = await submit(daemon, session_id, content)
  await until(daemon, run_id, 'completed')
  return run_id
}
export const statusOf = async ({ request }: TestDaemon): Promise<any> => (await request('GET', '/v1/status')).body
/** Runs of one day each, from the oldest; every day is a partition of its own. */
export const daysOfRuns = async (daemon: Stand, ...contents: readonly string[]): Promise<string[]> => {
  const ids: string[] = []
  for (const content of contents) {
    ids.push(await complete(daemon, content))
    await retain(daemon, true)
    daemon.clock.leap(day)
  }
  return ids
}
