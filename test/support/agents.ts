/** Short forms for tests of agents that agents start. */
import type { ExecutionContext } from 'ava'
import { createPause } from './pause.js'
import { startTestDaemon, type Answer, type Reachable, type TestDaemonOptions } from './daemon.js'
import type { Json } from '../../core/plugin.js'
import { createClock } from '../../core/base/clock.js'
import { createDemoModel } from '../../plugins/providers/demo/demo-model.js'
import { scriptedProvider } from '../../plugins/providers/scripted/contract.js'
import type { ModelRequest } from '../../plugins/execution/models/contract.js'
import { openSession, submit, until } from './runs.js'

type Asked = Pick<Reachable, 'request'>

/** The line of a script that calls a tool. */
export const call = (name: string, input: object = {}): string => `/tool ${name} ${JSON.stringify(input)}`

/** Opens a session and answers with the id of its agent. */
export const openAgent = async (daemon: Asked, session_id = 's1'): Promise<string> => {
  await openSession(daemon, session_id)
  return (await daemon.request('GET', `/v1/sessions/${session_id}`)).body.agent_id
}

export const spawn = (
  { request }: Asked,
  agent_id: string,
  body: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => request('POST', `/v1/agents/${agent_id}/sidechains`, body, headers)

export const told = (content: string, name = 'work') => ({ subtask: { name, content } })
/** Works until somebody ends it. */
export const endless = told('/sleep 3600000')

export const agentOf = async ({ request }: Asked, agent_id: string): Promise<any> =>
  (await request('GET', `/v1/agents/${agent_id}`)).body.agent
export const rowsOf = async ({ request }: Asked, query = ''): Promise<any> =>
  (await request('GET', `/v1/agents/summaries${query}`)).body

/** Reads an agent until it is as wanted. */
export const untilAgent = async (daemon: Asked, agent_id: string, holds: (agent: any) => boolean): Promise<any> => {
  const pause = createPause()
  for (let n = 0; n < 3_000; n += 1) {
    const agent = await agentOf(daemon, agent_id)
    if (holds(agent)) return agent
    await pause()
  }
  throw new Error(`the agent is ${JSON.stringify(await agentOf(daemon, agent_id))}`)
}
export const settled = (daemon: Asked, agent_id: string): Promise<any> =>
  untilAgent(daemon, agent_id, ({ settled_at_ms }) => settled_at_ms !== undefined)

/** The demo model, which notes what it is asked. */
export const directed = () => {
  const demo = createDemoModel({ clock: createClock(), idle_timeout_ms: 3_600_000 })
  return scriptedProvider((request, _, signal) => demo.stream(request, signal), { context: 'run' })
}

/** A daemon with it, and an agent without a parent. */
export const startDirected = async (
  t: ExecutionContext,
  sidechains: { readonly [limit: string]: Json } = {},
  more: TestDaemonOptions = {},
) => {
  const model = directed()
  const config = { ...model.config, sidechains }
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config, ...more })
  return Object.assign(daemon, { asked: model.requests, parent: await openAgent(daemon) })
}

/** What the tools gave in the conversation of which this is the newest call, in order. */
export const resultsIn = (request: ModelRequest | undefined): any[] =>
  request?.messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'tool_result' ? [part.output] : [])),
  ) ?? []

/** Has the agent of a session say this script, and answers with the run when it is over. */
export const does = async (daemon: Asked, session_id: string, ...lines: string[]): Promise<any> => {
  const { run_id } = await submit(daemon, session_id, lines.join('\n'))
  return until(daemon, run_id, 'completed', 'failed', 'cancelled', 'waiting_for_approval')
}
