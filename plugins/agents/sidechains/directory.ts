/** Every agent of a scope, looked at in portions: counts are those of one walk (agents-12). */
import { setImmediate } from 'node:timers/promises'
import { unsafeCast, type Collection, type Infer } from '../../../core/plugin.js'
import { agentStatuses, type AgentStatus, type SessionRecord } from '../../execution/sessions/contract.js'
import type { AgentCounts } from './contract.js'
import type { ViewParts } from './views.js'

type Counts = Infer<typeof AgentCounts>

export interface AgentFilter {
  readonly root_agent_id?: string | undefined
  readonly session_id?: string | undefined
  readonly status?: AgentStatus | undefined
  readonly has_runtime?: boolean | undefined
}

const slice = 64

/** All of a group of an index, some at a time. */
function* slicesOf<T extends object>(collection: Collection<T>, index: string, group: string): Generator<readonly T[]> {
  let beyond: string | undefined
  for (;;) {
    const page = collection.list({ index, group, limit: slice, ...(beyond !== undefined && { beyond }) })
    yield page
    const last = page.at(-1)
    if (page.length < slice || last === undefined) return
    beyond = collection.spec.indexes[index]?.sort?.(last)
  }
}

/** Sessions of agents below one, however deep. */
function* below(parts: ViewParts, agent_id: string): Generator<readonly SessionRecord[]> {
  for (const children of slicesOf(parts.store.collection, 'parent', agent_id)) {
    yield children.map(({ session_id }) => parts.sessions.get(session_id))
    for (const child of children) yield* below(parts, child.agent_id)
  }
}

/** Sessions of a scope: an agent with all below it, or every session. */
function* scopeOf(parts: ViewParts, root: string | undefined): Generator<readonly SessionRecord[]> {
  if (root === undefined) return yield* slicesOf(parts.sessions.collection, 'created', 'all')
  yield [parts.store.get(root).session]
  yield* below(parts, root)
}

/** Throws `agent_not_found` for an unknown root. */
export const lookUp = async (
  parts: ViewParts,
  filter: AgentFilter,
): Promise<{ readonly found: readonly SessionRecord[]; readonly counts: Counts }> => {
  const { store, sessions } = parts
  const statuses = unsafeCast<Record<AgentStatus, number>>(Object.fromEntries(agentStatuses.map((one) => [one, 0])))
  const found: SessionRecord[] = []
  let [total, live] = [0, 0]
  for (const some of scopeOf(parts, filter.root_agent_id)) {
    for (const session of some) {
      const { status } = sessions.state(session)
      const isLive = store.isLive(session)
      total += 1
      live += isLive ? 1 : 0
      statuses[status] += 1
      const passes =
        (filter.session_id ?? session.session_id) === session.session_id &&
        (filter.status ?? status) === status &&
        (filter.has_runtime ?? isLive) === isLive
      if (passes) found.push(session)
    }
    await setImmediate()
  }
  const counts = { total, filtered: found.length, ...statuses, with_runtime: live, without_runtime: total - live }
  return { found, counts: unsafeCast<Counts>(counts) }
}
