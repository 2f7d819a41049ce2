/** Searches that Google's servers make; docs/rules/models.md. */
import test, { type ExecutionContext } from 'ava'
import type { ModelMessage } from '../../../../plugins/execution/models/contract.js'
import { isLeveled } from '../../../../plugins/providers/google/models.js'
import { callPart, content, ending, grounded, searchParts } from '../../../support/google-server.js'
import { classOf, converseWith, transport } from '../../../support/model-client.js'
import { requestOf, userText } from '../../../support/models.js'
import { stream, type Reply, type StreamReply } from '../../../support/openai-server.js'
import { listOf } from '../../../support/vendors.js'

test.after.always(() => transport.close())

const model = 'gemini-3-flash-preview'
const converse = (t: ExecutionContext, reply: Reply) => converseWith(t, reply, { spoken: 'google' })
const tool = { name: 'look', description: '', parameters: { type: 'object' as const } }
const asking = (more: object = {}) => ({ ...requestOf([userText('x')], { model, ...more }), web_search: true as const })
const pages = [
  ['https://a.example/1', 'One'],
  ['https://b.example/2', 'Two'],
] as const
const [one, two] = pages.map(([url, title]) => ({ url, title }))
const [asked, found] = searchParts('s1', 'weather', 'rain')
const searched: StreamReply = stream(
  content({ text: 'I look it up.', thought: true }, ...searchParts('s1', 'weather', 'rain')),
  grounded(content({ text: 'It ' }), ['weather'], pages.slice(0, 1)),
  grounded(ending('STOP', [{ text: 'rains.' }]), ['weather', '', 'rain', 'rain', 'wind'], pages, [1, 1, 7]),
)

test('models-56: google is asked with its own tool beside functions, which it must tell of, and only where it may search', async (t) => {
  const { server, ask } = await converse(t, searched)
  const required = { tools: [tool], generation: { tool_choice: { type: 'required' as const } } }
  for (const request of [
    asking({ tools: [tool] }),
    asking({ tools: [tool], generation: { tool_choice: { type: 'auto' as const } } }),
    asking(required),
    asking(),
    requestOf([userText('x')], { model, ...required }),
    requestOf([userText('x')], { model }),
    { ...asking({ tools: [tool] }), model: 'gemini-2.5-flash' },
  ])
    await ask(request)
  const kinds = (at: number): string[] =>
    ('tools' in (server.asked[at]?.body ?? {}) ? listOf(server.asked[at], 'tools') : []).flatMap(Object.keys)
  const config = (at: number) => server.asked[at]?.body['toolConfig']
  const told = { includeServerSideToolInvocations: true }
  for (const [at, mode] of ['VALIDATED', 'VALIDATED', 'ANY'].entries()) {
    t.deepEqual(kinds(at), ['googleSearch', 'functionDeclarations'])
    t.deepEqual(config(at), { functionCallingConfig: { mode }, ...told })
  }
  t.deepEqual([kinds(3), config(3)], [['googleSearch'], told])
  t.deepEqual([kinds(4), config(4)], [['functionDeclarations'], { functionCallingConfig: { mode: 'ANY' } }])
  t.deepEqual([kinds(5), config(5)], [[], undefined])
  t.deepEqual([kinds(6), config(6)], [['functionDeclarations'], undefined], 'older models refuse both together')
})

test('models-56: google: what was searched, found and cited is told, and goes back verbatim where it may search still', async (t) => {
  for (const drip_bytes of [undefined, 1, 7]) {
    const { server, ask } = await converse(t, drip_bytes === undefined ? searched : { ...searched, drip_bytes })
    const { parts, done, text } = await ask(asking({ tools: [tool] }))
    t.is(done?.outcome, 'stop')
    t.is(text, 'It rains.')
    // usage-15: each query once, however often it is told.
    t.is(done?.usage?.searches, 3)
    t.deepEqual(parts, [
      { type: 'reasoning', text: 'I look it up.', metadata: { google: { thought: true } } },
      { type: 'search', queries: ['weather', 'rain'], pages: [], metadata: { google: { part: asked ?? {} } } },
      { type: 'search', queries: ['wind'], pages: [one, two], metadata: { google: { part: found ?? {} } } },
      { type: 'text', text: 'It rains.', cites: [two] },
    ])
    const messages: ModelMessage[] = [userText('x'), { role: 'assistant', content: [...parts] }, userText('and then?')]
    const thought = { text: 'I look it up.', thought: true }
    const partsOf = (at: number) => listOf(server.asked[at], 'contents').at(-2).parts
    await ask({ ...requestOf(messages, { model }), web_search: true })
    t.deepEqual(partsOf(1), [thought, asked, found, { text: 'It rains.' }])
    await ask(requestOf(messages, { model }))
    t.deepEqual(partsOf(2), [thought, { text: 'It rains.' }])
    await ask({ ...requestOf(messages, { model: 'gemini-2.5-pro' }), web_search: true })
    t.deepEqual(partsOf(3), [thought, { text: 'It rains.' }])
  }
})

