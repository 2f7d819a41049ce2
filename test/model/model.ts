/** What sessions and runs should be, as a small pure model. The daemon is held against it after every step. */

/** What a run waits for on its way: files it may write, or a question. */
export type Stage = { readonly kind: 'approval'; readonly files: number } | { readonly kind: 'question' }
export type Status =
  | 'queued'
  | 'running'
  | 'waiting_for_approval'
  | 'waiting_for_user_question'
  | 'completed'
  | 'failed'
  | 'interrupted'
  | 'cancelled'

export interface Run {
  /** Its name in the model. */
  readonly token: string
  /** What stands in its text; runs of one schedule share it. */
  readonly mark: string
  readonly session_id: string
  readonly stages: readonly Stage[]
  readonly ends: 'completed' | 'failed'
  readonly kind: 'input' | 'scheduled_input'
  /** Where its outputs go. */
  readonly target?: string | undefined
  stage: number
  /** Numbers of the requests of this stage that nobody answered. */
  open: number[]
  status: Status
  readonly events: string[]
  readonly outputs: string[]
  /** Files that it must have written, and no others. */
  readonly files: string[]
}

export interface Session {
  readonly id: string
  ended: boolean
  readonly runs: Run[]
}

export interface World {
  readonly sessions: Map<string, Session>
  readonly runs: Run[]
  readonly schedules: Schedule[]
  /** What each target gets, in order. */
  readonly sent: Map<string, string[]>
  /** Runs that changed since they were last compared. */
  readonly changed: Set<Run>
}

/** A schedule of runs, each of which begins when its fire comes or it is triggered. */
export interface Schedule {
  readonly name: string
  readonly session_id: string
  readonly kind: 'once' | 'interval'
  readonly stages: readonly Stage[]
  readonly fires: Run[]
  asked: 'active' | 'paused' | 'canceled'
}

/** What is left of a schedule: one that has nothing left to fire is completed when its runs are over. */
export const scheduleStatus = ({ kind, fires, asked }: Schedule): string =>
  asked !== 'canceled' && kind === 'once' && fires.every(isOver) ? 'completed' : asked

export const createWorld = (): World => ({
  sessions: new Map(),
  runs: [],
  schedules: [],
  sent: new Map(),
  changed: new Set(),
})

export const isOver = ({ status }: Run): boolean =>
  status === 'completed' || status === 'failed' || status === 'interrupted' || status === 'cancelled'
export const isWaiting = ({ status }: Run): boolean =>
  status === 'waiting_for_approval' || status === 'waiting_for_user_question'

export const fileOf = ({ mark }: Run, stage: number, index: number): string => `${mark}-${stage}-${index}.txt`

/** The text that makes the demo model do what the run plans. */
export const textOf = (run: Run): string => {
  const said = run.ends === 'completed' ? `/say did ${run.mark}` : '/fail fatal as planned'
  if (run.stages.length === 0) return run.ends === 'completed' ? `hello ${run.mark}` : said
  const turns = run.stages.map((stage, at) =>
    stage.kind === 'question'
      ? '/ask Which? | A | B'
      : Array.from(
          { length: stage.files },
          (_, index) => `/tool write_file ${JSON.stringify({ path: fileOf(run, at, index), content: run.mark })}`,
        ).join('\n'),
  )
  return [...turns, said].join('\n---\n')
}

const become = (world: World, run: Run, status: Status, event: string = status): void => {
  run.status = status
  run.events.push(event)
  world.changed.add(run)
}

const end = (world: World, run: Run, status: 'completed' | 'failed' | 'interrupted' | 'cancelled'): void => {
  run.open = []
  become(world, run, status)
}

const say = ({ sent }: World, run: Run, content: string): void => {
  run.outputs.push(content)
  run.events.push('output')
  if (run.target !== undefined) sent.set(run.target, [...(sent.get(run.target) ?? []), content])
}

/** Goes to the next stage, or to the end. */
const advance = (world: World, run: Run): void => {
  const stage = run.stages[run.stage]
  if (stage !== undefined) {
    run.open = stage.kind === 'question' ? [0] : Array.from({ length: stage.files }, (_, index) => index)
    return become(world, run, stage.kind === 'question' ? 'waiting_for_user_question' : 'waiting_for_approval')
  }
  if (run.ends === 'completed') {
    say(world, run, run.stages.length === 0 ? `You said: hello ${run.mark}` : `did ${run.mark}`)
  }
  end(world, run, run.ends)
}

/** The run that has the slot of a session. */
export const activeRun = ({ runs }: Session): Run | undefined =>
  runs.find((run) => run.status === 'running' || isWaiting(run))
const queuedRuns = ({ runs }: Session): Run[] => runs.filter(({ status }) => status === 'queued')

const startNext = (world: World, session: Session): void => {
  for (
    let next = queuedRuns(session)[0];
    next !== undefined && activeRun(session) === undefined;
    next = queuedRuns(session)[0]
  ) {
    next.status = 'running'
    next.events.push('started')
    advance(world, next)
  }
}

export const isBusy = (session: Session): boolean => activeRun(session) !== undefined || queuedRuns(session).length > 0

export interface Plan extends Pick<Run, 'token' | 'stages' | 'ends'> {
  readonly mark?: string
  readonly kind?: Run['kind']
  readonly target?: string | undefined
}

/** A run of a session, not yet accepted. */
export const planRun = (session: Session, { kind = 'input', mark = '', ...plan }: Plan): Run => ({
  ...plan,
  kind,
  mark: mark === '' ? plan.token : mark,
  session_id: session.id,
  stage: 0,
  open: [],
  status: 'queued',
  events: ['accepted', 'queued'],
  outputs: [],
  files: [],
})

/** Accepts a planned run. */
export const accept = (world: World, session: Session, run: Run): void => {
  session.runs.push(run)
  world.runs.push(run)
  world.changed.add(run)
  startNext(world, session)
}

/** Answers open requests of a waiting run; it goes on when none is left. */
export const resolve = (world: World, run: Run, answers: ReadonlyMap<number, 'allow' | 'deny'>): void => {
  for (const [index, behavior] of answers)
    if (behavior === 'allow' && run.status === 'waiting_for_approval') run.files.push(fileOf(run, run.stage, index))
  run.open = run.open.filter((index) => !answers.has(index))
  world.changed.add(run)
  if (run.open.length > 0) return
  run.stage += 1
  advance(world, run)
  release(world, run)
}

const release = (world: World, run: Run): void => {
  const session = world.sessions.get(run.session_id)
  if (isOver(run) && session !== undefined) startNext(world, session)
}

/** Ends a run that is not over. What was allowed in an unfinished stage has not been done. */
export const stop = (world: World, run: Run, status: 'cancelled' | 'interrupted'): void => {
  const unfinished = new Set(Array.from({ length: 10 }, (_, index) => fileOf(run, run.stage, index)))
  run.files.splice(0, run.files.length, ...run.files.filter((file) => !unfinished.has(file)))
  end(world, run, status)
  release(world, run)
}

export const endSession = (world: World, session: Session): void => {
  session.ended = true
  for (const run of queuedRuns(session)) end(world, run, 'cancelled')
  const active = activeRun(session)
  if (active !== undefined) stop(world, active, 'interrupted')
}
