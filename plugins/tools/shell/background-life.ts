/** One command in the background, from its start to the last word about it. */
import {
  thrownText,
  type Clock,
  type Exit,
  type JsonObject,
  type Log,
  type Spool,
  type State,
  type Stopped,
  type SupervisedProgram,
} from '../../../core/plugin.js'
import type { SessionTask, TaskNews, Tasks } from '../../execution/tasks/contract.js'
import { createPace, type Pace } from './pace.js'
import { watchSilence } from './silence.js'

export type TaskRef = Pick<SessionTask, 'id' | 'session_id'>

export interface LifeParts {
  readonly state: State
  readonly tasks: Tasks
  readonly clock: Clock
  readonly log: Log
  readonly grace_ms: number
  /** How long a command may be silent in the middle of a line before its task says so. */
  readonly silence_ms: number
}

/** Why a command is told to end, and what its task is then. */
export interface EndReason {
  readonly status: 'cancelled' | 'failed'
  readonly terminal_reason: string
}

export interface Life {
  readonly program: SupervisedProgram
  /**
   * Tells the command to end, with all that it started. Told again it does nothing, unless something was left the last
   * time.
   */
  end(reason: EndReason): void
  /**
   * The daemon stops and ends the processes itself: the task stays in progress, and the next start says what became of
   * it.
   */
  leave(): void
  /** Its end is on record. */
  readonly done: Promise<void>
}

/** Pids that a record names at most. */
const shownPids = 20
/** Between two tries to record an end while storage takes no changes, milliseconds. */
const retryMs = 1_000

const treeOf = ({ found, remaining, supported }: Stopped): JsonObject => ({
  process_tree_shutdown_confirmed: supported && remaining.length === 0,
  process_tree_shutdown_matched_target: found > 0,
  process_tree_shutdown_signal_sent: found > 0,
  process_tree_shutdown_supported: supported,
  process_tree_remaining_pids: remaining.slice(0, shownPids),
})

/** What both looks at the processes say together. */
const both = (asked: Stopped | undefined, last: Stopped): Stopped => ({
  ...last,
  found: (asked?.found ?? 0) + last.found,
})

const newsOf = ({ code, signal, lost }: Exit, reason: EndReason | undefined): TaskNews & { metadata: JsonObject } => {
  const end = {
    ...(code !== null && { exit_code: code }),
    ...(signal !== null && { signal }),
    stop_requested: null,
    silent_since_ms: null,
  }
  if (reason !== undefined)
    return { status: reason.status, metadata: { ...end, terminal_reason: reason.terminal_reason } }
  return {
    status: code === 0 ? 'completed' : 'failed',
    metadata: { ...end, terminal_reason: lost ? 'lost' : 'exited' },
  }
}

interface Drain {
  readonly spool: Spool
  readonly pace: Pace
  readonly heard: () => void
}

/** What is not read here waits in the pipe, and the command with it. */
const pump = async (program: SupervisedProgram, { spool, pace, heard }: Drain): Promise<void> => {
  try {
    for await (const chunk of program.stdout) {
      await spool.append(chunk)
      heard()
      await pace.passed(chunk.length)
    }
  } catch {
    // Somebody held the output after all processes of the command were gone, and it was let go.
  }
}

/** A command with its process, where its output goes, and the last bytes of that. */
export interface Started {
  readonly program: SupervisedProgram
  readonly spool: Spool
  readonly tail: () => Uint8Array
}

export const beginLife = (parts: LifeParts, ref: TaskRef, { program, spool, tail }: Started): Life => {
  const { clock, log, grace_ms } = parts
  let reason: EndReason | undefined
  let shutdown: Promise<Stopped> | undefined
  let left = false
  const tell = (news: TaskNews): Promise<void> => parts.state.commit((tx) => parts.tasks.tell(tx, ref, news))
  /** Until it is on record; a daemon that stops meanwhile leaves it to the next start. */
  const record = async (news: TaskNews): Promise<void> => {
    for (;;) {
      try {
        return await tell(news)
      } catch (error) {
        // A wait that was cut short is the stop of the daemon.
        if (left || !(await clock.sleep(retryMs)))
          return log.warn('the end of a task could not be recorded', { task_id: ref.id, error: thrownText(error) })
      }
    }
  }
  /** What is recorded beside the end; it is over before the life is. */
  const beside = new Set<Promise<void>>()
  const recordBeside = (news: TaskNews): void => {
    const recorded = record(news).finally(() => beside.delete(recorded))
    beside.add(recorded)
  }
  const end = (why: EndReason): void => {
    reason ??= why
    if (shutdown !== undefined) return
    const asked = program.stop(grace_ms)
    shutdown = asked
    void asked.then((stopped) => {
      if (stopped.remaining.length === 0) return
      shutdown = undefined
      recordBeside({ metadata: treeOf(stopped) })
    })
  }
  const live = async (): Promise<void> => {
    const silence = watchSilence({
      clock,
      after_ms: parts.silence_ms,
      tail,
      tell: (since) => recordBeside({ metadata: { silent_since_ms: since } }),
    })
    const pumped = pump(program, { spool, pace: createPace(clock), heard: silence.heard })
    const exit = await program.exited
    const asked = await shutdown
    if (asked === undefined && !left) program.kill()
    const last = await program.stop(0)
    await program.letGo()
    await pumped
    silence.end()
    await Promise.all(beside)
    const { lost } = await spool.close()
    const tree = { ...treeOf(both(asked, last)), ...(lost > 0 && { output_lost_bytes: lost }) }
    if (left) return record({ metadata: tree })
    const news = newsOf(exit, reason)
    await record({ ...news, metadata: { ...news.metadata, ...tree, ended_at_ms: clock.now() } })
  }
  return {
    program,
    end,
    leave: () => {
      left = true
    },
    done: live(),
  }
}
