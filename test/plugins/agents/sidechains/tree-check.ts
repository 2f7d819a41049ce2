/** What must be true of a tree of agents when all of its work is done, however often the daemon died. */
import type { ExecutionContext } from 'ava'
import type { Reachable } from '../../../support/daemon.js'
import { bySession, listsOf } from './recount.js'
import type { Load } from './tree-load.js'
import { childrenOf, isPassing, namesBelow } from './tree-model.js'

type Asked = Pick<Reachable, 'request'>

export interface Expected {
  readonly root: string
  readonly load: Load
  readonly size: number
}

/** What is told twice or not at all is seen as well as what is wrong. */
const sameNames = (t: ExecutionContext, found: readonly string[], wanted: readonly string[], what: string): void =>
  void t.deepEqual([...found].toSorted(), [...wanted].toSorted(), what)

/** Every parent is there, every path is that of its parent and its own name, and each has its first run. */
const checkPlaces = (t: ExecutionContext, agents: readonly any[], runs: ReadonlyMap<string, readonly any[]>): void => {
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  for (const agent of agents) {
    const own = runs.get(agent.conversation.session_id) ?? []
    for (const run of own) t.is(run.status, 'completed', `${agent.name} ${run.kind}: ${run.error}`)
    const launches = own.filter(({ kind }) => kind !== 'mailbox_delivery')
    t.is(launches.length, 1, `${agent.name} has one run beside those of its mailbox`)
    t.is(launches[0]?.run_id, own[0]?.run_id)
    if (agent.parent === null) continue
    t.like(launches[0].request, { source_plugin: 'agents', source_kind: 'subtask', actor_id: agent.parent })
    const parent = byId.get(agent.parent)
    t.truthy(parent, `the parent of ${agent.name} is there`)
    t.is(agent.path, `${parent?.path ?? ''}/${agent.name}`)
    const [spawner] = runs.get(parent.conversation.session_id) ?? []
    if (agent.name.startsWith('n')) t.is(agent.spawned_by_run_id, spawner.run_id)
    t.is(agent.closed_at_ms !== undefined, isPassing(agent.name), `${agent.name} is closed`)
  }
}

/** The outcomes of the calls of a session by tool, each call once, with the key that the call had. */
const outcomesOf = (t: ExecutionContext, journal: readonly any[]) => {
  const keys = new Map(
    journal.flatMap(({ type, run_id, entry }) =>
      type === 'intent' ? [[`${run_id} ${entry.tool_call_id}`, entry.key] as const] : [],
    ),
  )
  const outcomes = journal.flatMap(({ type, run_id, entry }) =>
    type === 'outcome' ? [{ ...entry, call: `${run_id} ${entry.tool_call_id}` }] : [],
  )
  t.is(new Set(outcomes.map(({ call }) => call)).size, outcomes.length, 'each call has one outcome')
  for (const { state, tool_name, output } of outcomes) t.is(state, 'done', `${tool_name}: ${JSON.stringify(output)}`)
  const of = (name: string): any[] =>
    outcomes.filter(({ tool_name }) => tool_name === name).map((one) => ({ ...one, key: keys.get(one.call) }))
  return { spawns: of('spawn_agent'), waits: of('wait_agent'), messages: of('message_agent') }
}

/** What an agent was told of its children: each start once, each end once. */
const checkChildren = (
  t: ExecutionContext,
  name: string,
  { spawns, waits }: ReturnType<typeof outcomesOf>,
  agents: readonly any[],
): void => {
  sameNames(
    t,
    spawns.map(({ output }) => output.name),
    childrenOf(name),
    `${name} was told of each start once`,
  )
  const nameOf = new Map(agents.map((agent) => [agent.id, agent.name]))
  for (const { key, output } of spawns) {
    const named = agents.filter(({ spawn_request_id }) => spawn_request_id === key)
    t.deepEqual(
      named.map(({ id }) => id),
      [output.agent_id],
      `${key} names one agent`,
    )
  }
  const waitedFor = spawns.filter(({ output }) => output.run_in_background === false)
  t.is(waitedFor.length, childrenOf(name).length > 0 ? 1 : 0)
  /** Those of people are waited for too where they work just then. */
  const last = (waits.at(-1)?.output.agents ?? []).filter(
    ({ agent_id }: any) => nameOf.get(agent_id)?.startsWith('p') !== true,
  )
  const ended = (agent: any): boolean =>
    agent.status === 'completed' &&
    agent.has_runtime === false &&
    ['read', `done ${nameOf.get(agent.agent_id)}`].includes(agent.final_output)
  t.deepEqual(
    last.filter((agent: any) => !ended(agent)),
    [],
  )
  sameNames(
    t,
    last.map(({ agent_id }: any) => nameOf.get(agent_id)),
    childrenOf(name),
    `${name} was told of each end once`,
  )
}

