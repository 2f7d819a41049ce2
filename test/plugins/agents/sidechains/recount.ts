/** Agents counted anew, from the lists of sessions, runs and agents alone. */
import { canonical } from '../../../../core/plugin.js'
import type { Reachable } from '../../../support/daemon.js'

type Asked = Pick<Reachable, 'request'>

const read = async ({ request }: Asked, path: string): Promise<any> => {
  const { status, body } = await request('GET', path)
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

/** A whole list, page by page. */
export const readAll = async (daemon: Asked, path: string): Promise<any[]> => {
  const items: any[] = []
  let next = `${path}?page=true&limit=100`
  for (;;) {
    const { items: found, pagination } = await read(daemon, next)
    items.push(...found)
    if (!pagination.has_more) return items
    next = `${path}?limit=100&cursor=${encodeURIComponent(pagination.next_cursor)}`
  }
}

export interface Lists {
  readonly sessions: readonly any[]
  readonly runs: readonly any[]
  readonly agents: readonly any[]
  readonly rows: readonly any[]
}

export const listsOf = async (daemon: Asked): Promise<Lists> => ({
  sessions: await readAll(daemon, '/v1/sessions'),
  runs: await readAll(daemon, '/v1/runs'),
  agents: (await read(daemon, '/v1/agents')).map(({ agent }: any) => agent),
  rows: await readAll(daemon, '/v1/agents/summaries'),
})

const open = new Set(['queued', 'running', 'waiting_for_approval', 'waiting_for_user_question'])
/** What tells whether anything has changed. */
const shape = ({ sessions, runs, agents, rows }: Lists): string =>
  canonical([
    sessions.map(({ session_id, status }) => [session_id, status]),
    runs.map(({ run_id, status }) => [run_id, status]),
    agents.map(({ id, status }) => [id, status]),
    rows.map(({ agent_id, status, mailbox_message_count }) => [agent_id, status, mailbox_message_count]),
  ])

/** Lists and counts of one moment: read between two looks that are the same. Undefined if none was found. */
export const momentOf = async (
  daemon: Asked,
  root: string,
  tries: number,
): Promise<{ lists: Lists; whole: any; tree: any; working: any; quotas: any } | undefined> => {
  let lists = await listsOf(daemon)
  for (let n = 0; n < tries; n += 1) {
    const whole = await read(daemon, '/v1/agents/summaries?page=true&limit=1')
    const tree = await read(daemon, `/v1/agents/summaries?page=true&limit=1&root=${root}`)
    const working = await read(daemon, '/v1/agents/summaries?page=true&limit=1&has_runtime=true')
    const quotas = await read(daemon, '/v1/runtime/subagent-policy/quotas')
    const after = await listsOf(daemon)
    if (shape(lists) === shape(after)) return { lists, whole, tree, working, quotas }
    lists = after
  }
  return undefined
}

/** The status of an agent by its runs; no other status is met in a tree where nobody asks and nothing fails. */
const statusOf = (runs: readonly any[], isClosed: boolean): string => {
  if (runs.some(({ status }) => open.has(status))) return 'running'
  return isClosed || runs.length > 0 ? 'completed' : 'idle'
}

export interface Count {
  readonly total: number
  readonly with_runtime: number
  readonly statuses: Readonly<Record<string, number>>
  /** Of those that another one started, how many have a run that is not over. */
  readonly working: number
  readonly started: number
}

export const bySession = (runs: readonly any[]): ReadonlyMap<string, readonly any[]> => {
  const found = new Map<string, any[]>()
  for (const run of runs) found.set(run.session_id, [...(found.get(run.session_id) ?? []), run])
  return found
}

export const recount = ({ sessions, runs, agents, rows }: Lists): Count => {
  const ofSession = bySession(runs)
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  const mail = new Map(rows.map((row) => [row.agent_id, row.mailbox_message_count]))
  const statuses: Record<string, number> = {}
  let [with_runtime, working] = [0, 0]
  for (const { session_id, agent_id } of sessions) {
    const own = ofSession.get(session_id) ?? []
    const agent = byId.get(agent_id)
    const isClosed = agent?.closed_at_ms !== undefined
    const works = own.some(({ status }) => open.has(status))
    const status = statusOf(own, isClosed)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (!isClosed && (works || mail.get(agent_id) > 0)) with_runtime += 1
    if (works && agent?.parent !== null) working += 1
  }
  const started = agents.filter(({ parent }) => parent !== null).length
  return { total: sessions.length, with_runtime, statuses, working, started }
}
