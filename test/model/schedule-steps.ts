/** Steps about schedules. Fires that have come are one in the past; others are made to come by a trigger. */
import { fault } from '../../core/base/assert.js'
import { accept, isOver, planRun, scheduleStatus, textOf, type Schedule } from './model.js'
import { eventually } from './shadow.js'
import { pick, plans, sessionsOf, type Stand, type Step } from './steps.js'

const mostSchedules = 60

/** A fire of the schedule has come: one run of its session, whatever happens meanwhile. */
const fire = async ({ world, shadow }: Stand, schedule: Schedule): Promise<void> => {
  const session = world.sessions.get(schedule.session_id)
  if (session === undefined) throw fault('a schedule without a session')
  const token = `${schedule.name}-${schedule.fires.length}`
  const before = shadow.names.runs.get(schedule.fires.at(-1)?.token ?? '')
  await eventually(async () => {
    const { body } = await shadow.send({
      method: 'GET',
      path: `/v1/schedules/${shadow.names.schedules.get(schedule.name)}`,
    })
    if (body.last_dispatched_run_id === undefined || body.last_dispatched_run_id === before)
      return `${schedule.name} made no run`
    shadow.names.runs.set(token, body.last_dispatched_run_id)
    return undefined
  })
  const run = planRun(session, {
    token,
    mark: schedule.name,
    stages: schedule.stages,
    ends: 'completed',
    kind: 'scheduled_input',
  })
  schedule.fires.push(run)
  accept(world, session, run)
}

const create: Step = async (stand, { a, b, c }) => {
  const { world, shadow } = stand
  const session = pick(sessionsOf(world, a % 9 === 0), a)
  if (session === undefined || world.schedules.length >= mostSchedules) return false
  const kind = c % 2 === 0 ? 'once' : 'interval'
  const schedule: Schedule = {
    name: `p${world.schedules.length}`,
    session_id: session.id,
    kind,
    stages: pick(plans, b) ?? [],
    fires: [],
    asked: 'active',
  }
  const content = textOf(planRun(session, { token: schedule.name, stages: schedule.stages, ends: 'completed' }))
  const cadence = kind === 'once' ? { type: 'once', fire_at_ms: 1 } : { type: 'interval', every_seconds: 1_000_000 }
  const call = {
    method: 'POST',
    path: '/v1/schedules',
    body: { name: schedule.name, target_session_id: session.id, cadence, request: { content } },
  }
  if (session.ended) {
    await shadow.expect('session_ended', call)
    return true
  }
  const { body } = await shadow.expect(201, call)
  shadow.names.schedules.set(schedule.name, body.schedule_id)
  world.schedules.push(schedule)
  if (kind === 'once') await fire(stand, schedule)
  return true
}

const act = ({ shadow }: Stand, schedule: Schedule, action: string) => ({
  method: 'POST',
  path: `/v1/schedules/${shadow.names.schedules.get(schedule.name)}/${action}`,
})

/** One execution beside the cadence. Once it is acknowledged, a kill does not take it back. */
const trigger: Step = async (stand, { a, b }) => {
  const schedule = pick(stand.world.schedules, a)
  if (schedule === undefined || stand.world.sessions.get(schedule.session_id)?.ended === true) return false
  const call = act(stand, schedule, 'trigger')
  const status = scheduleStatus(schedule)
  if (status === 'canceled' || status === 'completed') await stand.shadow.expect('schedule_state_conflict', call)
  else if (schedule.fires.some((run) => !isOver(run))) await stand.shadow.expect('schedule_busy', call)
  else {
    await stand.shadow.expect(200, call)
    if (b % 24 === 0) await stand.shadow.kill()
    await fire(stand, schedule)
  }
  return true
}

const change: Step = async (stand, { a, b }) => {
  const schedule = pick(stand.world.schedules, a)
  if (schedule === undefined) return false
  const status = scheduleStatus(schedule)
  const action = b % 7 === 0 ? 'cancel' : status === 'paused' ? 'resume' : b % 5 === 0 ? 'resume' : 'pause'
  const fits = {
    cancel: status === 'active' || status === 'paused',
    pause: status === 'active',
    resume: status === 'paused',
  }[action]
  await stand.shadow.expect(fits ? 200 : 'schedule_state_conflict', act(stand, schedule, action))
  if (fits) schedule.asked = action === 'cancel' ? 'canceled' : action === 'pause' ? 'paused' : 'active'
  return true
}

export const scheduleSteps = {
  schedule: { step: create, weight: 5 },
  trigger: { step: trigger, weight: 8 },
  changeSchedule: { step: change, weight: 6 },
} as const
