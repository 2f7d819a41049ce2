/** What a server of the messages protocol streams. */
import type { JsonObject } from '../../core/plugin.js'
import { stream, type Chunk, type StreamReply, type WireCall } from './openai-server.js'

/** One event, as Anthropic writes it. */
export const event = (type: string, more: JsonObject = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`

export const messageStart = (usage: JsonObject = { input_tokens: 12, output_tokens: 1 }): string =>
  event('message_start', {
    message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'm', stop_reason: null, usage },
  })

/** One block: what it begins with, and its deltas. */
export const block = (index: number, content_block: JsonObject, ...deltas: JsonObject[]): string =>
  event('content_block_start', { index, content_block }) +
  deltas.map((delta) => event('content_block_delta', { index, delta })).join('') +
  event('content_block_stop', { index })

export const textBlock = (index: number, ...words: string[]): string =>
  block(index, { type: 'text', text: '' }, ...words.map((text) => ({ type: 'text_delta', text })))

export const thinkingBlock = (index: number, thinking: string, signature: string): string =>
  block(
    index,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature },
  )

/** The input comes in two pieces, as it does in most cases. */
export const callBlock = (index: number, { id, name, input }: WireCall): string => {
  const half = Math.ceil(input.length / 2)
  return block(
    index,
    { type: 'tool_use', id, name, input: {} },
    { type: 'input_json_delta', partial_json: '' },
    { type: 'input_json_delta', partial_json: input.slice(0, half) },
    { type: 'input_json_delta', partial_json: input.slice(half) },
  )
}

export const messageEnd = (stop_reason: string, usage: JsonObject = { output_tokens: 5 }): string =>
  event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage }) + event('message_stop')

/** A whole answer with these blocks. */
export const answering = (stop_reason: string, ...blocks: Chunk[]): StreamReply =>
  stream(messageStart(), event('ping'), ...blocks, messageEnd(stop_reason))

export const sayingAs = (...words: string[]): StreamReply => answering('end_turn', textBlock(0, ...words))

export const callingAs = (...calls: WireCall[]): StreamReply =>
  answering('tool_use', ...calls.map((call, index) => callBlock(index, call)))

export interface WireSearch {
  readonly id: string
  readonly query: string
  readonly pages: readonly { readonly url: string; readonly title: string }[]
}

/** What stands in the results of a search for each page. */
const result = ({ url, title }: WireSearch['pages'][number]): JsonObject => ({
  type: 'web_search_result',
  url,
  title,
  encrypted_content: `ZW5j${title}`,
  page_age: null,
})

/** A search that the server makes: what it asks, and what it found. Two blocks. */
export const searchBlocks = (index: number, { id, query, pages }: WireSearch): string => {
  const input = JSON.stringify({ query })
  return (
    block(
      index,
      { type: 'server_tool_use', id, name: 'web_search', input: {} },
      { type: 'input_json_delta', partial_json: input.slice(0, 4) },
      { type: 'input_json_delta', partial_json: input.slice(4) },
    ) + block(index + 1, { type: 'web_search_tool_result', tool_use_id: id, content: pages.map(result) })
  )
}

export const citation = (url: string, title: string): JsonObject => ({
  type: 'web_search_result_location',
  url,
  title,
  encrypted_index: `aW5k${title}`,
  cited_text: 'as it stands there',
})

export const citedBlock = (index: number, text: string, ...citations: JsonObject[]): string =>
  block(
    index,
    { type: 'text', text: '', citations: [] },
    { type: 'text_delta', text },
    ...citations.map((one) => ({ type: 'citations_delta', citation: one })),
  )
