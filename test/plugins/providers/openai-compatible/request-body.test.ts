import test from 'ava'
import fc from 'fast-check'
import type { ModelMessage } from '../../../../plugins/execution/models/contract.js'
import { createConversationBytes } from '../../../../plugins/providers/streamed/conversation-bytes.js'
import { createRequestBodies } from '../../../../plugins/providers/openai-compatible/request-body.js'
import { wireMessages } from '../../../../plugins/providers/openai-compatible/wire-messages.js'
import { requestOf, userText } from '../../../support/models.js'

const message: fc.Arbitrary<ModelMessage> = fc.oneof(
  fc.string({ unit: 'binary' }).map(userText),
  fc.string().map((text): ModelMessage => ({ role: 'assistant', content: [{ type: 'text', text }] })),
  fc.constant<ModelMessage>({ role: 'assistant', content: [] }),
  fc.json().map((output): ModelMessage => ({
    role: 'tool',
    content: [{ type: 'tool_result', tool_call_id: 'a', name: 'f', output, is_error: false }],
  })),
)

test('a conversation that grows, and one that was forgotten meanwhile, are sent as if they were written anew', (t) => {
  const step = fc.record({ which: fc.nat(2), more: fc.array(message, { maxLength: 3 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.nat(600), (steps, most) => {
      const conversations = createConversationBytes(wireMessages, most)
      const arrays: ModelMessage[][] = [[], [], []]
      for (const { which, more } of steps) {
        const messages = arrays[which] ?? []
        messages.push(...more)
        t.is(`[${conversations.of(messages)}]`, JSON.stringify(messages.flatMap(wireMessages)))
      }
    }),
  )
})

test('what an earlier call said is not written again', (t) => {
  const conversations = createConversationBytes(wireMessages, 10_000)
  let reads = 0
  const watched = new Proxy(userText('hi'), {
    get(target, name) {
      reads += 1
      return Reflect.get(target, name)
    },
  })
  const messages = [watched]
  conversations.of(messages)
  const first = reads
  messages.push(userText('more'))
  conversations.of(messages)
  t.is(reads, first)
})

test('the tools of a request are its own, whatever those before it had', (t) => {
  const bodyOf = createRequestBodies('max_tokens')
  const tool = (name: string) => ({ name, description: '', parameters: { type: 'object' as const } })
  const [one, other] = [tool('one'), tool('other')]
  const namesOf = (tools: readonly (typeof one)[]): string[] | undefined =>
    JSON.parse(String(bodyOf(requestOf([userText('hi')], { tools })))).tools?.map(
      (sent: { function: { name: string } }) => sent.function.name,
    )
  t.deepEqual(namesOf([one]), ['one'])
  t.deepEqual(namesOf([one]), ['one'])
  t.deepEqual(namesOf([one, other]), ['one', 'other'])
  t.deepEqual(namesOf([other, one]), ['other', 'one'])
  t.is(namesOf([]), undefined)
  t.deepEqual(namesOf([one]), ['one'])
})

test('a request without a system prompt, without messages and without both is JSON', (t) => {
  const bodyOf = createRequestBodies('max_completion_tokens')
  const sent = (system: string, messages: ModelMessage[]) =>
    JSON.parse(String(bodyOf(requestOf(messages, { system, generation: { max_output_tokens: 5 } }))))
  t.like(sent('', []), { messages: [], max_completion_tokens: 5 })
  t.like(sent('s', []), { messages: [{ role: 'system', content: 's' }] })
  t.like(sent('', [userText('u')]), { messages: [{ role: 'user', content: 'u' }] })
  t.is(sent('s', [userText('u')]).messages.length, 2)
})
