import test from 'ava'
import { parse } from '../../../../../core/plugin.js'
import { assert } from '../../../../../core/base/assert.js'
import { ServerEntry } from '../../../../../plugins/tools/mcp/config/entry.js'
import type { McpServer, ServerFacts } from '../../../../../plugins/tools/mcp/servers/mcp-server.js'
import { resourceTools } from '../../../../../plugins/tools/mcp/tools/resources.js'

const entry = parse(ServerEntry, { command: 'x' })
assert(entry.ok, 'it is an entry')

/** A server that answers, or of which nothing is known but its state. */
const server = (name: string, facts: Partial<ServerFacts>, asked: number[]): McpServer => ({
  name,
  entry: entry.value,
  facts: () => ({
    state: 'connected',
    problem: undefined,
    list_problem: undefined,
    instructions: undefined,
    has_resources: true,
    has_prompts: false,
    connections: 1,
    is_absent: false,
    awaits_calls: false,
    ...facts,
  }),
  settled: Promise.resolve(),
  isSettled: () => true,
  ask: async (_method, _params, { timeout_ms }) => {
    asked.push(timeout_ms)
    return { type: 'answered', result: { resources: [{ uri: `${name}:b` }] } }
  },
  take: () => false,
  reconnect: () => {},
  leave: () => Promise.resolve(),
  end: () => Promise.resolve(),
})

const list = async (servers: readonly McpServer[], input: object): Promise<[unknown, number | undefined]> => {
  const tool = resourceTools({ seenBy: () => servers, redact: (text) => text }).find(
    ({ name }) => name === 'list_mcp_resources',
  )
  assert(tool !== undefined, 'it is there')
  const outcome = await tool.run(input as never, { session_id: 's', signal: new AbortController().signal } as never)
  return [outcome.type === 'result' ? outcome.output : outcome, tool.timeout_ms]
}

test('mcp-13: of several servers those that are not connected are named, and hold up none', async (t) => {
  const [good, down, coming]: [number[], number[], number[]] = [[], [], []]
  const problem = { code: 'mcp_connection_failed', message: 'it ended with code 1' }
  const servers = [
    server('good', {}, good),
    server('down', { state: 'waiting', problem }, down),
    server('coming', { state: 'connecting' }, coming),
  ]
  const [all, most] = await list(servers, {})
  t.like(all, { resources: [{ server: 'good', uri: 'good:b' }] })
  t.regex(JSON.stringify(all), /down.*it ended with code 1.*coming.*it is being connected/u)
  t.deepEqual([down, coming], [[], []])
  t.true((good[0] ?? Infinity) < (most ?? 0), 'one that does not answer is given up before the call is')
})

test('mcp-13: one that is asked for by its name is waited for', async (t) => {
  const asked: number[] = []
  await list([server('down', { state: 'waiting' }, asked), server('good', {}, [])], { server: 'down' })
  t.deepEqual(asked, [60_000])
})
