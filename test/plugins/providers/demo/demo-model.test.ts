import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import type { ModelMessage } from '../../../../plugins/execution/models/contract.js'
import { createDemoModel } from '../../../../plugins/providers/demo/demo-model.js'
import { conformProvider } from '../../../conform/provider.js'
import { ask, converse, requestOf, resultsOf, userText } from '../../../support/models.js'

const demo = createDemoModel({ clock: createClock(), idle_timeout_ms: 60_000 })
const say = (text: string) => ask(demo, requestOf([userText(text)]))
const script = (...lines: string[]): string => lines.join('\n')
const called = (answers: Awaited<ReturnType<typeof converse>>) =>
  answers.map(({ parts }) =>
    parts.map((part) => (part.type === 'tool_call' ? part.name : part.type === 'text' ? part.text : part.type)),
  )

test('plain text is repeated whole', async (t) => {
  for (const text of [
    'hello',
    '',
    'two\nlines',
    '  spaces  ',
    '---',
    'a / b',
    '/ not a directive',
    '/etc/passwd is a file',
  ]) {
    t.is((await say(text)).text, `You said: ${text}`)
  }
})

test('only the last user text counts', async (t) => {
  const messages: ModelMessage[] = [userText('/fail fatal old'), { role: 'assistant', content: [] }, userText('new')]
  t.is((await ask(demo, requestOf(messages))).text, 'You said: new')
})

test('what the daemon tells beside results of calls is no user text: the script goes on', async (t) => {
  const asked = userText('/tool paint\n/say made')
  const { parts } = await ask(demo, requestOf([asked]))
  const messages: ModelMessage[] = [
    asked,
    { role: 'assistant', content: parts },
    resultsOf(parts),
    { role: 'user', content: [{ type: 'text', text: 'Files that paint gave:' }], beside_results: true },
  ]
  t.is((await ask(demo, requestOf(messages))).text, 'made')
})

test('what the daemon adds to a text is no line of a script, and is repeated with a text that is none', async (t) => {
  const added = { type: 'text' as const, text: 'It is Monday.', added: true as const }
  const answer = async (text: string): Promise<string> =>
    (await ask(demo, requestOf([{ role: 'user', content: [{ type: 'text', text }, added] }]))).text
  t.is(await answer('/say made'), 'made')
  t.is(await answer(script(...Array.from({ length: 200 }, () => '/say made'))), 'made'.repeat(200))
  t.is(await answer('hello'), 'You said: hello\nIt is Monday.')
})

test('tools in a row are one parallel turn, and the next turn says Done.', async (t) => {
  const answers = await converse(demo, script('/tool read_file {"path":"a"}', '/tool list_files'))
  t.deepEqual(called(answers), [['read_file', 'list_files'], ['Done.']])
  t.deepEqual(answers[0]?.parts, [
    { type: 'tool_call', id: 'call_1_1', name: 'read_file', input: { path: 'a' } },
    { type: 'tool_call', id: 'call_1_2', name: 'list_files', input: {} },
  ])
})

test('three dashes and anything that is not a call end a turn of calls', async (t) => {
  t.deepEqual(called(await converse(demo, script('/say First.', '/tool a', '---', '/tool b', '', '/say Last.'))), [
    ['First.', 'a'],
    ['b'],
    ['Last.'],
  ])
  t.deepEqual(called(await converse(demo, script('/tool a', '/sleep 1', '/tool b'))), [['a'], ['b'], ['Done.']])
})

test('a turn without a call goes on past three dashes, so nothing is lost', async (t) => {
  t.deepEqual(called(await converse(demo, script('---', '/say a', '---', '---', '/say b', '---'))), [['a', 'b']])
})

test('Done. is said unless the model spoke last', async (t) => {
  t.deepEqual(called(await converse(demo, '/say hi')), [['hi']])
  t.deepEqual(called(await converse(demo, '/sleep 0')), [['Done.']])
  t.deepEqual(called(await converse(demo, '/emit hi')), [['emit_output'], ['Done.']])
})

test('ask and emit call their tools', async (t) => {
  const { parts } = await say(script('/ask Which one? | Red |  Blue green', '/emit Look: {"a":1}'))
  t.deepEqual(
    parts.map((part) => part.type === 'tool_call' && [part.name, part.input]),
    [
      [
        'ask_user_question',
        {
          questions: [
            {
              header: 'Question',
              question: 'Which one?',
              options: [{ label: 'Red' }, { label: 'Blue green' }],
              multi_select: false,
            },
          ],
        },
      ],
      ['emit_output', { content: 'Look: {"a":1}' }],
    ],
  )
})

test('a failure ends the call with its class, every time', async (t) => {
  const retryable = await say(script('/say part', '/fail retryable busy'))
  t.deepEqual(retryable.done, {
    type: 'done',
    outcome: 'failed',
    failure: { class: 'overloaded', retryable: true, message: 'busy' },
  })
  t.deepEqual((await say(script('/say part', '/fail retryable busy'))).done, retryable.done)
  const fatal = await say('/fail fatal')
  t.deepEqual(fatal.done, {
    type: 'done',
    outcome: 'failed',
    failure: { class: 'bad_request', retryable: false, message: 'The demo model was asked to fail.' },
  })
})

