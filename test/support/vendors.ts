/** Model servers of each protocol, for what must hold of all of them. */
import { callingAs, sayingAs } from './anthropic-server.js'
import { callingGemini, sayingGemini } from './google-server.js'
import { callingIn, sayingIn } from './responses-server.js'
import { calling, saying, type Asked, type Reply, type WireCall } from './openai-server.js'

export interface Vendor {
  readonly provider: string
  saying(...words: string[]): Reply
  calling(...calls: WireCall[]): Reply
  /** What the server was told of the conversation: roles, with the ids of calls and results. */
  told(asked: Asked | undefined): string[]
}

/** What stands in a list of what the server was asked. */
export const listOf = (asked: Asked | undefined, name: string): any[] => {
  const list = asked?.body[name]
  return Array.isArray(list) ? list : []
}

export const vendors: readonly Vendor[] = [
  {
    provider: 'openai_compatible',
    saying,
    calling,
    told: (asked) =>
      listOf(asked, 'messages')
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
      listOf(asked, 'messages').map(({ role, content }) =>
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
        .filter((item: any) => item?.role !== 'system')
        .map(({ type, role, call_id }: any) =>
          [{ function_call: 'assistant', function_call_output: 'result' }[String(type)] ?? role, call_id ?? '']
            .join(' ')
            .trim(),
        ),
  },
  {
    provider: 'google',
    saying: sayingGemini,
    calling: callingGemini,
    told: (asked) =>
      listOf(asked, 'contents').map(({ role, parts }) =>
        [
          parts.some((part: any) => part.functionResponse) ? 'result' : role === 'model' ? 'assistant' : role,
          ...parts.flatMap(({ functionCall, functionResponse }: any) => (functionCall ?? functionResponse)?.id ?? []),
        ].join(' '),
      ),
  },
]
