/** What a server of the responses protocol streams. */
import type { JsonObject } from '../../core/plugin.js'
import { stream, type Chunk, type StreamReply, type WireCall } from './openai-server.js'

/** One event, as OpenAI writes it. */
export const event = (type: string, more: JsonObject = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 1, ...more })}\n\n`

const response = (status: string, more: JsonObject = {}): JsonObject => ({
  response: { id: 'resp_1', object: 'response', status, error: null, incomplete_details: null, ...more },
})

export const begun = (): string =>
  event('response.created', response('in_progress')) + event('response.in_progress', response('in_progress'))

/** One item: what it begins as, what adds to it, and what it is at its end. */
export const item = (output_index: number, first: JsonObject, last: JsonObject, ...deltas: string[]): string =>
  event('response.output_item.added', { output_index, item: { ...first, status: 'in_progress' } }) +
  deltas.join('') +
  event('response.output_item.done', { output_index, item: { ...first, ...last, status: 'completed' } })

/** A piece of an item. */
export const piece = (output_index: number, type: string, delta: string): string =>
  event(`response.${type}.delta`, { item_id: 'of_it', output_index, content_index: 0, delta })

const messageHead = (output_index: number): JsonObject => ({
  id: `msg_${output_index}`,
  type: 'message',
  role: 'assistant',
  content: [],
})

export const textItem = (output_index: number, ...words: string[]): string =>
  item(
    output_index,
    messageHead(output_index),
    { content: [{ type: 'output_text', text: words.join(''), annotations: [] }] },
    event('response.content_part.added', { output_index, content_index: 0, part: { type: 'output_text', text: '' } }),
    ...words.map((word) => piece(output_index, 'output_text', word)),
    event('response.output_text.done', { output_index, content_index: 0, text: words.join('') }),
  )

/** A thought with what is shown of it, paragraph by paragraph. */
export const thoughtItem = (output_index: number, encrypted_content: string, ...paragraphs: string[]): string =>
  item(
    output_index,
    { id: `rs_${output_index}`, type: 'reasoning', summary: [] },
    { encrypted_content, summary: paragraphs.map((text) => ({ type: 'summary_text', text })) },
    ...paragraphs.flatMap((text, summary_index) => [
      event('response.reasoning_summary_part.added', { output_index, summary_index, part: { type: 'summary_text' } }),
      piece(output_index, 'reasoning_summary_text', text.slice(0, 2)),
      piece(output_index, 'reasoning_summary_text', text.slice(2)),
      event('response.reasoning_summary_part.done', { output_index, summary_index }),
    ]),
  )

/** The input comes in two pieces, as it does in most cases. */
export const callItem = (output_index: number, { id, name, input }: WireCall): string => {
  const half = Math.ceil(input.length / 2)
  return item(
    output_index,
    { id: `fc_${output_index}`, type: 'function_call', call_id: id, name, arguments: '' },
    { arguments: input },
    piece(output_index, 'function_call_arguments', input.slice(0, half)),
    piece(output_index, 'function_call_arguments', input.slice(half)),
    event('response.function_call_arguments.done', { output_index, arguments: input }),
  )
}

export const usual: JsonObject = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 17,
}

/** `completed`, `incomplete` or `failed`. */
export const ended = (status: string, more: JsonObject = {}): string =>
  event(`response.${status}`, response(status, { usage: usual, ...more }))

/** A whole answer with these items. */
export const answeringIn = (...items: Chunk[]): StreamReply => stream(begun(), ...items, ended('completed'))

export const sayingIn = (...words: string[]): StreamReply => answeringIn(textItem(0, ...words))

export const callingIn = (...calls: WireCall[]): StreamReply =>
  answeringIn(...calls.map((call, index) => callItem(index, call)))

/** A search that the server makes. */
export const searchItem = (output_index: number, action: JsonObject): string =>
  item(
    output_index,
    { id: `ws_${output_index}`, type: 'web_search_call' },
    { action },
    event('response.web_search_call.searching', { output_index, item_id: `ws_${output_index}` }),
  )

export const citedItem = (output_index: number, text: string, ...annotations: JsonObject[]): string =>
  item(
    output_index,
    messageHead(output_index),
    { content: [{ type: 'output_text', text, annotations }] },
    piece(output_index, 'output_text', text),
    ...annotations.map((annotation) => event('response.output_text.annotation.added', { output_index, annotation })),
  )
