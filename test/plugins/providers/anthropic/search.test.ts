/** Searches that Anthropic's servers make; docs/rules/models.md. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import type { AssistantPart } from '../../../../plugins/execution/models/contract.js'
import {
  answering,
  block,
  callBlock,
  citation,
  citedBlock,
  event,
  messageEnd,
  messageStart,
  searchBlocks,
  textBlock,
  thinkingBlock,
} from '../../../support/anthropic-server.js'
import { converseWith, transport } from '../../../support/model-client.js'
import { requestOf, userText } from '../../../support/models.js'
import { stream, type Reply } from '../../../support/openai-server.js'
import { listOf } from '../../../support/vendors.js'

test.after.always(() => transport.close())

const converse = (t: ExecutionContext, reply: Reply) => converseWith(t, reply, { spoken: 'anthropic' })
const pages = [
  { url: 'https://a.example/1', title: 'One' },
  { url: 'https://b.example/2', title: 'Two' },
]
const cited = citation('https://a.example/1', 'One')
const searched = answering(
  'end_turn',
  thinkingBlock(0, 'I look it up.', 'c2ln'),
  searchBlocks(1, { id: 'srvtoolu_1', query: 'weather ä', pages }),
  citedBlock(3, 'It rains.', cited),
  textBlock(4, ' Take a coat.'),
)

test('models-53: anthropic is asked with its own tool, once and beside ours', async (t) => {
  const { server, ask } = await converse(t, searched)
  const peek = { name: 'peek', description: 'Looks.', parameters: { type: 'object' as const } }
  await ask({ ...requestOf([userText('x')]), web_search: true })
  await ask({ ...requestOf([userText('x')]), web_search: true, tools: [peek] })
  await ask(requestOf([userText('x')]))
  const own = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }
  const [alone, beside, without] = server.asked.map(({ body }): any => body['tools'])
  t.deepEqual(alone, [own])
  t.deepEqual(beside, [{ name: 'peek', description: 'Looks.', input_schema: { type: 'object' } }, own])
  t.is(without, undefined)
})

test('models-53: anthropic: what was searched, found and cited is told, and goes back verbatim and in its order', async (t) => {
  for (const drip_bytes of [undefined, 1, 7]) {
    const { server, ask } = await converse(t, drip_bytes === undefined ? searched : { ...searched, drip_bytes })
    const { parts, done, text } = await ask({ ...requestOf([userText('x')]), web_search: true })
    t.is(done?.outcome, 'stop')
    t.is(text, 'It rains. Take a coat.')
    t.like(parts[1], { type: 'search', queries: ['weather ä'], pages: [] })
    t.like(parts[2], { type: 'search', queries: [], pages })
    t.like(parts[3], { type: 'text', text: 'It rains.', cites: [{ url: 'https://a.example/1', title: 'One' }] })
    const messages = [userText('x'), { role: 'assistant' as const, content: [...parts] }, userText('and then?')]
    await ask({ ...requestOf(messages), web_search: true })
    const { content } = listOf(server.asked[1], 'messages')[1]
    t.deepEqual(content, [
      { type: 'thinking', thinking: 'I look it up.', signature: 'c2ln' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather ä' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: pages.map(({ url, title }) => ({
          type: 'web_search_result',
          url,
          title,
          encrypted_content: `ZW5j${title}`,
          page_age: null,
        })),
      },
      { type: 'text', text: 'It rains.', citations: [cited] },
      { type: 'text', text: ' Take a coat.' },
    ])
    // Where the server may not search, and to others, the words alone go.
    await ask(requestOf(messages))
    const plain = listOf(server.asked[2], 'messages')[1].content
    t.deepEqual(
      plain.map((one: any) => [one.type, 'citations' in one]),
      [
        ['thinking', false],
        ['text', false],
        ['text', false],
      ],
    )
  }
})

test('models-53: anthropic: a search that failed says its code, and an answer that is paused keeps what has no result yet', async (t) => {
  const failing = block(1, {
    type: 'web_search_tool_result',
    tool_use_id: 's1',
    content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
  })
  const asks = block(0, { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } })
  const partsOf = async (reply: Reply): Promise<readonly [string | undefined, readonly AssistantPart[]]> => {
    const { done, parts } = await (await converse(t, reply)).ask()
    return [done?.outcome, parts]
  }
  const [, failed] = await partsOf(answering('end_turn', asks, failing, textBlock(2, 'Nothing.')))
  t.like(failed[1], { type: 'search', pages: [], failed: 'max_uses_exceeded' })
  const [outcome, paused] = await partsOf(
    answering('pause_turn', textBlock(0, 'I look.'), asks.replaceAll('"index":0', '"index":1')),
  )
  t.is(outcome, 'paused')
  t.deepEqual(
    paused.map(({ type }) => type),
    ['text', 'search'],
  )
  const [, cut] = await partsOf(
    answering('max_tokens', textBlock(0, 'I look.'), asks.replaceAll('"index":0', '"index":1')),
  )
  t.deepEqual(
    cut.map(({ type }) => type),
    ['text'],
    'a search without a result would be refused',
  )
})

test('models-53: anthropic: calls of ours beside a search are calls, and a stream that is cut in a search is no answer', async (t) => {
  const search = searchBlocks(0, { id: 's1', query: 'q', pages })
  const both = await (
    await converse(t, answering('tool_use', search, callBlock(2, { id: 'toolu_1', name: 'peek', input: '{}' })))
  ).ask()
  t.is(both.done?.outcome, 'tool_calls')
  t.deepEqual(
    both.parts.map(({ type }) => type),
    ['search', 'search', 'tool_call'],
  )
  const cut = await (await converse(t, stream(messageStart(), event('ping'), search.slice(0, -40)))).ask()
  t.like(cut.done, { outcome: 'failed', failure: { class: 'truncated' } })
  const open = search.slice(0, search.indexOf('event: content_block_stop'))
  const ended = await (await converse(t, stream(messageStart(), open, messageEnd('end_turn')))).ask()
  t.like(ended.done, { outcome: 'failed', failure: { class: 'invalid_output' } })
})

test('usage-15: anthropic: searches are counted as the server tells them, at the end if it tells them twice', async (t) => {
  const told = (web_search_requests: number): JsonObject => ({ server_tool_use: { web_search_requests } })
  const chunks = [
    messageStart({ input_tokens: 12, output_tokens: 1, ...told(0) }),
    textBlock(0, 'It rains.'),
    messageEnd('end_turn', { output_tokens: 5, ...told(2) }),
  ]
  const { ask } = await converseWith(t, { type: 'stream', chunks }, { spoken: 'anthropic' })
  t.deepEqual((await ask()).done?.usage, { input_tokens: 12, output_tokens: 5, searches: 2 })
})
