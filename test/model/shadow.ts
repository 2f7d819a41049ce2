/** The daemon under test, and how it is compared with the model. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fault } from '../../core/base/assert.js'
import { createClock } from '../../core/base/clock.js'
import { spawnDaemon, type SpawnedDaemon } from '../support/daemon.js'
import { createSender, type Got, type Sender } from '../whole/client.js'
import { activeRun, isOver, isWaiting, scheduleStatus, type Run, type Schedule, type World } from './model.js'
import type { Receiver } from './receiver.js'

const clock = createClock()
const patienceMs = 300_000

export interface Call {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly key?: string
}

/** What the daemon calls the runs and requests of the model. */
export interface Names {
  readonly runs: Map<string, string>
  /** Ids of the requests of a run's present stage, in order. */
  readonly requests: Map<string, string[]>
  readonly schedules: Map<string, string>
}

export interface Shadow {
  readonly names: Names
  send(call: Call): Promise<Got>
  /** Sends and throws for any other status or code. */
  expect(wanted: number | string, call: Call): Promise<Got>
  /** kill -9 and a new start; `meanwhile` is sent just before and may be lost. */
  kill(meanwhile?: Call): Promise<void>
  restart(): Promise<void>
  end(): Promise<void>
}

export interface ShadowParts {
  readonly root: string
  readonly workspace: string
  readonly flags?: readonly string[]
}

export const createShadow = async ({ root, workspace, flags = [] }: ShadowParts): Promise<Shadow> => {
  let daemon: SpawnedDaemon
  let sender: Sender
  const open = async (): Promise<void> => {
    daemon = await spawnDaemon({ root, flags: ['--workspace-root', workspace, '--log-level', 'error', ...flags] })
    sender = createSender(daemon.url)
  }
  await open()
  const send = ({ method, path: at, body, key }: Call): Promise<Got> =>
    sender.send({
      method,
      path: at,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    })
  const die = async (): Promise<void> => {
    sender.close()
    await daemon.kill('SIGKILL')
  }
  return {
    names: { runs: new Map(), requests: new Map(), schedules: new Map() },
    send,
    async expect(wanted, call) {
      const got = await send(call)
      if (got.status === wanted || got.body?.code === wanted) return got
      throw fault(
        `${call.method} ${call.path} ${JSON.stringify(call.body)}: ${got.status} ${got.text.slice(0, 400)}, ` +
          `expected ${wanted}`,
      )
    },
    async kill(meanwhile) {
      if (meanwhile !== undefined) send(meanwhile).catch(() => undefined)
      await clock.sleep(meanwhile === undefined ? 0 : 3)
      await die()
      await open()
    },
    async restart() {
      sender.close()
      await daemon.stop()
      await open()
    },
    end: die,
  }
}

/** Asks until the answer is the right one; throws the last difference after a while. */
export const eventually = async (look: () => Promise<string | undefined>): Promise<void> => {
  const deadline = clock.elapsed() + patienceMs
  for (let pause = 1; ; pause = Math.min(50, pause * 2)) {
    const difference = await look()
    if (difference === undefined) return
    if (clock.elapsed() > deadline) throw fault(difference)
    await clock.sleep(pause)
  }
}

const differs = (what: string, is: unknown, should: unknown): string | undefined =>
  JSON.stringify(is) === JSON.stringify(should)
    ? undefined
    : `${what} is ${JSON.stringify(is)}, should be ${JSON.stringify(should)}`

/** Requests of a view that were not answered before. */
const pendingOf = (view: any): string[] => view.pending_approval_ids ?? view.pending_question_ids ?? []

const compareRun = async ({ names, send }: Shadow, run: Run): Promise<string | undefined> => {
  const id = names.runs.get(run.token) ?? ''
  const { body: view } = await send({ method: 'GET', path: `/v1/runs/${id}` })
  const wrong =
    differs(`status of ${run.token}`, view.status, run.status) ??
    differs(`open requests of ${run.token}`, pendingOf(view).length, run.open.length) ??
    differs(`kind of ${run.token}`, view.kind, run.kind) ??
    differs(
      `outputs of ${run.token}`,
      (view.outputs ?? []).map(({ content }: any) => content),
      run.outputs,
    )
  if (wrong !== undefined) return wrong
  const known = names.requests.get(run.token) ?? []
  const fresh = isWaiting(run) && pendingOf(view).every((request) => !known.includes(request))
  const same = pendingOf(view).every((request) => known.includes(request))
  if (!fresh && !same) return `requests of ${run.token} are of two stages`
  if (fresh && run.open[0] !== 0) return `requests of ${run.token} changed`
  if (fresh) names.requests.set(run.token, pendingOf(view))
  return undefined
}

