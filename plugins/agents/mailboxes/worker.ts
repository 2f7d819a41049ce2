/** Takes messages to agents that have nothing else to do, in a run of theirs (mailboxes-4 to mailboxes-6). */
import { Problem, tellFailure, type Clock, type Log, type State, type Tx } from '../../../core/plugin.js'
import type { Runs, Submission, TerminalRun } from '../../execution/runs/contract.js'
import type { Agents } from '../sidechains/contract.js'
import { closed } from './post.js'
import { readingOf } from './reading.js'
import type { MessageRecord, MessageStore } from './store.js'

export interface WorkerParts {
  readonly store: MessageStore
  readonly agents: Agents
  readonly runs: Runs
  readonly state: State
  readonly clock: Clock
  readonly log: Log
}

export interface MailWorker {
  /** Something waits for an agent, or it may have become free. */
  consider(agent_id: string): void
  /** From now on messages are delivered; gives what ends that. */
  begin(): () => Promise<void>
  ended(run: TerminalRun): void
}

/** Messages of one run, and bytes of what it is told. */
const [mostMessages, mostBytes] = [50, 262_144]
const mostAttempts = 5
const firstPauseMs = 1000
/** Longest wait between two looks at the wall clock, which may jump. */
const longestMs = 30_000

export const createWorker = (parts: WorkerParts): MailWorker => {
  const { store, runs, clock, state, log } = parts
  const working = new Set<Promise<void>>()
  let acts = false
  let cancel = (): void => {}
  const work = (what: () => Promise<void>): void => {
    if (!acts) return
    const done: Promise<void> = what()
      .catch((error: unknown) => tellFailure({ log, state }, 'a message could not be delivered', { error }))
      .finally(() => working.delete(done))
    working.add(done)
  }
  const consider = (agent_id: string): void => {
    if (acts && store.waiting(agent_id) > 0) work(() => deliver(parts, agent_id))
    arm()
  }
  const look = (): void => {
    const due = store.due()
    if (due !== undefined) consider(due.to_agent_id)
  }
  const arm = (): void => {
    cancel()
    const due = acts ? store.due() : undefined
    if (due === undefined) return
    const at = Math.min(due.expires_at_ms ?? Infinity, due.next_attempt_at_ms ?? Infinity)
    cancel = clock.after(Math.min(longestMs, Math.max(firstPauseMs / 10, at - clock.now())), look)
  }
  return {
    consider,
    ended: (run) => {
      if (store.deliveredBy(run.run_id).length > 0) work(() => settle(parts, run))
      work(async () => consider(run.agent_id))
    },
    begin() {
      acts = true
      for (const run_id of store.deliveries()) {
        const run = runs.find(run_id)
        if (run === undefined || 'finished_at_ms' in run) work(() => settle(parts, run ?? { run_id }))
      }
      for (const agent_id of store.recipients()) consider(agent_id)
      return async () => {
        acts = false
        cancel()
        await Promise.all(working)
      }
    },
  }
}

/** One run for what waits for an agent; claimed and accepted in one commit. Of those whose time is over, none. */
const deliver = async ({ store, agents, runs, state }: WorkerParts, agent_id: string): Promise<void> => {
  await state.commit((tx) => {
    const { session } = agents.get(agent_id)
    const waiting = store.pending(agent_id, mostMessages)
    const [late, rest] = parted(waiting, ({ expires_at_ms }) => expires_at_ms !== undefined && expires_at_ms <= tx.now)
    for (const message of late) store.bury(tx, message, 'its time was over')
    if (session.ended_at_ms !== undefined) for (const message of rest) store.bury(tx, message, closed)
    const batch = session.ended_at_ms === undefined ? ready(rest, tx.now) : []
    const { session_id } = session
    const isFree = runs.active(session_id) === undefined && runs.queued(session_id) === 0
    if (isFree && batch.length > 0) launch({ store, runs, agents }, tx, { session_id, batch })
    else for (const message of batch) waitForAgent(store, tx, message)
  })
}

