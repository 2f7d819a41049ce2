/**
 * Commands that go on behind the run that started them. Each is a task of the session (tasks-11 to tasks-18).
 */
import {
  Problem,
  type Ids,
  type JsonObject,
  type Spools,
  type Supervised,
  type SupervisedProgram,
  thrownText,
} from '../../../core/plugin.js'
import { failedCall, type ToolCall, type ToolOutcome } from '../../execution/tools/contract.js'
import type { SessionTask, TaskRunner } from '../../execution/tasks/contract.js'
import { beginLife, type EndReason, type Life, type LifeParts, type TaskRef } from './background-life.js'
import { backgroundOutput } from './background-output.js'
import type { ShellConfig } from './config.js'
import { shellErrors } from './errors.js'

export const backgroundKind = 'background_shell'

export interface BackgroundParts extends LifeParts {
  readonly ids: Ids
  readonly supervised: Supervised
  readonly config: ShellConfig
  readonly spools: Spools
}

export interface Order {
  readonly command: string
  /** What is started for it. */
  readonly run: string | readonly string[]
  /** It is bubblewrap, within which the command is. */
  readonly isWalled: boolean
  readonly environment: Readonly<Record<string, string>>
  /** Absolute path. */
  readonly folder: string
  readonly workdir: string | undefined
  readonly description: string | undefined
  readonly call: ToolCall
}

export interface Background {
  readonly runner: TaskRunner
  /** Starts a command and answers at once. */
  start(order: Order): Promise<ToolOutcome>
  /** Removes outputs beyond the number that is kept. */
  tidy(): Promise<void>
  /** Ends every process; the tasks stay in progress for the next start to judge. */
  leave(): Promise<void>
}

/** A command whose task is on record. It was `asked` to end, perhaps before there was a process. */
interface Entry {
  asked: boolean
  life?: Life
}

interface Commands extends BackgroundParts {
  /** By the id of the task. */
  readonly entries: Map<string, Entry>
  /** Starts and clean-ups under way: a stop waits for them. */
  readonly works: Set<Promise<unknown>>
  leaving: boolean
}

const stopped: EndReason = { status: 'cancelled', terminal_reason: 'stopped' }
const outOfTime: EndReason = { status: 'failed', terminal_reason: 'time_limit' }

/** Bytes that are looked at to tell why a command is silent. */
const tailBytes = 1_024

/** Characters of a command that a record shows. */
const shownCommand = 4_000
const titleOf = ({ description, command }: Order): string =>
  (description ?? command).trim().split('\n', 1).join('').slice(0, 200) || 'a command'

const metadataOf = ({ command, workdir, call }: Order): JsonObject => ({
  kind: backgroundKind,
  command: command.slice(0, shownCommand),
  ...(workdir !== undefined && { workdir }),
  created_by_run_id: call.run_id,
  tool_call_id: call.tool_call_id,
})

/** What the ends of all commands take at most when the daemon stops, beyond the grace; milliseconds. */
export const leaveMs = 7_000

export const createBackground = (parts: BackgroundParts): Background => {
  const commands: Commands = { ...parts, entries: new Map(), works: new Set(), leaving: false }
  return {
    runner: {
      kind: backgroundKind,
      stop: (task, reason) => stop(commands, task, reason),
      output: (task, wish) => backgroundOutput(parts.spools, task, wish),
    },
    start: (order) => track(commands, start(commands, order)),
    tidy: () => tidy(commands),
    leave: () => leave(commands),
  }
}

const track = <T>({ works }: Commands, work: Promise<T>): Promise<T> => {
  const tracked = work.finally(() => works.delete(tracked))
  works.add(tracked)
  return tracked
}

const start = async (commands: Commands, order: Order): Promise<ToolOutcome> => {
  const { ids, entries, tasks } = commands
  const id = ids.make('shell-task').replace('_', '-')
  const entry: Entry = { asked: false }
  entries.set(id, entry)
  try {
    const task = await claim(commands, order, id)
    const life = await begin(commands, order, { task, entry }).catch((error: unknown) =>
      commands.log.warn('a command could not be started', { error: thrownText(error) }),
    )
    if (life === undefined) {
      await giveUp(commands, task)
      entries.delete(id)
      return failedCall(shellErrors.command_not_started())
    }
    await recordProcess(commands, task, life)
    return started(commands, tasks.find(task.session_id, id) ?? task)
  } catch (error) {
    if (entry.life === undefined) entries.delete(id)
    entry.life?.end({ status: 'failed', terminal_reason: 'not_recorded' })
    if (error instanceof Problem) return failedCall(error)
    throw error
  }
}

