/** Short forms for tests of playbooks and flows. */
import { createPause } from './pause.js'
import { createClock } from '../../core/base/clock.js'
import type { JsonObject } from '../../core/plugin.js'
import type { Answer, Reachable } from './daemon.js'

const clock = createClock()

/** Keeps and publishes a playbook, and gives what names its version. */
export const publish = async ({ request }: Pick<Reachable, 'request'>, more: JsonObject = {}): Promise<JsonObject> => {
  const manifest = {
    playbook_id: 'notes',
    version: '1',
    title: 'Release notes',
    objective: 'Readers understand them.',
    phases: [{ phase_id: 'write', objective: 'Write them.', acceptance_criteria: ['All changes are in.'] }],
    acceptance_criteria: ['Somebody has read them.'],
    ...more,
  }
  const { playbook_id, version } = manifest
  const made = await request('POST', '/v1/playbooks', { manifest })
  const { digest } = made.body.selected_version
  const evidence_refs = [{ kind: 'review', id: 'r-1' }]
  await request('POST', `/v1/playbooks/${playbook_id}/publish`, { version, digest, evidence_refs })
  return { playbook_id, version, digest }
}

export interface FlowWish {
  readonly playbook_ref: JsonObject
  readonly content?: string
  readonly session_id?: string
  readonly [more: string]: unknown
}

export const startFlow = (
  { request }: Pick<Reachable, 'request'>,
  { content = 'go', session_id = 's1', ...more }: FlowWish,
): Promise<Answer> => request('POST', '/v1/flows', { session_id, request: { content }, ...more })

/** Reads a flow until it is so. */
export const untilFlow = async (
  { request }: Pick<Reachable, 'request'>,
  flow_id: string,
  holds: (flow: any) => boolean,
): Promise<any> => {
  const deadline = clock.elapsed() + 300_000
  const pause = createPause()
  for (;;) {
    const { body } = await request('GET', `/v1/flows/${flow_id}`)
    if (holds(body)) return body
    if (clock.elapsed() > deadline) throw new Error(`the flow is ${JSON.stringify(body)}`)
    await pause()
  }
}

export const inStatus =
  (...statuses: readonly string[]) =>
  ({ status }: any): boolean =>
    statuses.includes(status)