test('a malformed script acts on nothing and says which line is wrong', async (t) => {
  const wrong: [string, RegExp][] = [
    ['/tool', /line 1: \/tool needs the name/u],
    ['/tool bash {"command":', /line 1: the input of \/tool is not valid JSON/u],
    [script('/tool bash {}', '', '/ask Only? | one'), /line 3: \/ask needs/u],
    ['/ask | a | b', /\/ask needs/u],
    ['/ask q | a | b | c | d | e', /\/ask needs/u],
    ['/sleep soon', /\/sleep needs/u],
    ['/sleep -1', /\/sleep needs/u],
    ['/sleep 3600001', /\/sleep needs/u],
    ['/fail maybe', /\/fail needs/u],
    ['/say', /\/say needs/u],
    ['/emit ', /\/emit needs/u],
    ['/help', /line 1: it is not a directive; I know .*\/tool.*---/u],
    ['/constructor x', /not a directive/u],
    ['/say hi\n'.repeat(10_000), /line 10001: a script has at most 10000 lines/u],
    [script('/say hi', 'and then some prose'), /line 2: it is not a directive/u],
  ]
  for (const [text, reason] of wrong) {
    const { text: answer, parts, done } = await say(text)
    t.regex(answer, reason)
    t.is(parts.length, 1)
    t.is(done?.outcome, 'stop')
  }
})

test('a sleep ends at once when aborted, and as a time-out beyond the idle limit', async (t) => {
  const abort = new AbortController()
  const sleeping = ask(demo, requestOf([userText('/sleep 3600000')]), abort.signal)
  abort.abort()
  const { done } = await sleeping
  t.is(done?.outcome === 'failed' && done.failure.class, 'aborted')
  const hasty = createDemoModel({ clock: createClock(), idle_timeout_ms: 5 })
  const late = await ask(hasty, requestOf([userText('/sleep 6')]))
  t.deepEqual(late.done?.outcome === 'failed' && [late.done.failure.class, late.done.failure.retryable], [
    'timeout',
    true,
  ])
})

test('usage counts four characters as a token, over the whole conversation', async (t) => {
  const short = await ask(demo, requestOf([userText('12345678')], { system: '' }))
  t.deepEqual(short.done?.usage, { input_tokens: 2, output_tokens: Math.ceil('You said: 12345678'.length / 4) })
  const messages: ModelMessage[] = [
    userText('1234'),
    { role: 'assistant', content: [{ type: 'tool_call', id: 'x', name: 'a', input: { k: 1 } }] },
    { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'x', name: 'a', output: 'ab', is_error: false }] },
  ]
  t.is(
    (await ask(demo, requestOf(messages, { system: '12' }))).done?.usage?.input_tokens,
    Math.ceil((2 + 4 + 7 + 4) / 4),
  )
})

test('ids of calls differ within a conversation and repeat with the same call', async (t) => {
  const answers = await converse(demo, script('/tool a', '/tool b', '---', '/tool c'))
  const ids = answers.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : [])))
  t.is(new Set(ids).size, 3)
  const again = await converse(demo, script('/tool a', '/tool b', '---', '/tool c'))
  t.deepEqual(again, answers)
})

test('a text that is no script has one in the system prompt, by the words that stand in it', async (t) => {
  const system = script(
    'You are Scout.',
    '  /when the Lake',
    '/tool look',
    '---',
    '/say It is cold.',
    '</soul>',
    '/say This line belongs to none.',
    '/when nothing',
    '/when wrong',
    '/nonsense',
    '/when *',
    '/say Whatever.',
  )
  const answer = (text: string, ...more: ModelMessage[]) => ask(demo, requestOf([userText(text), ...more], { system }))
  const first = await answer('What of THE LAKE, or nothing?')
  t.deepEqual(
    first.parts.map((part) => part.type === 'tool_call' && part.name),
    ['look'],
  )
  const behind: ModelMessage[] = [{ role: 'assistant', content: first.parts }, resultsOf(first.parts)]
  t.is((await answer('What of THE LAKE, or nothing?', ...behind)).text, 'It is cold.')
  t.is((await answer('nothing')).text, 'Done.')
  t.regex((await answer('wrong')).text, /^I cannot read line 1: it is not a directive/u)
  t.is((await answer('hello')).text, 'Whatever.')
  t.is((await answer('/say the lake')).text, 'the lake', 'a script is its own')
  const long = `the lake ${'x'.repeat(2_000)}`
  const asked = userText(long)
  t.is((await ask(demo, requestOf([asked], { system: '/when lake\n/say One.' }))).text, 'One.')
  t.is((await ask(demo, requestOf([asked], { system: '/when lake\n/say Two.' }))).text, 'Two.', 'by both of them')
  t.is((await ask(demo, requestOf([userText('x')], { system: 'Do not say /when x.' }))).text, 'You said: x')
})

conformProvider(test, 'demo', () => ({
  connection: createDemoModel({ clock: createClock(), idle_timeout_ms: 3_600_000 }),
  texts: {
    text: 'hello',
    calls: script('/say Both.', '/tool a {"x":[1]}', '/tool b'),
    fails: '/fail retryable busy',
    endless: script('/say a', '/sleep 3600000'),
  },
}))