/** Its pause is over: the end of what the agent does is what it waits for. */
const waitForAgent = (store: MessageStore, tx: Tx, { next_attempt_at_ms, ...message }: MessageRecord): void => {
  if (next_attempt_at_ms !== undefined) store.put(tx, message)
}

interface Batch {
  readonly session_id: string
  readonly batch: readonly MessageRecord[]
}

const launch = (
  { store, runs, agents }: Pick<WorkerParts, 'store' | 'runs' | 'agents'>,
  tx: Tx,
  { session_id, batch }: Batch,
): void => {
  try {
    const { run_id } = runs.admit({
      session_id,
      kind: 'mailbox_delivery',
      input: inputOf(agents, batch),
      origin: { mailbox_message_ids: batch.map(({ message_id }) => message_id) },
      alone: true,
    })(tx)
    for (const message of batch) {
      const { next_attempt_at_ms: _, ...claimed } = message
      store.put(tx, { ...claimed, state: 'delivering', run_id, delivery_attempts: message.delivery_attempts + 1 })
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    for (const message of batch)
      retry(store, tx, {
        message: { ...message, delivery_attempts: message.delivery_attempts + 1 },
        why: error.message,
      })
  }
}

const inputOf = (agents: Agents, batch: readonly MessageRecord[]): Submission['input'] => {
  const files = batch.flatMap(({ payload: { asset_ids } }) => (Array.isArray(asset_ids) ? asset_ids : []))
  const text = readingOf(agents, batch)
  return {
    content: files.length === 0 ? text : '',
    ...(files.length > 0 && {
      input_items: [
        { type: 'text' as const, text },
        ...files.flatMap((asset_id) =>
          typeof asset_id === 'string' ? [{ type: 'asset_reference' as const, asset_id }] : [],
        ),
      ],
    }),
    source_plugin: 'mailboxes',
    source_kind: 'mailbox_delivery',
    actor_id: batch[0]?.from_agent_id ?? 'mailboxes',
  }
}

/** How a run ended; nothing is known of one that is gone. */
interface Over {
  readonly run_id: string
  readonly status?: string | undefined
  readonly error?: string | undefined
}

/** What a run that is over makes of its messages. */
const settle = async ({ store, state }: WorkerParts, { run_id, status = 'gone', error }: Over): Promise<void> => {
  await state.commit((tx) => {
    for (const message of store.deliveredBy(run_id))
      if (status === 'completed') store.acknowledge(tx, message)
      else retry(store, tx, { message, why: error ?? `the run that delivered it ended as ${status}` })
  })
}

/** A message that was not read, and why. */
interface Failed {
  readonly message: MessageRecord
  readonly why: string
}

/** It waits again, twice as long each time, and is a dead letter in the end. */
const retry = (store: MessageStore, tx: Tx, { message, why }: Failed): void => {
  const { run_id: _, ...rest } = message
  const attempts = message.delivery_attempts
  if (attempts >= mostAttempts) return store.bury(tx, rest, why)
  const next_attempt_at_ms = tx.now + firstPauseMs * 2 ** (attempts - 1)
  store.put(tx, { ...rest, state: 'pending', last_error: why, next_attempt_at_ms })
}

/** Those whose pause is over, as many as one run is told. */
const ready = (messages: readonly MessageRecord[], now: number): readonly MessageRecord[] => {
  let bytes = 0
  const free = messages.filter(({ next_attempt_at_ms = 0 }) => next_attempt_at_ms <= now)
  const end = free.findIndex(({ payload }, at) => {
    bytes += Buffer.byteLength(JSON.stringify(payload))
    return at > 0 && bytes > mostBytes
  })
  return end < 0 ? free : free.slice(0, end)
}

const parted = <T>(items: readonly T[], is: (item: T) => boolean): readonly [readonly T[], readonly T[]] => [
  items.filter(is),
  items.filter((item) => !is(item)),
]
