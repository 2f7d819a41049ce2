/** The worst streams that a provider may send, each as an answer to one run. */
import { chunk, doneEvent, stream, type Reply } from '../support/openai-server.js'

export interface WorstStream {
  readonly title: string
  readonly reply: () => Reply
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
/** Made once and sent as one text, so that the server of the test has next to nothing to do. */
const said = (events: string): Reply => stream(`${events}${event(chunk({}, 'stop'))}${doneEvent}`)
const called = (events: string): Reply => stream(`${events}${event(chunk({}, 'tool_calls'))}${doneEvent}`)
const piece = (index: number, name: string, input: string): string =>
  event(
    chunk({
      tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: input } }],
    }),
  )

export const worstStreams: readonly WorstStream[] = [
  { title: 'one huge delta', reply: () => said(event(chunk({ content: 'eyJaaaaaaaa-'.repeat(80_000) }))) },
  { title: 'very many tiny deltas', reply: () => said(event(chunk({ content: 'a' })).repeat(20_000)) },
  { title: 'one event without an end', reply: () => stream(`data: ${'a'.repeat(4_000_000)}`) },
  { title: 'very many empty lines', reply: () => said('\n'.repeat(2_000_000)) },
  {
    title: 'very many calls',
    reply: () => called(Array.from({ length: 5_000 }, (_, n) => piece(n, 'todo_write', '{}')).join('')),
  },
  {
    title: 'the input of a call in very many pieces',
    reply: () =>
      called(
        piece(0, 'todo_write', '{"todos":[') +
          event(chunk({ tool_calls: [{ index: 0, function: { arguments: '0,' } }] })).repeat(20_000) +
          event(chunk({ tool_calls: [{ index: 0, function: { arguments: '0]}' } }] })),
      ),
  },
]
