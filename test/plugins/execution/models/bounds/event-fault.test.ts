import test from 'ava'
import { eventFault, foreignEventFault } from '../../../../../plugins/execution/models/bounds/event-fault.js'
import { callTool, done, fails, scriptedProvider, text } from '../../../../../plugins/providers/scripted/contract.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { openSession, submit, until } from '../../../../support/runs.js'

const call = (more: object) => ({
  type: 'part',
  part: { type: 'tool_call', id: 'c1', name: 'look', input: {}, ...more },
})
const cycle: unknown[] = []
cycle.push(cycle)

/** What a plugin in plain JavaScript may yield, and what is told of it. */
const broken: readonly [unknown, string][] = [
  [undefined, 'the event '],
  ['done', 'the event '],
  [{ type: 'banana' }, 'type must'],
  [{ type: 'text_delta', text: 5 }, 'text must'],
  [{ type: 'part' }, 'part '],
  [{ type: 'part', part: { type: 'picture', data: '' } }, 'part.type must'],
  [{ type: 'part', part: { type: 'text' } }, 'part.text '],
  [call({ name: 5 }), 'part.name must'],
  [call({ id: undefined }), 'part.id '],
  [call({ input: undefined }), 'part.input '],
  [call({ input: { n: 5n } }), 'part.input must be a JSON value'],
  [call({ input: [new Date(0)] }), 'part.input must be a JSON value'],
  [call({ input: cycle }), 'part.input must be a JSON value'],
  [call({ metadata: { of: () => 1 } }), 'part.metadata '],
  [{ ...done(), outcome: 'great' }, 'outcome must'],
  [{ type: 'done', outcome: 'stop' }, 'usage '],
  [{ ...done(), usage: { input_tokens: 1, output_tokens: Number.NaN } }, 'usage.output_tokens must'],
  [{ ...done(), usage: { input_tokens: 1e13, output_tokens: 1 } }, 'usage.input_tokens must be at most 1000000000000'],
  [{ ...done(), usage: { input_tokens: 1, output_tokens: 1e300 } }, 'usage.output_tokens must'],
  [{ type: 'done', outcome: 'failed', failure: { class: 'odd', retryable: true, message: '' } }, 'failure.class must'],
  ...[-5, Number.NaN, Infinity].map((wait): [unknown, string] => [
    fails(true, 'It is busy.', wait),
    'failure.retry_after_ms must be a finite number from 0',
  ]),
  [call({ name: 'n'.repeat(1_001) }), 'part.name must'],
  [call({ id: 'i'.repeat(65_537) }), 'part.id must'],
]

test('models-76: an event of a provider that breaks the contract is told by its field, and each right one is taken', (t) => {
  for (const [event, fault] of broken) t.true(eventFault(event)?.startsWith(fault), `${fault}: ${eventFault(event)}`)
  const right = [
    { type: 'text_delta', text: '' },
    { type: 'reasoning_delta', text: 'Hm' },
    text('Hello'),
    { type: 'part', part: { type: 'reasoning', text: 'Hm', metadata: { id: null, of: undefined } } },
    { type: 'part', part: { type: 'search', queries: ['a'], pages: [{ url: 'http://a', title: '' }] } },
    call({ input: null, unparsed: '{' }),
    { ...done(), usage: { input_tokens: 1, output_tokens: 2, cached_input_tokens: undefined } },
    { type: 'done', outcome: 'failed', failure: { class: 'network', retryable: true, message: 'It is gone.' } },
  ]
  for (const event of right) t.is(eventFault(event) ?? foreignEventFault(event), undefined)
  t.is(foreignEventFault(call({ more: 10n })), 'part must be a JSON value')
})

test('models-76: a broken answer fails its run by name, is asked for once, and nothing of it is kept', async (t) => {
  const model = scriptedProvider(({ messages }): any => {
    const at = Number(JSON.stringify(messages.at(-1)).match(/no (\d+)/u)?.[1])
    return [text('kept out'), broken[at]?.[0], callTool('c2', 'look'), done('tool_calls')]
  })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await openSession(daemon)
  for (const [at, [, fault]] of broken.entries()) {
    const { error } = await until(daemon, (await submit(daemon, 's1', `no ${at}`)).run_id, 'failed')
    t.true(error.startsWith('model_provider_fault: The provider scripted gave an answer that breaks'), error)
    t.true(error.includes(`: ${fault}`), error)
  }
  t.is(model.requests.length, broken.length)
  const journal = (await daemon.request('GET', '/v1/sessions/s1/events?limit=10000')).body.session.journal
  t.deepEqual(
    journal.filter(({ type, entry }: any) => type === 'message' && entry.message.role === 'assistant'),
    [],
  )
  t.notRegex(JSON.stringify(journal), /kept out|"c1"|banana/u)
  t.regex((await daemon.request('GET', '/v1/status')).text, /The provider scripted gave an answer that breaks/u)
})
