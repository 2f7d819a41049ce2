/** Takes messages to agents that have nothing else to do, in a run of theirs (mailboxes-4 to mailboxes-6). */
import { Problem, tellFailure, type Clock, type Log, type State, type Tx } from '../../../core/plugin.js'
import type { RunRecord, Runs, Submission, TerminalRun } from '../../execution/runs/contract.js'
import type { Agents } from '../sidechains/contract.js'
import { closed } from './post.js'
import { namedBy, readingOf } from './reading.js'
import { dueAt, type MessageRecord, type MessageStore } from './store.js'

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
  /** Nothing is delivered to these agents until the end that it returns. */
  hold(agent_ids: readonly string[]): () => void
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
  const held: string[] = []
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
    if (acts && store.waiting(agent_id) > 0) work(() => deliver(parts, agent_id, () => held.includes(agent_id)))
    arm()
  }
  const look = (): void =>
    work(async () => {
      try {
        for (const agent_id of await release(parts)) consider(agent_id)
      } finally {
        arm()
      }
    })
  const arm = (): void => {
    cancel()
    const [due] = acts ? store.due(1) : []
    if (due === undefined) return
    const at = Math.min(due.expires_at_ms ?? Infinity, due.next_attempt_at_ms ?? Infinity)
    cancel = clock.after(Math.min(longestMs, Math.max(firstPauseMs / 10, at - clock.now())), look)
  }
  return {
    consider,
    ended: (run) => {
      const delivers = store.deliveredBy(run.run_id).length > 0
      if (delivers) work(() => settle(parts, run))
      // Most runs have nothing to do with a message.
      if (delivers || store.waiting(run.agent_id) > 0) work(async () => consider(run.agent_id))
    },
    hold(agent_ids) {
      held.push(...agent_ids)
      return () => {
        for (const agent_id of agent_ids) held.splice(held.indexOf(agent_id), 1)
        for (const agent_id of agent_ids) consider(agent_id)
      }
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

/** Messages whose time has come that are looked at in one commit. */
const mostReleased = 100

/** Buries those whose time is over, and gives the agents for whom the pause of others is. */
const release = ({ store, state }: WorkerParts): Promise<ReadonlySet<string>> =>
  state.commit((tx) => {
    const due = store.due(mostReleased).filter((message) => (dueAt(message) ?? Infinity) <= tx.now)
    const [late, rest] = parted(due, (message) => isLate(message, tx.now))
    for (const message of late) store.bury(tx, message, timeOver)
    for (const { next_attempt_at_ms: _, ...message } of rest) store.put(tx, message)
    return new Set(rest.map(({ to_agent_id }) => to_agent_id))
  })

const timeOver = 'its time was over'
const isLate = ({ expires_at_ms }: MessageRecord, now: number): boolean =>
  expires_at_ms !== undefined && expires_at_ms <= now

/** One run for what waits for an agent; claimed and accepted in one commit. Of those whose time is over, none. */
const deliver = async (
  { store, agents, runs, state }: WorkerParts,
  agent_id: string,
  isHeld: () => boolean,
): Promise<void> => {
  await state.commit((tx) => {
    if (isHeld()) return
    const { session } = agents.get(agent_id)
    const waiting = store.pending(agent_id, mostMessages)
    const [late, rest] = parted(waiting, (message) => isLate(message, tx.now))
    for (const message of late) store.bury(tx, message, timeOver)
    if (session.ended_at_ms !== undefined) for (const message of rest) store.bury(tx, message, closed)
    const batch = session.ended_at_ms === undefined ? ready(rest, tx.now) : []
    const { session_id } = session
    const isFree = runs.active(session_id) === undefined && runs.queued(session_id) === 0
    if (isFree && batch.length > 0) launch({ store, runs, agents }, tx, { session_id, batch })
  })
}

interface Batch {
  readonly session_id: string
  readonly batch: readonly MessageRecord[]
}

type LaunchParts = Pick<WorkerParts, 'store' | 'runs' | 'agents'>

const admit = ({ runs, agents }: LaunchParts, { session_id, batch }: Batch): ((tx: Tx) => RunRecord) =>
  runs.admit({
    session_id,
    kind: 'mailbox_delivery',
    input: inputOf(agents, batch),
    origin: { mailbox_message_ids: batch.map(({ message_id }) => message_id) },
    alone: true,
  })

/** Why messages cannot be told together; undefined if they can. */
const refusalOf = (parts: LaunchParts, batch: Batch): string | undefined => {
  try {
    admit(parts, batch)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

/** One that cannot be told waits by itself: it is no fault of the others. */
const launch = (parts: LaunchParts, tx: Tx, { session_id, batch }: Batch): void => {
  if (refusalOf(parts, { session_id, batch }) === undefined) return claim(parts, tx, { session_id, batch })
  const fit: MessageRecord[] = []
  for (const message of batch) {
    const why = refusalOf(parts, { session_id, batch: [message] })
    if (why === undefined) fit.push(message)
    else retry(parts.store, tx, { message: { ...message, delivery_attempts: message.delivery_attempts + 1 }, why })
  }
  if (fit.length === 0) return
  const together = fit.length < batch.length && refusalOf(parts, { session_id, batch: fit }) === undefined
  claim(parts, tx, { session_id, batch: together ? fit : fit.slice(0, 1) })
}

const claim = (parts: LaunchParts, tx: Tx, { session_id, batch }: Batch): void => {
  const { run_id } = admit(parts, { session_id, batch })(tx)
  for (const { next_attempt_at_ms: _, ...message } of batch)
    parts.store.put(tx, {
      ...message,
      state: 'delivering',
      run_id,
      delivery_attempts: message.delivery_attempts + 1,
    })
}

const inputOf = (agents: Agents, batch: readonly MessageRecord[]): Submission['input'] => {
  const named = namedBy(batch)
  const text = readingOf(agents, batch)
  return {
    content: named.length === 0 ? text : '',
    ...(named.length > 0 && { input_items: [{ type: 'text' as const, text }, ...named] }),
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
      else if (status === 'cancelled') store.bury(tx, message, 'the run that delivered it was cancelled')
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

/** Those whose pause is over, as many as one run is told: fewer each time, for they may have been too much together. */
const ready = (messages: readonly MessageRecord[], now: number): readonly MessageRecord[] => {
  const free = messages.filter(({ next_attempt_at_ms = 0 }) => next_attempt_at_ms <= now)
  const attempts = free[0]?.delivery_attempts ?? 0
  const share = 4 ** attempts
  let bytes = 0
  const end = free.findIndex(({ payload, delivery_attempts }, at) => {
    bytes += Buffer.byteLength(JSON.stringify(payload))
    const isMore = at >= mostMessages / share || bytes > mostBytes / share
    return at > 0 && (isMore || delivery_attempts !== attempts)
  })
  return end < 0 ? free : free.slice(0, end)
}

const parted = <T>(items: readonly T[], is: (item: T) => boolean): readonly [readonly T[], readonly T[]] => [
  items.filter(is),
  items.filter((item) => !is(item)),
]
