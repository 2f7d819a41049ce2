/** Searches that OpenAI's servers make; docs/rules/models.md. */
import test, { type ExecutionContext } from 'ava'
import type { ModelMessage } from '../../../../plugins/execution/models/contract.js'
import { converseWith, transport } from '../../../support/model-client.js'
import { requestOf, userText } from '../../../support/models.js'
import type { Reply } from '../../../support/openai-server.js'
import { answeringIn, citedItem, searchItem, thoughtItem } from '../../../support/responses-server.js'
import { listOf } from '../../../support/vendors.js'

test.after.always(() => transport.close())

const converse = (t: ExecutionContext, reply: Reply) => converseWith(t, reply, { spoken: 'openai' })
const cites = { type: 'url_citation', start_index: 0, end_index: 9, url: 'https://a.example/1', title: 'One' }
const action = {
  type: 'search',
  query: 'weather',
  queries: ['weather', 'rain'],
  sources: [{ type: 'url', url: 'https://a.example/1' }],
}
const searched = answeringIn(
  thoughtItem(0, 'ZW5j', 'I look it up.'),
  searchItem(1, action),
  searchItem(2, { type: 'open_page', url: 'https://b.example/2' }),
  citedItem(3, 'It rains.', cites, { type: 'file_citation', file_id: 'f' }),
)

test('models-53: openai is asked with its own tool, and to tell the pages that it found', async (t) => {
  const { server, ask } = await converse(t, searched)
  await ask({ ...requestOf([userText('x')], { model: 'gpt-5.4' }), web_search: true })
  await ask({ ...requestOf([userText('x')], { model: 'gpt-4.1' }), web_search: true })
  await ask(requestOf([userText('x')], { model: 'gpt-4.1' }))
  t.like(server.asked[0]?.body, {
    tools: [{ type: 'web_search' }],
    include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
  })
  t.deepEqual(server.asked[1]?.body['include'], ['web_search_call.action.sources'])
  t.is(server.asked[2]?.body['tools'], undefined)
  t.is(server.asked[2]?.body['include'], undefined)
})

test('models-53: openai: what was searched, opened and cited is told, and goes back verbatim behind the thought that led to it', async (t) => {
  for (const drip_bytes of [undefined, 1, 7]) {
    const { server, ask } = await converse(t, drip_bytes === undefined ? searched : { ...searched, drip_bytes })
    const { parts, done } = await ask({ ...requestOf([userText('x')], { model: 'gpt-5.4' }), web_search: true })
    t.is(done?.outcome, 'stop')
    // usage-15: a page that is opened is no search.
    t.is(done?.usage?.searches, 1)
    t.like(parts[1], {
      type: 'search',
      queries: ['weather', 'rain'],
      pages: [{ url: 'https://a.example/1', title: '' }],
    })
    t.like(parts[2], { type: 'search', queries: [], pages: [{ url: 'https://b.example/2', title: '' }] })
    t.like(parts[3], { type: 'text', text: 'It rains.', cites: [{ url: 'https://a.example/1', title: 'One' }] })
    const messages: ModelMessage[] = [userText('x'), { role: 'assistant', content: [...parts] }, userText('and then?')]
    await ask(requestOf(messages, { model: 'gpt-5.4' }))
    const input = listOf(server.asked[1], 'input')
    t.deepEqual(
      input.map(({ type }) => type),
      ['message', 'reasoning', 'web_search_call', 'web_search_call', 'message', 'message'],
    )
    t.deepEqual(input[2], { id: 'ws_1', type: 'web_search_call', status: 'completed', action })
    // Without the thought that led to it a search is refused.
    await ask(requestOf(messages, { model: 'gpt-4.1' }))
    t.deepEqual(
      listOf(server.asked[2], 'input').map(({ type }) => type),
      ['message', 'message', 'message'],
    )
  }
})

test('models-53: openai: a search that failed says so, and one of a model that does not think goes back alone', async (t) => {
  const failing = searchItem(0, { type: 'search', query: 'q' }).replaceAll('"completed"', '"failed"')
  const { server, ask } = await converse(t, answeringIn(failing, citedItem(1, 'Nothing.')))
  const { parts } = await ask()
  t.like(parts[0], { type: 'search', queries: ['q'], pages: [], failed: 'failed' })
  t.is('cites' in (parts[1] ?? {}), false)
  await ask(requestOf([userText('x'), { role: 'assistant', content: [...parts] }, userText('y')], { model: 'gpt-4.1' }))
  t.deepEqual(
    listOf(server.asked[1], 'input').map(({ type }) => type),
    ['message', 'web_search_call', 'message', 'message'],
  )
})