test('models-56: google: pages of which no search is told by itself are a search all the same, and are cited together', async (t) => {
  const { server, ask } = await converse(t, stream(grounded(ending('STOP', [{ text: 'Yes.' }]), ['q'], pages)))
  const { parts, done } = await ask(asking())
  t.is(done?.usage?.searches, 1)
  t.deepEqual(parts, [
    { type: 'search', queries: ['q'], pages: [one, two] },
    { type: 'text', text: 'Yes.', cites: [one, two] },
  ])
  await ask({ ...requestOf([userText('x'), { role: 'assistant', content: [...parts] }], { model }), web_search: true })
  t.deepEqual(listOf(server.asked[1], 'contents').at(-1).parts, [{ text: 'Yes.' }])
})

test('models-56: google: a search without its result and a result without its search are left out, calls of ours stay', async (t) => {
  const [lone] = searchParts('s2', 'q')
  const [, stray] = searchParts('s3', 'q')
  const other = { toolCall: { toolType: 'URL_CONTEXT', args: { urls: [] }, id: 's4' } }
  const call = { ...callPart({ id: 'c1', name: 'look', input: '{}' }), thoughtSignature: 'c2ln' }
  const { ask } = await converse(
    t,
    stream(content(lone ?? {}, stray ?? {}, other, ...searchParts('s1', 'weather'), call), ending('STOP')),
  )
  const { parts, done } = await ask(asking({ tools: [tool] }))
  t.is(done?.outcome, 'tool_calls')
  t.deepEqual(
    parts.map((part) => [part.type, part.type === 'search' ? part.queries : []]),
    [
      ['search', ['weather']],
      ['search', []],
      ['tool_call', []],
    ],
  )
  t.like(parts.at(-1), { id: 'c1', metadata: { google: { thoughtSignature: 'c2ln' } } })
})

test('models-56: google: what is said of searches and follows no protocol says nothing, and an answer that is cut is none', async (t) => {
  const odd = [7, 'x', [], { webSearchQueries: 'q', groundingChunks: 5 }, { groundingChunks: [null, { web: 7 }, {}] }]
  const odder = [
    { groundingSupports: [null, { groundingChunkIndices: ['0', 1.5, -1] }] },
    { webSearchQueries: [7, ''] },
  ]
  for (const groundingMetadata of [...odd, ...odder]) {
    const end = { candidates: [{ content: { parts: [{ text: 'So.' }] }, finishReason: 'STOP', groundingMetadata }] }
    const { parts, done } = await (await converse(t, stream(end))).ask(asking())
    t.deepEqual(parts, [{ type: 'text', text: 'So.' }])
    t.is(done?.usage?.searches, undefined)
  }
  let bytes = 0
  for (const piece of searched.chunks.slice(0, 2)) {
    bytes += Buffer.byteLength(String(piece))
    for (const how of ['end', 'destroy'] as const) {
      const answer = await (await converse(t, { ...searched, cut: { bytes, how } })).ask(asking())
      t.regex(classOf(answer), /retryable$/u)
      t.deepEqual(answer.parts, [])
    }
  }
})

test('models-56: models that think at a level search beside functions, older ones and those of others do not', (t) => {
  for (const name of ['gemini-3-flash-preview', 'gemini-3.1-pro-preview', 'gemini-flash-latest', 'models/gemini-4'])
    t.true(isLeveled(name), name)
  for (const name of ['gemini-2.5-flash', 'gemini-1.5-pro', 'gemini-pro', 'mine']) t.false(isLeveled(name), name)
})
