/**
 * The steps of a history: each is done to the daemon and to the model. What a step is about follows from its numbers
 * and the model alone.
 */
import { fault } from '../../core/base/assert.js'
import {
  accept,
  activeRun,
  endSession,
  isBusy,
  isOver,
  isWaiting,
  planRun,
  resolve,
  stop,
  textOf,
  type Run,
  type Session,
  type Stage,
  type World,
} from './model.js'
import { targets, type Receiver } from './receiver.js'
import type { Shadow } from './shadow.js'

/** Numbers that choose among what there is. */
export interface Choice {
  readonly a: number
  readonly b: number
  readonly c: number
}
export interface Stand {
  readonly world: World
  readonly shadow: Shadow
  readonly receiver: Receiver
  readonly keys: Map<string, Run>
}
/** False if there is nothing to do it with. */
export type Step = (stand: Stand, choice: Choice) => Promise<boolean>

const mostSessions = 6
export const pick = <T>(items: readonly T[], at: number): T | undefined => items[at % Math.max(1, items.length)]
export const sessionsOf = ({ sessions }: World, ended = false): Session[] =>
  [...sessions.values()].filter((session) => session.ended === ended)

export const plans: readonly (readonly Stage[])[] = [
  [],
  [],
  [{ kind: 'approval', files: 1 }],
  [{ kind: 'approval', files: 3 }],
  [{ kind: 'question' }],
  [{ kind: 'approval', files: 1 }, { kind: 'question' }],
  [{ kind: 'question' }, { kind: 'approval', files: 2 }],
]

/** A run that the choice asks for, in a session that is open. */
export const plan = ({ world }: Stand, { a, b, c }: Choice): { session: Session; run: Run } | undefined => {
  const session = pick(sessionsOf(world), a)
  if (session === undefined) return undefined
  const token = `t${world.runs.length}`
  return {
    session,
    run: planRun(session, {
      token,
      stages: pick(plans, b) ?? [],
      ends: c % 6 === 0 ? 'failed' : 'completed',
      target: targets[c % 7],
    }),
  }
}

const bodyOf = ({ receiver }: Stand, run: Run) => ({
  content: textOf(run),
  metadata: { token: run.token },
  ...(run.target !== undefined && { reply_targets: [receiver.handle(run.target)] }),
})
const runsPath = ({ session_id }: Run | { session_id: string }): string => `/v1/sessions/${session_id}/runs`
const nameRun = ({ shadow }: Stand, run: Run, view: any): void => void shadow.names.runs.set(run.token, view.run_id)
const runPath = ({ shadow }: Stand, run: Run, rest: string): string =>
  `/v1/runs/${shadow.names.runs.get(run.token)}${rest}`

const createSession: Step = async ({ world, shadow }, { a }) => {
  const id = `s${a % mostSessions}`
  await shadow.expect(201, { method: 'POST', path: '/v1/sessions', body: { session_id: id } })
  const known = world.sessions.get(id)
  if (known === undefined) world.sessions.set(id, { id, ended: false, runs: [] })
  else known.ended = false
  return true
}

const submit: Step = async (stand, choice) => {
  const planned = plan(stand, choice)
  if (planned === undefined) return false
  const { session, run } = planned
  const key = choice.c % 3 === 0 ? `key-${run.token}` : undefined
  const { body } = await stand.shadow.expect(202, {
    method: 'POST',
    path: runsPath(run),
    body: bodyOf(stand, run),
    ...(key !== undefined && { key }),
  })
  accept(stand.world, session, run)
  nameRun(stand, run, body)
  if (key !== undefined) stand.keys.set(key, run)
  return true
}

const input: Step = async (stand, choice) => {
  const planned = plan(stand, choice)
  if (planned === undefined) return false
  const { session, run } = planned
  const call = { method: 'POST', path: `/v1/sessions/${session.id}/input`, body: bodyOf(stand, run) }
  if (isBusy(session)) {
    await stand.shadow.expect('session_busy', call)
    return true
  }
  await stand.shadow.expect(200, call)
  const { body: newest } = await stand.shadow.expect(200, {
    method: 'GET',
    path: `/v1/runs?session_id=${session.id}&limit=1`,
  })
  accept(stand.world, session, run)
  nameRun(stand, run, newest[0])
  return true
}

