import { wellFormedJson } from '../../../core/plugin.js'
import type { Protocol } from '../streamed/contract.js'
import { createAnswer } from './answer.js'
import { createRequestBodies } from './request-body.js'

export const baseUrl = 'https://generativelanguage.googleapis.com/v1beta'

/** The Gemini protocol. `newId` names calls of which the server gives no id. */
export const gemini = (newId: () => string): Protocol => ({
  provider: 'google',
  base_url: baseUrl,
  path: ({ model }) => `/${resource(model)}:streamGenerateContent?alt=sse`,
  headers: (api_key) => (api_key === undefined ? [] : ['x-goog-api-key', api_key]),
  bodies: () => createRequestBodies(),
  answer: (asked, { generation }) =>
    createAnswer(asked, { newId, onlyOneCall: generation.allow_parallel_tool_calls === false }),
})

/** A model may be named with its collection, as the vendor lists it. */
export const resource = (model: string): string => {
  const [, collection = 'models', name = model] = /^(models|tunedModels)\/(.+)$/su.exec(model) ?? []
  return `${collection}/${encodeURIComponent(wellFormedJson(name))}`
}
