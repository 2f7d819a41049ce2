/** Skills that are promoted, for tests. */
import { done, scriptedProvider, text } from '../../plugins/providers/scripted/contract.js'
import type { Answer, Ask } from './daemon.js'
import { publish } from './learnings.js'
import { openSession, submit, until } from './runs.js'

interface Target {
  readonly request: Ask
}

export const marker = 'Notes written.'
export const instructions = 'Read the log, then write the notes.'

/** A model whose every answer has the marker. */
export const markingModel = () => scriptedProvider(() => [text(`Well. ${marker}`), done()])

/** The id of an active procedure of the workspace. */
export const procedure = async (daemon: Target, content = 'Notes are written from the log.'): Promise<string> =>
  (await publish(daemon, { kind: 'procedure', content })).learning_id

export const promote = ({ request }: Target, learning_id: string, more: object = {}): Promise<Answer> =>
  request('POST', `/v1/learnings/${learning_id}/promote-skill`, { skill_name: 'notes', instructions, ...more })

/** A run in a session of its own that has completed. */
export const completed = async (daemon: Target, session_id = 'runs'): Promise<string> => {
  await openSession(daemon, session_id)
  const { run_id } = await submit(daemon, session_id, 'go')
  await until(daemon, run_id, 'completed')
  return run_id
}

export const result = (
  { request }: Target,
  kind: 'verification' | 'canary',
  run_id: string,
  more: object = {},
): Promise<Answer> =>
  request('POST', `/v1/learning-skills/notes/rollout-result`, {
    kind,
    run_id,
    expected_output_contains: marker,
    ...more,
  })

/** Takes a learning through the whole rollout. */
export const activate = async (daemon: Target, learning_id: string, more: object = {}): Promise<any> => {
  await promote(daemon, learning_id, more)
  await result(daemon, 'verification', await completed(daemon))
  await promote(daemon, learning_id, { ...more, status: 'verified' })
  await promote(daemon, learning_id, { ...more, status: 'canary' })
  await result(daemon, 'canary', await completed(daemon))
  return (await promote(daemon, learning_id, { ...more, status: 'active' })).body
}

export const skillOf = async ({ request }: Target, name = 'notes'): Promise<any> =>
  (await request('GET', `/v1/learning-skills/${name}`)).body
