/**
 * Commands that go on behind the run that started them. Each is a task of the session (tasks-11 to tasks-18).
 */
import { Problem, unsafeCast, type Ids, type Json, type JsonObject, type Spools } from '../../../core/plugin.js'
import { failedCall, type ToolCall, type ToolOutcome } from '../../execution/tools/contract.js'
import type { SessionTask, TaskRunner } from '../../execution/tasks/contract.js'
import { beginLife, type EndReason, type Life, type LifeParts, type TaskRef } from './background-life.js'
import { backgroundOutput } from './background-output.js'
import type { ShellConfig } from './config.js'
import { shellErrors } from './errors.js'
import { launch } from './launch.js'
import { belongsTo, stopProcesses } from './process-tree.js'

export const backgroundKind = 'background_shell'

export interface BackgroundParts extends LifeParts {
  readonly ids: Ids
  readonly config: ShellConfig
  readonly spools: Spools
  readonly makeMarker: (unique: string) => string
  readonly environment: (marker: string) => Record<string, string>
}

export interface Order {
  readonly command: string
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
interface Place {
  asked: boolean
  life?: Life
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

/** Longest wait for the ends of all commands when the daemon stops, beyond the grace; milliseconds. */
export const leaveMs = 7_000

export const createBackground = (parts: BackgroundParts): Background => {
  const { state, tasks, clock, ids, config, spools, log } = parts
  const places = new Map<string, Place>()
  /** Starts and clean-ups under way: a stop waits for them. */
  const works = new Set<Promise<unknown>>()
  const own = <T>(work: Promise<T>): Promise<T> => {
    const owned = work.finally(() => works.delete(owned))
    works.add(owned)
    return owned
  }
  let leaving = false

  /** Limits and record are one commit, so that no two starts can pass the same last place. */
  const claim = (order: Order, id: string): Promise<SessionTask> =>
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
  const giveUp = (ref: TaskRef): Promise<void> =>
    state.commit((tx) =>
      tasks.tell(tx, ref, { status: 'failed', metadata: { terminal_reason: 'not_started', stop_requested: null } }),
    )

  const begin = async (order: Order, task: SessionTask, place: Place): Promise<Life | undefined> => {
    const spool = await spools.begin(task.id)
    if (leaving) {
      await spool.close()
      return undefined
    }
    const marker = parts.makeMarker(task.id)
    const launched = launch({
      command: order.command,
      folder: order.folder,
      environment: parts.environment(marker),
      marker,
      merged: true,
    })
    const { group } = launched
    if (group === undefined) {
      await spool.close()
      return undefined
    }
    const life = beginLife(parts, task, {
      launched,
      group,
      spool,
      tail: () => spools.read(task.id, tailBytes)?.bytes ?? new Uint8Array(),
    })
    place.life = life
    if (place.asked) life.end(stopped)
    const inTime =
      config.background_time_limit_ms === 0
        ? () => {}
        : clock.after(config.background_time_limit_ms, () => life.end(outOfTime))
    const after = async (): Promise<void> => {
      await life.done
      inTime()
      places.delete(task.id)
      if (!leaving) await tidy()
    }
    own(after()).catch((error: unknown) => log.warn('old outputs could not be removed', { error: String(error) }))
    return life
  }
  const start = (order: Order): Promise<ToolOutcome> => own(begun(order))
  const begun = async (order: Order): Promise<ToolOutcome> => {
    const id = ids.make('shell-task').replace('_', '-')
    const place: Place = { asked: false }
    places.set(id, place)
    try {
      const task = await claim(order, id)
      const life = await begin(order, task, place).catch((error: unknown) =>
        log.warn('a command could not be started', { error: String(error) }),
      )
      if (life === undefined) {
        await giveUp(task)
        places.delete(id)
        return failedCall(shellErrors.command_not_started())
      }
      await state.commit((tx) =>
        tasks.tell(tx, task, {
          metadata: {
            pid: life.group.pid,
            ...(life.group.started !== undefined && { pid_started: life.group.started }),
          },
        }),
      )
      return started(tasks.find(task.session_id, id) ?? task)
    } catch (error) {
      if (place.life === undefined) places.delete(id)
      place.life?.end({ status: 'failed', terminal_reason: 'not_recorded' })
      if (error instanceof Problem) return failedCall(error)
      throw error
    }
  }
  const started = (task: SessionTask): ToolOutcome => ({
    type: 'result',
    output: {
      success: true,
      stdout: '',
      stderr: '',
      exit_code: null,
      background_task_id: task.id,
      backgrounded_by_user: false,
      task: unsafeCast<Json>(tasks.view(task)),
    },
  })
  const stop: TaskRunner['stop'] = async (task, reason) => {
    const place = places.get(task.id)
    if (place === undefined) return
    await state.commit((tx) => {
      // Of several requests the reason of the first one stands.
      if (tasks.find(task.session_id, task.id)?.metadata?.['stop_requested'] === true) return
      tasks.tell(tx, task, { metadata: { stop_requested: true, ...(reason !== undefined && { stop_reason: reason }) } })
    })
    place.asked = true
    place.life?.end(stopped)
  }
  const tidy = async (): Promise<void> =>
    void (await spools.keepOnly([...tasks.newest(backgroundKind, config.background_kept_outputs), ...places.keys()]))
  const leave = async (): Promise<void> => {
    leaving = true
    const lives = [...places.values()].flatMap(({ life }) => life ?? [])
    for (const life of lives) life.leave()
    if (lives.length > 0)
      await stopProcesses({
        clock,
        grace_ms: config.grace_ms,
        of: (rows) => {
          const groups = lives.map(({ group }) => belongsTo(group, rows))
          return (row) => groups.some((belongs) => belongs(row))
        },
      })
    const late = new AbortController()
    await Promise.race([Promise.allSettled(works), clock.sleep(leaveMs, late.signal)])
    late.abort()
  }
  return {
    runner: { kind: backgroundKind, stop, output: (task, wish) => backgroundOutput(spools, task, wish) },
    start,
    tidy,
    leave,
  }
}
