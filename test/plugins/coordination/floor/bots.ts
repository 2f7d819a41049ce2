/** Agents in a channel whose answers a test writes down. */
import type { ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import type { ModelEvent, ModelRequest } from '../../../../plugins/execution/models/contract.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { startTestDaemon, type Reachable, type TestDaemonOptions } from '../../../support/daemon.js'

/** What a bot is asked. */
export interface Told {
  /** Its name in the channel. */
  readonly bot: string
  /** The whole text. */
  readonly text: string
  /** What it is to respond to, without marks. */
  readonly message: string
  readonly signal: AbortSignal
}
/** What it publishes; undefined for nothing. */
type Script = (told: Told) => string | undefined | ModelEvent[] | Promise<string | undefined | ModelEvent[]>

const wordsOf = (request: ModelRequest, role: string): string => {
  const message = request.messages.findLast((one) => one.role === role)
  return message === undefined ? '' : message.content.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}

const toldOf = (request: ModelRequest, signal: AbortSignal): Told => {
  const words = wordsOf(request, 'user')
  const asked = words.slice(words.lastIndexOf('Respond to this message'))
  return {
    bot: /in which you are "([^"]*)"/u.exec(words)?.[1] ?? '',
    text: words,
    message: [...asked.matchAll(/^\| (.*)$/gmu)].map(([, line]) => line).join('\n'),
    signal,
  }
}

let calls = 0
/** `behind` is waited for when it has published something. */
interface Plays {
  readonly script: Script
  readonly behind?: (told: Told) => Promise<void>
}

async function* played(
  { script, behind }: Plays,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const told = toldOf(request, signal)
  if (request.messages.at(-1)?.role !== 'user') {
    await behind?.(told)
    return yield* [text('ok'), done()]
  }
  const said = await script(told)
  if (said === undefined) return yield* [text('Nothing to say.'), done()]
  if (typeof said !== 'string') return yield* said
  calls += 1
  yield* [callTool(`emit_${calls}`, 'emit_output', { content: said }), done('tool_calls')]
}

export const channel = '/v1/channels/garden'
export const ann = { member_id: 'ann', member_kind: 'human_actor', display_name: 'Ann' }
export const bot = (name: string, more: JsonObject = {}): JsonObject => ({
  member_id: name,
  member_kind: 'session',
  display_name: name,
  ...more,
})

export const scripted = (plays: Plays) => scriptedProvider((request, _, signal) => played(plays, request, signal))

/** A daemon with a channel of a person and bots, who are sessions of the same name. */
export const startBots = async (
  t: ExecutionContext,
  bots: readonly (string | JsonObject)[],
  { script, behind, policy = {}, ...more }: Plays & { policy?: JsonObject } & TestDaemonOptions,
) => {
  const model = scripted({ script, ...(behind !== undefined && { behind }) })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config, ...more })
  const members = bots.map((one) => (typeof one === 'string' ? bot(one) : one))
  for (const { session_id, member_id } of members as any[])
    await daemon.request('POST', '/v1/sessions', { session_id: session_id ?? member_id })
  const made = await daemon.request('POST', '/v1/channels', {
    channel_id: 'garden',
    title: 'The garden',
    members: [ann, ...members],
    autonomy_policy: policy,
  })
  t.is(made.status, 201, JSON.stringify(made.body))
  return Object.assign(daemon, { asked: model.requests, ...handsOf(daemon) })
}

export const handsOf = ({ request }: Pick<Reachable, 'request'>) => ({
  /** A person says something. */
  post: async (content: string, more: JsonObject = {}): Promise<any> => {
    const { status, body } = await request('POST', `${channel}/messages`, { sender_actor_id: 'ann', content, ...more })
    if (status !== 201) throw new Error(JSON.stringify(body))
    return body
  },
  leases: async (): Promise<any[]> => (await request('GET', `${channel}/leases`)).body,
  messages: async (): Promise<any[]> => (await request('GET', `${channel}/messages`)).body,
  turns: async (): Promise<any[]> =>
    (await request('GET', '/v1/runs?limit=100')).body
      .filter(({ kind }: any) => kind === 'channel_delivery')
      .toSorted((a: any, b: any) => (a.run_id < b.run_id ? -1 : 1)),
})
export type Hands = ReturnType<typeof handsOf>

export const eventually = async <T>(look: () => Promise<T>, holds: (found: T) => boolean): Promise<T> => {
  for (let n = 0; n < 2_000; n += 1) {
    const found = await look()
    if (holds(found)) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`it is ${JSON.stringify(await look())}`)
}

const isOpen = ({ finished_at_ms }: any): boolean => finished_at_ms === undefined
/** Nobody has the floor, and no turn is under way. */
export const quiet = async ({ leases, turns }: Hands): Promise<void> => {
  let calm = 0
  await eventually(
    async () => (await leases()).length === 0 && !(await turns()).some(isOpen),
    (is) => (calm = is ? calm + 1 : 0) > 3,
  )
}
/** Who said what, in order. */
export const said = async ({ messages }: Hands): Promise<string[]> =>
  (await messages()).map(({ sender, output }) => `${sender.id}: ${output.content}`)