/** The same key and payload give the same run; another payload is refused. */
const repeat: Step = async (stand, { a, b }) => {
  const used = pick([...stand.keys], a)
  if (used === undefined) return false
  const [key, run] = used
  if (b % 3 === 0)
    await stand.shadow.expect('idempotency_conflict', {
      method: 'POST',
      path: runsPath(run),
      body: { content: 'another' },
      key,
    })
  else {
    const { body } = await stand.shadow.expect(202, {
      method: 'POST',
      path: runsPath(run),
      body: bodyOf(stand, run),
      key,
    })
    if (body.run_id !== stand.shadow.names.runs.get(run.token)) throw fault(`the key ${key} led to another run`)
  }
  return true
}

const waitingFor = ({ world }: Stand, status: Run['status'], at: number): Run | undefined =>
  pick(
    world.runs.filter((run) => run.status === status),
    at,
  )
const requestOf = ({ shadow }: Stand, run: Run, index: number): string =>
  shadow.names.requests.get(run.token)?.[index] ?? 'unknown'

const decide: Step = async (stand, { a, b, c }) => {
  const run = waitingFor(stand, 'waiting_for_approval', a)
  if (run === undefined) return false
  const chosen = b % 4 === 0 ? run.open.slice(0, 1) : run.open
  const answers = new Map(
    chosen.map((index) => [index, (c + index) % 5 === 0 ? ('deny' as const) : ('allow' as const)]),
  )
  const resolutions = [...answers].map(([index, behavior]) => ({ request_id: requestOf(stand, run, index), behavior }))
  const path = c % 2 === 0 ? runPath(stand, run, '/approvals') : `/v1/sessions/${run.session_id}/approval-runs`
  await stand.shadow.expect(202, { method: 'POST', path, body: { resolutions } })
  resolve(stand.world, run, answers)
  return true
}

/** A batch with one wrong request changes nothing, whatever else is in it. */
const decideWrongly: Step = async (stand, { a, b }) => {
  const run = waitingFor(stand, 'waiting_for_approval', a)
  if (run === undefined) return false
  const right = run.open.map((index) => ({ request_id: requestOf(stand, run, index), behavior: 'allow' }))
  const wrong =
    b % 2 === 0
      ? { code: 'approval_request_not_pending', more: { request_id: 'nobody', behavior: 'allow' } }
      : { code: 'approval_duplicate_resolution', more: right[0] }
  await stand.shadow.expect(wrong.code, {
    method: 'POST',
    path: runPath(stand, run, '/approvals'),
    body: { resolutions: [...right, wrong.more] },
  })
  stand.world.changed.add(run)
  return true
}

const answer: Step = async (stand, { a, b }) => {
  const run = waitingFor(stand, 'waiting_for_user_question', a)
  if (run === undefined) return false
  const request_id = requestOf(stand, run, 0)
  const path = runPath(stand, run, '/questions')
  if (b % 7 === 0) {
    await stand.shadow.expect('question_request_mismatch', {
      method: 'POST',
      path,
      body: { resolution: { request_id: 'nobody', declined: true } },
    })
    stand.world.changed.add(run)
    return true
  }
  if (b % 7 === 1) {
    await stand.shadow.expect(200, { method: 'POST', path: `${path}/${request_id}/cancel` })
    stop(stand.world, run, 'cancelled')
    return true
  }
  const resolution =
    b % 7 === 2
      ? { request_id, declined: true }
      : { request_id, answers: [{ question_id: 'q1', selected_option_ids: [b % 2 === 0 ? 'o1' : 'o2'] }] }
  await stand.shadow.expect(202, { method: 'POST', path, body: { resolution } })
  resolve(stand.world, run, new Map([[0, 'allow']]))
  return true
}

