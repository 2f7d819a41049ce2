/** Model servers of each protocol, for what must hold of all of them. */
import { callingAs, sayingAs } from './anthropic-server.js'
import { callingIn, sayingIn } from './responses-server.js'
import { calling, saying, type Asked, type Reply, type WireCall } from './openai-server.js'

export interface Vendor {
  readonly provider: string
  saying(...words: string[]): Reply
  calling(...calls: WireCall[]): Reply
  /** What the server was told of the conversation: roles, with the ids of calls and results. */
  told(asked: Asked | undefined): string[]
}

const messagesOf = (asked: Asked | undefined): any[] =>
  Array.isArray(asked?.body['messages']) ? asked.body['messages'] : []

export const vendors: readonly Vendor[] = [
  {
    provider: 'openai_compatible',
    saying,
    calling,
    told: (asked) =>
      messagesOf(asked)
        .filter(({ role }) => role !== 'system')
        .map(({ role, tool_calls, tool_call_id }) =>
          [role === 'tool' ? 'result' : role, ...(tool_calls ?? []).map(({ id }: any) => id), tool_call_id ?? '']
            .join(' ')
            .trim(),
        ),
  },
  {
    provider: 'anthropic',
    saying: sayingAs,
    calling: callingAs,
    told: (asked) =>
      messagesOf(asked).map(({ role, content }) =>
        [
          content.some(({ type }: any) => type === 'tool_result') ? 'result' : role,
          ...content.flatMap(({ id, tool_use_id }: any) => [id ?? tool_use_id ?? []].flat()),
        ].join(' '),
      ),
  },
  {
    provider: 'openai',
    saying: sayingIn,
    calling: callingIn,
    told: (asked) =>
      [asked?.body['input']]
        .flat()
        .map(({ type, role, call_id }: any) =>
          [{ function_call: 'assistant', function_call_output: 'result' }[String(type)] ?? role, call_id ?? '']
            .join(' ')
            .trim(),
        ),
  },
]