const answered = new Set(['approval_resolved', 'user_question_resolved'])

const compareEvents = async ({ names, send }: Shadow, run: Run): Promise<void> => {
  const { body: events } = await send({ method: 'GET', path: `/v1/runs/${names.runs.get(run.token)}/events` })
  const wrong = differs(
    `events of ${run.token}`,
    events.map(({ event }: any) => event.type).filter((type: string) => !answered.has(type)),
    run.events,
  )
  if (wrong !== undefined) throw fault(wrong)
}

/** Waits until each run that changed is what the model says. */
export const compareChanged = async (shadow: Shadow, { changed }: World): Promise<void> => {
  for (const run of changed) {
    await eventually(() => compareRun(shadow, run))
    if (isOver(run)) await compareEvents(shadow, run)
  }
  changed.clear()
}

/** Status and executions of a schedule, in order. */
const compareSchedule = async ({ names, send }: Shadow, schedule: Schedule): Promise<string | undefined> => {
  const { body: view } = await send({ method: 'GET', path: `/v1/schedules/${names.schedules.get(schedule.name)}` })
  const runs = view.recent_executions.map(({ run_id }: any) => run_id)
  return (
    differs(`status of ${schedule.name}`, view.status, scheduleStatus(schedule)) ??
    differs(`count of ${schedule.name}`, view.execution_count, schedule.fires.length) ??
    differs(
      `runs of ${schedule.name}`,
      runs,
      schedule.fires.slice(-50).map(({ token }) => names.runs.get(token)),
    )
  )
}

const allPages = async (shadow: Shadow, at: string): Promise<any[]> => {
  const items: any[] = []
  for (let cursor = ''; ;) {
    const { body } = await shadow.expect(200, {
      method: 'GET',
      path: `${at}?page=true&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
    })
    items.push(...body.items)
    if (!body.pagination.has_more) return items
    cursor = body.pagination.next_cursor
  }
}

const compareDeliveries = async (shadow: Shadow, { sent }: World, receiver: Receiver): Promise<string | undefined> => {
  for (const [target, contents] of sent) {
    const wrong = target === 'closed' ? undefined : differs(`what ${target} got`, receiver.accepted(target), contents)
    if (wrong !== undefined) return wrong
  }
  const deliveries = await allPages(shadow, '/v1/deliveries')
  const count = (status: string): number => deliveries.filter((delivery) => delivery.status === status).length
  const total = [...sent].reduce((sum, [target, contents]) => sum + (target === 'closed' ? 0 : contents.length), 0)
  return differs(
    'delivered and dead',
    [count('delivered'), count('dead_lettered')],
    [total, sent.get('closed')?.length ?? 0],
  )
}

interface Outside {
  readonly workspace: string
  readonly receiver: Receiver
}

/** Every list against the whole model; files and deliveries against what was allowed and said. */
export const compareAll = async (shadow: Shadow, world: World, { workspace, receiver }: Outside): Promise<void> => {
  await compareChanged(shadow, world)
  const runs = await allPages(shadow, '/v1/runs')
  const waiting = world.runs.filter(isWaiting)
  const questions = await allPages(shadow, '/v1/questions')
  const sessions = await allPages(shadow, '/v1/sessions')
  const byId = (ids: readonly string[]): string[] => ids.toSorted()
  const wrong =
    differs(
      'the runs',
      runs.map(({ run_id, status }) => `${run_id} ${status}`).toSorted(),
      byId(world.runs.map((run) => `${shadow.names.runs.get(run.token)} ${run.status}`)),
    ) ??
    differs(
      'the questions',
      byId(questions.map(({ run_id }) => run_id)),
      byId(
        waiting
          .filter(({ status }) => status === 'waiting_for_user_question')
          .map(({ token }) => shadow.names.runs.get(token) ?? ''),
      ),
    ) ??
    differs(
      'the sessions',
      sessions.map(({ session_id, pending_approvals, pending_questions }) => [
        session_id,
        pending_approvals + pending_questions,
      ]),
      [...world.sessions.values()]
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map((session) => [session.id, activeRun(session)?.open.length ?? 0]),
    )
  if (wrong !== undefined) throw fault(wrong)
  await eventually(() => compareDeliveries(shadow, world, receiver))
  for (const schedule of world.schedules) await eventually(() => compareSchedule(shadow, schedule))
  for (const run of world.runs) {
    const lost = run.files.find((file) => isOver(run) && !existsSync(path.join(workspace, file)))
    if (lost !== undefined) throw fault(`${lost} was allowed and is not there`)
  }
}
