/** What a server of the Gemini protocol streams. */
import type { JsonObject } from '../../core/plugin.js'
import { stream, type StreamReply, type WireCall } from './openai-server.js'

export const counts = (more: JsonObject = {}): JsonObject => ({ promptTokenCount: 12, totalTokenCount: 12, ...more })

/** One event with these parts of the answer, as Google writes it. */
export const content = (...parts: JsonObject[]): JsonObject => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0 }],
  usageMetadata: counts(),
  modelVersion: 'test-model',
  responseId: 'r1',
})

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
