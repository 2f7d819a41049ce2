/** Keeps how a flow ended, in the commit that follows what ended it (flows-9). */
import { createPause, inTurns, tellFailure, type Events, type Log } from '../../../core/plugin.js'
import type { RunRecord } from '../../execution/runs/contract.js'
import { SessionStateChanged } from '../../execution/sessions/contract.js'
import type { Tasks } from '../../execution/tasks/contract.js'
import type { EvidenceRef } from '../playbooks/contract.js'
import { look, missingEvidence, type Looked, type Projection, type ProjectionParts } from './projection.js'
import type { FlowRecord, Settled } from './record.js'
import type { FlowStore } from './store.js'

export interface SettleParts extends ProjectionParts {
  readonly store: FlowStore
  readonly log: Log
  readonly events: Events
}

export interface Settling {
  /** Flows of which nothing works any more and that lack evidence, by id with what is missing. */
  readonly lacking: ReadonlyMap<string, readonly EvidenceRef[]>
  /** Looks at a flow, and keeps how it ended if it has. Resolves when that is durable. */
  settle(flow_id: string): Promise<void>
  /** Looks at all that are open, and from now on at each of which something changes. Returns its end. */
  begin(): () => Promise<void>
}

const settledOf = ({ status, completed_at_ms, updated_at_ms, refs, is_cut, phases, checks }: Projection) =>
  completed_at_ms === undefined
    ? undefined
    : ({
        status,
        completed_at_ms,
        updated_at_ms,
        refs,
        phases,
        checks,
        ...(is_cut && { refs_truncated: true as const }),
      } satisfies Settled)

/** What a flow lacks of which nothing works any more; empty if there is something else. */
const lacks = (parts: SettleParts, flow: FlowRecord, { status, scope }: Looked): readonly EvidenceRef[] =>
  status === 'waiting' && scope.open.length + scope.held.length + scope.openTasks.length === 0
    ? missingEvidence(parts, flow)
    : []

type Lacking = Map<string, readonly EvidenceRef[]>

/** What was looked at is kept only if the evidence is still what it was. */
const settleOnce = async (
  parts: SettleParts,
  flow_id: string,
  lacking: Lacking,
): Promise<'kept' | 'open' | 'changed'> => {
  const { store } = parts
  const flow = store.flows.find(flow_id)
  lacking.delete(flow_id)
  if (flow === undefined || flow.settled !== undefined) return 'kept'
  const looked = await inTurns(look(parts, flow))
  const missing = lacks(parts, flow, looked)
  if (missing.length > 0) lacking.set(flow_id, missing)
  const settled = settledOf(looked)
  if (settled === undefined) return 'open'
  return store.state.commit((tx) => {
    const now = store.get(flow_id)
    if (now.settled !== undefined) return 'kept'
    if (now.revision !== flow.revision) return 'changed'
    store.change(tx, now, { settled })
    return 'kept'
  })
}

/** Flows that a change of a run may end: those that it belongs to, up to who started its agent. */
function* flowsOfRun({ store, agents, runs }: SettleParts, run: Pick<RunRecord, 'run_id' | 'session_id'>) {
  for (let up: typeof run | undefined = run; up !== undefined;) {
    const flow = store.ofRun(up.run_id)
    if (flow !== undefined) yield flow.flow_id
    const spawner: string | undefined = agents()?.find(up.session_id)?.spawned_by_run_id
    up = spawner === undefined ? undefined : runs.find(spawner)
  }
}

/** The same for a task: those of its session, and those above. */
const flowsOfTask = (parts: SettleParts, session_id: string): readonly string[] => {
  const spawner = parts.agents()?.find(session_id)?.spawned_by_run_id
  const parent = spawner === undefined ? undefined : parts.runs.find(spawner)
  return [...parts.store.open(session_id), ...(parent === undefined ? [] : flowsOfRun(parts, parent))]
}

const flowsOfAgent = (parts: SettleParts, session_id: string): readonly string[] =>
  parts.agents()?.find(session_id) === undefined ? [] : flowsOfTask(parts, session_id)

export const createSettling = (parts: SettleParts): Settling => {
  const { store, log, runs } = parts
  const busy = new Map<string, Promise<void>>()
  const lacking: Lacking = new Map()
  const again = new Set<string>()
  let isOver = false
  const work = async (flow_id: string): Promise<void> => {
    do {
      again.delete(flow_id)
      if ((await settleOnce(parts, flow_id, lacking)) === 'changed') again.add(flow_id)
    } while (again.has(flow_id) && !isOver)
  }
  const settle = (flow_id: string): Promise<void> => {
    const known = busy.get(flow_id)
    if (known !== undefined) {
      again.add(flow_id)
      return known
    }
    const done = work(flow_id).finally(() => busy.delete(flow_id))
    busy.set(flow_id, done)
    return done
  }
  const settleQuietly = (flow_id: string): Promise<void> =>
    settle(flow_id).catch((error: unknown) =>
      tellFailure({ log, state: store.state }, 'how a flow ended could not be kept', { flow_id, error }),
    )
  const changed = (of: () => Iterable<string>): void => {
    if (isOver || !store.hasOpen()) return
    for (const flow_id of of()) void settleQuietly(flow_id)
  }
  const sweep = async (): Promise<void> => {
    const pause = createPause(1)
    for (const flow_id of store.open()) {
      if (isOver) return
      await settleQuietly(flow_id)
      await pause()
    }
  }
  return {
    lacking,
    settle,
    begin() {
      const tasks: Tasks | undefined = parts.tasks()
      const undone = [
        runs.onEnded((run) => changed(() => flowsOfRun(parts, run))),
        // An agent may be at rest without a run that ended, such as when its question to its parent is settled.
        parts.events.on(SessionStateChanged, ({ session_id }) => changed(() => flowsOfAgent(parts, session_id))),
        tasks?.onChanged(({ session_id }) => changed(() => flowsOfTask(parts, session_id))),
      ]
      const swept = sweep()
      return async () => {
        isOver = true
        for (const undo of undone) undo?.()
        await Promise.allSettled([swept, ...busy.values()])
      }
    },
  }
}