/** Limits and record are one commit, so that no two starts can pass the same last place. */
const claim = ({ state, tasks, config }: Commands, order: Order, id: string): Promise<SessionTask> =>
  state.commit((tx) => {
    const open = tasks.listOpen({ runner: backgroundKind })
    const own = open.filter(({ session_id }) => session_id === order.call.session_id).length
    if (own >= config.background_per_session)
      throw shellErrors.background_limit({ details: { limit: config.background_per_session, whose: 'this session' } })
    if (open.length >= config.background_total)
      throw shellErrors.background_limit({ details: { limit: config.background_total, whose: 'the daemon' } })
    return tasks.add(tx, {
      id,
      session_id: order.call.session_id,
      runner: backgroundKind,
      title: titleOf(order),
      description: order.description ?? '',
      metadata: metadataOf(order),
    })
  })

const giveUp = ({ state, tasks }: Commands, ref: TaskRef): Promise<void> =>
  state.commit((tx) =>
    tasks.tell(tx, ref, { status: 'failed', metadata: { terminal_reason: 'not_started', stop_requested: null } }),
  )

const recordProcess = ({ state, tasks }: Commands, task: TaskRef, { program: { pid, started } }: Life): Promise<void> =>
  state.commit((tx) =>
    tasks.tell(tx, task, {
      metadata: { ...(pid !== undefined && { pid }), ...(started !== '' && { pid_started: started }) },
    }),
  )

/** Undefined if there is no process: the daemon stops, or the system refuses one. */
const begin = async (
  commands: Commands,
  order: Order,
  { task, entry }: { task: SessionTask; entry: Entry },
): Promise<Life | undefined> => {
  const { spools } = commands
  const spool = await spools.begin(task.id)
  const program = commands.leaving ? undefined : await startOrder(commands, order, task)
  if (program?.isThere !== true) {
    await spool.close()
    return undefined
  }
  const life = beginLife(commands, task, {
    program,
    spool,
    tail: () => spools.read(task.id, tailBytes)?.bytes ?? new Uint8Array(),
  })
  entry.life = life
  if (entry.asked) life.end(stopped)
  void track(commands, watch(commands, task, life)).catch((error: unknown) =>
    commands.log.warn('old outputs could not be removed', { error: thrownText(error) }),
  )
  return life
}

const startOrder = (
  { supervised }: Commands,
  { run, environment, folder, isWalled }: Order,
  { id }: SessionTask,
): Promise<SupervisedProgram> => supervised.start({ run, folder, environment, name: id, merged: true, holds: isWalled })

/** Ends a command that takes too long, and clears up after one that has ended. */
const watch = async (commands: Commands, { id }: TaskRef, life: Life): Promise<void> => {
  const { clock, config } = commands
  const limit = config.background_time_limit_ms
  const cancelLimit = limit === 0 ? () => {} : clock.after(limit, () => life.end(outOfTime))
  await life.done
  cancelLimit()
  commands.entries.delete(id)
  if (!commands.leaving) await tidy(commands)
}

const started = ({ tasks }: Commands, task: SessionTask): ToolOutcome => ({
  type: 'result',
  output: {
    success: true,
    stdout: '',
    stderr: '',
    exit_code: null,
    background_task_id: task.id,
    backgrounded_by_user: false,
    task: tasks.view(task),
  },
})

const stop = async (
  { state, tasks, entries }: Commands,
  task: SessionTask,
  reason: string | undefined,
): Promise<void> => {
  const entry = entries.get(task.id)
  if (entry === undefined) return
  await state.commit((tx) => {
    // Of several requests the reason of the first one stands.
    if (tasks.find(task.session_id, task.id)?.metadata?.['stop_requested'] === true) return
    tasks.tell(tx, task, { metadata: { stop_requested: true, ...(reason !== undefined && { stop_reason: reason }) } })
  })
  entry.asked = true
  entry.life?.end(stopped)
}

const tidy = async ({ spools, tasks, config, entries }: Commands): Promise<void> => {
  await spools.keepOnly([...tasks.newest(backgroundKind, config.background_kept_outputs), ...entries.keys()])
}

const leave = async (commands: Commands): Promise<void> => {
  const { entries, works } = commands
  commands.leaving = true
  const lives = [...entries.values()].flatMap(({ life }) => life ?? [])
  for (const life of lives) life.leave()
  if (lives.length > 0) await stopAll(commands, lives)
  await Promise.allSettled(works)
}

const stopAll = ({ supervised, config }: Commands, lives: readonly Life[]): Promise<unknown> =>
  supervised.stop(
    lives.map(({ program }) => program),
    config.grace_ms,
  )
