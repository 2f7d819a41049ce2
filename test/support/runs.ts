/** Short forms for tests that submit and watch runs. */
import { createClock } from '../../core/base/clock.js'
import { createPause } from './pause.js'
import type { Answer, Ask } from './daemon.js'

const clock = createClock()

interface Target {
  readonly request: Ask
}

/** Creates a session and returns its id. */
export const openSession = async ({ request }: Target, session_id = 's1'): Promise<string> => {
  await request('POST', '/v1/sessions', { session_id })
  return session_id
}

/** Submits a detached run and returns its view. */
export const submit = async ({ request }: Target, session_id: string, content: string): Promise<any> =>
  (await request('POST', `/v1/sessions/${session_id}/runs`, { content })).body

const ends = ['completed', 'failed', 'interrupted', 'cancelled']

/** Reads a run until it has one of these statuses; throws when it has another one for good. */
export const until = async ({ request }: Target, run_id: string, ...statuses: string[]): Promise<any> => {
  const deadline = clock.elapsed() + 600_000
  const pause = createPause()
  for (;;) {
    const { body } = await request('GET', `/v1/runs/${run_id}`)
    if (statuses.includes(body.status)) return body
    if (typeof body.status !== 'string' || ends.includes(body.status) || clock.elapsed() > deadline)
      throw new Error(`run is ${body.status} (${body.error ?? ''}), not ${statuses.join(' or ')}`)
    await pause()
  }
}

/** The types of a run's events in order. */
export const eventTypes = async ({ request }: Target, run_id: string): Promise<string[]> =>
  (await request('GET', `/v1/runs/${run_id}/events`)).body.map((entry: any) => entry.event.type)

export const codeOf = (answer: Answer): [number, string] => [answer.status, answer.body.code]
