/** What a server of the Gemini protocol streams. */
import { isJsonObject, type JsonObject } from '../../core/plugin.js'
import { stream, type StreamReply, type WireCall } from './openai-server.js'

export const counts = (more: JsonObject = {}): JsonObject => ({ promptTokenCount: 12, totalTokenCount: 12, ...more })

/** One event with these parts of the answer, as Google writes it. */
export const content = (...parts: JsonObject[]): JsonObject => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0 }],
  usageMetadata: counts(),
  modelVersion: 'test-model',
  responseId: 'r1',
})

/** A search of the server and its result, each signed, as they come beside functions. */
export const searchParts = (id: string, ...queries: string[]): JsonObject[] => [
  { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args: { queries }, id }, thoughtSignature: `YXNr${id}` },
  {
    toolResponse: { toolType: 'GOOGLE_SEARCH_WEB', response: { search_suggestions: '<div></div>' }, id },
    thoughtSignature: `Zm91${id}`,
  },
]

/** What is said of searches: their queries, the pages, and which of these the text rests on. */
export const grounded = (
  event: JsonObject,
  webSearchQueries: string[],
  pages: readonly (readonly [uri: string, title: string])[],
  supports: readonly number[] = [],
): JsonObject => {
  const [candidate] = Array.isArray(event['candidates']) ? event['candidates'] : []
  const groundingMetadata = {
    webSearchQueries,
    searchEntryPoint: { renderedContent: '<div></div>' },
    groundingChunks: pages.map(([uri, title]) => ({ web: { uri, title } })),
    groundingSupports: supports.map((at) => ({ segment: { endIndex: 9 }, groundingChunkIndices: [at] })),
  }
  return { ...event, candidates: [{ ...(isJsonObject(candidate) && candidate), groundingMetadata }] }
}

/** The last event, which may have parts too. */
export const ending = (
  finishReason: string,
  parts: JsonObject[] = [],
  usageMetadata: JsonObject = counts({ candidatesTokenCount: 5 }),
): JsonObject => ({
  candidates: [{ content: { parts, role: 'model' }, finishReason, index: 0 }],
  usageMetadata,
  modelVersion: 'test-model',
  responseId: 'r1',
})

export const sayingGemini = (...words: string[]): StreamReply =>
  stream(...words.slice(0, -1).map((text) => content({ text })), ending('STOP', [{ text: words.at(-1) ?? '' }]))

export const callPart = ({ id, name, input }: WireCall): JsonObject => ({
  functionCall: { ...(id !== '' && { id }), name, args: JSON.parse(input) },
})

/** Calls come whole, the first one signed, and the end behind them. */
export const callingGemini = (...calls: WireCall[]): StreamReply =>
  stream(
    content(...calls.map((call, at) => ({ ...callPart(call), ...(at === 0 && { thoughtSignature: 'c2ln' }) }))),
    ending('STOP', [{ text: '' }]),
  )
