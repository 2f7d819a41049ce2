/** A connection to a server of the test, and short forms to ask it. */
import type { ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'
import { createIds } from '../../core/base/ids.js'
import { createTurns } from '../../core/plugin.js'
import type { ConnectionOptions, ModelFailure, ModelRequest } from '../../plugins/execution/models/contract.js'
import { messages } from '../../plugins/providers/anthropic/protocol.js'
import { gemini } from '../../plugins/providers/google/protocol.js'
import { responses } from '../../plugins/providers/openai/protocol.js'
import { xAi } from '../../plugins/providers/openai/vendor.js'
import { chatCompletions } from '../../plugins/providers/openai-compatible/protocol.js'
import { vendors } from '../../plugins/providers/openai-compatible/vendors.js'
import { createConnection } from '../../plugins/providers/streamed/connection.js'
import { createTransport } from '../../plugins/providers/streamed/transport/transport.js'
import { ask, requestOf, userText, type Answer } from './models.js'
import { startOpenAiServer, type Reply } from './openai-server.js'

export const clock = createClock()
/** Close it when the tests of a file are over. */
export const transport = createTransport()

export const linkParts = {
  clock,
  transport,
  inTurn: createTurns(),
  redact: (text: string): string => text,
}

const ids = createIds(clock)
export const protocol = chatCompletions(() => ids.make('call'))

const anthropic = messages(() => ids.make('call'), { version: '2023-06-01', beta_headers: [] })
const openai = responses(() => ids.make('call'), { organization: 'org-1', project: 'proj_1' })
const xai = responses(() => ids.make('call'), {}, xAi)
const known = vendors.find(({ provider }) => provider === 'openrouter')
const openrouter = chatCompletions(() => ids.make('call'), known)
const google = gemini(() => ids.make('call'))
const protocols = { openai_compatible: protocol, openrouter, anthropic, openai, xai, google }
/** Protocols by the wire name of their provider. */
export type Spoken = keyof typeof protocols

export const connectTo = (
  base_url: string,
  { spoken = 'openai_compatible', ...more }: Partial<ConnectionOptions> & { readonly spoken?: Spoken } = {},
) => createConnection({ base_url, idle_timeout_ms: 60_000, ...more }, protocols[spoken], linkParts)

/** A server that gives one reply, a connection to it, and a question. */
export const converseWith = async (t: ExecutionContext, reply: Reply, more: Parameters<typeof connectTo>[1] = {}) => {
  const server = await startOpenAiServer(() => reply)
  t.teardown(() => server.close())
  const connection = connectTo(server.url, more)
  const go = (request: ModelRequest = requestOf([userText('hi')]), signal?: AbortSignal): Promise<Answer> =>
    ask(connection, request, signal)
  return { server, connection, ask: go }
}

export const failureOf = ({ done }: Answer): ModelFailure | undefined =>
  done?.outcome === 'failed' ? done.failure : undefined

/** `truncated retryable`, `auth final`, or what came instead of a failure. */
export const classOf = (answer: Answer): string => {
  const failure = failureOf(answer)
  return failure === undefined
    ? `no failure but ${answer.done?.outcome}`
    : `${failure.class} ${failure.retryable ? 'retryable' : 'final'}`
}