const cancel: Step = async (stand, { a, b }) => {
  const run = pick(b % 4 === 0 ? stand.world.runs : stand.world.runs.filter((one) => !isOver(one)), a)
  if (run === undefined) return false
  const call = { method: 'POST', path: runPath(stand, run, '/cancel') }
  if (isOver(run)) await stand.shadow.expect(run.status === 'cancelled' ? 200 : 'run_state_conflict', call)
  else {
    await stand.shadow.expect(200, call)
    stop(stand.world, run, 'cancelled')
  }
  return true
}

const interrupt: Step = async (stand, { a }) => {
  const session = pick([...stand.world.sessions.values()], a)
  if (session === undefined) return false
  const active = activeRun(session)
  const { body } = await stand.shadow.expect(200, { method: 'POST', path: `/v1/sessions/${session.id}/interrupt` })
  if (body.interrupted !== (active !== undefined)) throw fault(`interrupted is ${body.interrupted}`)
  if (active !== undefined) stop(stand.world, active, 'interrupted')
  return true
}

const finish: Step = async (stand, { a, b }) => {
  const session = pick([...stand.world.sessions.values()], a)
  if (session === undefined || b % 3 !== 0) return false
  await stand.shadow.expect(200, { method: 'POST', path: `/v1/sessions/${session.id}/end`, body: {} })
  endSession(stand.world, session)
  return true
}

/** An ended session takes no work; what is over takes no answer; what is unknown is not found. */
const refuse: Step = async (stand, { a, b }) => {
  const ended = pick(sessionsOf(stand.world, true), a)
  if (ended !== undefined && b % 3 === 0)
    await stand.shadow.expect('session_ended', {
      method: 'POST',
      path: runsPath({ session_id: ended.id }),
      body: { content: 'too late' },
    })
  const over = pick(
    stand.world.runs.filter((run) => !isWaiting(run)),
    a,
  )
  if (over !== undefined && b % 3 === 1)
    await stand.shadow.expect('approval_state_conflict', {
      method: 'POST',
      path: runPath(stand, over, '/approvals'),
      body: { resolutions: [{ request_id: 'nobody', behavior: 'allow' }] },
    })
  if (b % 3 === 2) await stand.shadow.expect('run_not_found', { method: 'GET', path: `/v1/runs/run_nobody${a}` })
  return true
}

/** The daemon is killed while a keyed submission is on its way: sent again, it is one run. */
const loseAnswer: Step = async (stand, choice) => {
  const planned = plan(stand, choice)
  if (planned === undefined || choice.c % 16 !== 0) return false
  const { session, run } = planned
  const call = { method: 'POST', path: runsPath(run), body: bodyOf(stand, run), key: `key-${run.token}` }
  await stand.shadow.kill(call)
  const { body } = await stand.shadow.expect(202, call)
  accept(stand.world, session, run)
  nameRun(stand, run, body)
  stand.keys.set(call.key, run)
  return true
}

const die: Step = async (stand, { a, b }) => {
  if (b % 16 !== 0) return false
  await (a % 3 === 0 ? stand.shadow.restart() : stand.shadow.kill())
  for (const run of stand.world.runs) if (!isOver(run)) stand.world.changed.add(run)
  return true
}

/** A step, and how often it is chosen. */
export interface WeightedStep {
  readonly step: Step
  readonly weight: number
}

export const runSteps: Readonly<Record<string, WeightedStep>> = {
  createSession: { step: createSession, weight: 8 },
  submit: { step: submit, weight: 30 },
  input: { step: input, weight: 8 },
  repeat: { step: repeat, weight: 8 },
  decide: { step: decide, weight: 24 },
  decideWrongly: { step: decideWrongly, weight: 5 },
  answer: { step: answer, weight: 20 },
  cancel: { step: cancel, weight: 8 },
  interrupt: { step: interrupt, weight: 4 },
  finish: { step: finish, weight: 3 },
  refuse: { step: refuse, weight: 6 },
  loseAnswer: { step: loseAnswer, weight: 3 },
  die: { step: die, weight: 3 },
}