/** What stands in the text of the runs that read the mail of a session. */
const readIn = (runs: readonly any[], journal: readonly any[]): string => {
  const ids = new Set(runs.filter(({ kind }) => kind === 'mailbox_delivery').map(({ run_id }) => run_id))
  const told = journal.filter(({ run_id, entry }) => ids.has(run_id) && entry.event?.type === 'accepted')
  return told.map(({ entry }) => entry.event.content).join('\n')
}
const countOf = (text: string, part: string): number => text.split(part).length - 1

export const checkTree = async (t: ExecutionContext, daemon: Asked, { root, load, size }: Expected): Promise<void> => {
  const { agents, runs } = await listsOf(daemon)
  const ofSession = bySession(runs)
  const people = [...load.started.keys()].map((name) => name.replace('person-', 'p'))
  const below = agents.filter(({ parent }) => parent !== null)
  sameNames(
    t,
    below.map(({ name }) => name),
    [...namesBelow('n'), ...people],
    'each agent once',
  )
  t.is(below.length, size + people.length)
  t.is(new Set(below.map(({ spawn_request_id }) => spawn_request_id)).size, below.length)
  checkPlaces(t, agents, ofSession)
  for (const [request, sessions] of load.started) {
    const found = agents.filter(({ spawn_request_id }) => spawn_request_id === request)
    t.deepEqual(
      found.map(({ conversation }) => conversation.session_id),
      [...sessions],
      `${request} names one agent`,
    )
  }

  const sent = new Map(load.sent.map(({ message_id, to_agent_id }) => [message_id, to_agent_id]))
  const reported = new Map<string, string>()
  const texts = new Map<string, string>()
  for (const agent of agents) {
    const { session_id } = agent.conversation
    const { journal } = (await daemon.request('GET', `/v1/sessions/${session_id}/events`)).body.session
    const outcomes = outcomesOf(t, journal)
    checkChildren(t, agent.name ?? 'n', outcomes, agents)
    t.is(outcomes.messages.length, agent.parent === null ? 0 : 1, `${agent.name} has reported once`)
    for (const { output } of outcomes.messages) sent.set(output.message_id, agent.parent)
    if (agent.parent !== null) reported.set(agent.name, agent.parent)
    texts.set(agent.id, readIn(ofSession.get(session_id) ?? [], journal))
    t.deepEqual((await daemon.request('GET', `/v1/agents/${agent.id}/mailbox`)).body, [])
    t.deepEqual((await daemon.request('GET', `/v1/agents/${agent.id}/mailbox/dead-letter`)).body, [])
  }
  for (const [name, parent] of reported)
    t.is(countOf(texts.get(parent) ?? '', JSON.stringify(`report ${name}`)), 1, `the report of ${name} was read once`)
  const read = runs.flatMap(({ kind, agent_id, input_metadata }) =>
    kind === 'mailbox_delivery' ? input_metadata.mailbox_message_ids.map((id: string) => `${id} ${agent_id}`) : [],
  )
  sameNames(
    t,
    read,
    [...sent].map(([id, to]) => `${id} ${to}`),
    'each message was read once by its reader',
  )
  t.is(load.sent.length, new Set(load.sent.map(({ message_id }) => message_id)).size)
  t.truthy(agents.find(({ id }) => id === root))
}
