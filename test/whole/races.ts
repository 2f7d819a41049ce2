/**
 * How each route that takes an idempotency key is called, and how its effects are counted. A keyed route without a row
 * fails the suite.
 */
import type { Reachable } from '../support/daemon.js'
import { publish } from '../support/flows.js'
import { openSession, submit, until } from '../support/runs.js'

export interface Race {
  /** Where the body has the key; `idempotency_key` when absent. */
  readonly field?: string
  readonly path: string
  /** A body; 0 and 1 give different payloads, and so do other numbers where a body can say so much. */
  body(n: number): object
  /** What was done, in a form that two effects make longer. */
  effects(): Promise<readonly unknown[]>
}

let sessions = 0

const begin = async (daemon: Reachable, content?: string) => {
  const session_id = await openSession(daemon, `race-${(sessions += 1)}`)
  const run_id: string = content === undefined ? '' : (await submit(daemon, session_id, content)).run_id
  return { session_id, run_id }
}

const runsOf = async (daemon: Reachable, session_id: string): Promise<readonly unknown[]> =>
  (await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body

/** Events of a run that say that somebody decided, and calls that were made. */
const decisionsOf = async (daemon: Reachable, session_id: string): Promise<readonly unknown[]> => {
  const {
    session: { journal },
  } = (await daemon.request('GET', `/v1/sessions/${session_id}/events`)).body
  return journal.filter(
    ({ type, entry }: any) =>
      type === 'intent' || (type === 'event' && /_resolved$|^cancelled$/u.test(entry.event.type)),
  )
}

const approval = async (
  daemon: Reachable,
  pathOf: (ids: { session_id: string; run_id: string }) => string,
): Promise<Race> => {
  const ids = await begin(daemon, '/tool bash {"command":"true"}\n---\n/sleep 200')
  const {
    pending_approval_ids: [request_id],
  } = await until(daemon, ids.run_id, 'waiting_for_approval')
  return {
    path: pathOf(ids),
    body: (n) => ({ resolutions: [{ request_id, behavior: 'allow', justification: `j${n}` }] }),
    effects: async () => {
      await until(daemon, ids.run_id, 'completed')
      const done = await decisionsOf(daemon, ids.session_id)
      return done.length === 2 ? ['resolved and called'] : [...done, 'more or less']
    },
  }
}

const question = async (
  daemon: Reachable,
  how: {
    path: (ids: { session_id: string; run_id: string; request_id: string }) => string
    body: (request_id: string, n: number) => object
    ends: string
    effects: number
  },
): Promise<Race> => {
  const ids = await begin(daemon, '/ask Well? | A | B\n---\n/sleep 200')
  const {
    pending_question_ids: [request_id],
  } = await until(daemon, ids.run_id, 'waiting_for_user_question')
  return {
    path: how.path({ ...ids, request_id }),
    body: (n) => how.body(request_id, n),
    effects: async () => {
      await until(daemon, ids.run_id, how.ends)
      const done = await decisionsOf(daemon, ids.session_id)
      return done.length === how.effects ? ['answered'] : [...done, 'more or less']
    },
  }
}

const submission = async (daemon: Reachable, segment: string): Promise<Race> => {
  const { session_id } = await begin(daemon)
  return {
    path: `/v1/sessions/${session_id}/${segment}`,
    body: (n) => ({ content: `/sleep 200\n/say n${n}` }),
    effects: () => runsOf(daemon, session_id),
  }
}

const materialization = async (daemon: Reachable): Promise<Race> => {
  const { session_id } = await begin(daemon)
  return {
    path: '/v1/observation-materializations',
    body: (n) => ({
      target_session_id: session_id,
      selection: { type: 'observation_group', capture_group_id: 'nobody' },
      fail_when_empty: false,
      request: { content: `/say n${n}` },
    }),
    effects: () => runsOf(daemon, session_id),
  }
}

const retry = async (daemon: Reachable): Promise<Race> => {
  const { session_id, run_id } = await begin(daemon, '/fail fatal no')
  await until(daemon, run_id, 'failed')
  return {
    path: `/v1/runs/${run_id}/retry`,
    body: (n) => (n % 2 === 0 ? {} : { provider: 'demo' }),
    effects: async () => (await runsOf(daemon, session_id)).slice(1),
  }
}

const answerBody = (request_id: string, n: number): object => ({
  resolution: { request_id, answers: [{ question_id: 'q1', selected_option_ids: [], freeform_answer: `n${n}` }] },
})
const answered = { body: answerBody, ends: 'completed', effects: 1 }

const sidechain = async (daemon: Reachable): Promise<Race> => {
  const { session_id } = await begin(daemon)
  const { agent_id } = (await daemon.request('GET', `/v1/sessions/${session_id}`)).body
  return {
    path: `/v1/agents/${agent_id}/sidechains`,
    field: 'spawn_request_id',
    body: (n) => ({ subtask: { name: `n${n}` } }),
    effects: async () => (await daemon.request('GET', `/v1/agents/summaries?root=${agent_id}`)).body.slice(1),
  }
}

const flow = async (daemon: Reachable): Promise<Race> => {
  const { session_id } = await begin(daemon)
  const playbook_ref = await publish(daemon, { playbook_id: session_id })
  return {
    path: '/v1/flows',
    body: (n) => ({ playbook_ref, session_id, request: { content: `/say n${n}` } }),
    effects: () => runsOf(daemon, session_id),
  }
}

const task = async (daemon: Reachable): Promise<Race> => {
  const { session_id } = await begin(daemon)
  const member = { member_id: 'm', member_kind: 'session', display_name: 'M', session_id }
  await daemon.request('POST', '/v1/projects', { project_id: session_id, display_name: 'P', members: [member] })
  const at = `/v1/projects/${session_id}/tasks`
  await daemon.request('POST', at, { project_task_id: 't', title: 'T', assignment: { assignee_member_id: 'm' } })
  return {
    path: `${at}/t/start`,
    body: (n) => ({ metadata: { n } }),
    effects: () => runsOf(daemon, session_id),
  }
}

/** By route id. */
export const races: Readonly<Record<string, (daemon: Reachable) => Promise<Race>>> = {
  'agents.sidechains.create': sidechain,
  'flows.start': flow,
  'observations.materialize': materialization,
  'projects.tasks.start': task,
  'runs.approvals': (daemon) => approval(daemon, ({ run_id }) => `/v1/runs/${run_id}/approvals`),
  'runs.questions.answer': (daemon) =>
    question(daemon, { ...answered, path: ({ run_id }) => `/v1/runs/${run_id}/questions` }),
  'runs.questions.cancel': (daemon) =>
    question(daemon, {
      path: ({ run_id, request_id }) => `/v1/runs/${run_id}/questions/${request_id}/cancel`,
      body: (_, n) => ({ justification: `n${n}` }),
      ends: 'cancelled',
      effects: 2,
    }),
  'runs.retry': retry,
  'sessions.approval_runs': (daemon) =>
    approval(daemon, ({ session_id }) => `/v1/sessions/${session_id}/approval-runs`),
  'sessions.approvals': (daemon) => approval(daemon, ({ session_id }) => `/v1/sessions/${session_id}/approvals`),
  'sessions.input': (daemon) => submission(daemon, 'input'),
  'sessions.questions.answer': (daemon) =>
    question(daemon, { ...answered, path: ({ session_id }) => `/v1/sessions/${session_id}/questions` }),
  'sessions.runs.create': (daemon) => submission(daemon, 'runs'),
}
