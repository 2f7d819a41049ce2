import type { JsonObject } from '../../../core/plugin.js'
import type { Protocol } from '../streamed/contract.js'
import { createAnswer } from './answer.js'
import { createRequestBodies } from './request-body.js'

/** A vendor whose servers speak the protocol; absent is anybody's own server. */
export interface Vendor {
  readonly provider: string
  readonly base_url: string
  /** The tool of its server that searches the web. */
  readonly search_tool?: JsonObject
}

/** The chat-completions protocol. `newId` names calls of which the server gives no id. */
export const chatCompletions = (newId: () => string, vendor?: Vendor): Protocol => ({
  provider: 'openai_compatible',
  ...vendor,
  path: () => '/chat/completions',
  headers: (api_key) => (api_key === undefined ? [] : ['authorization', `Bearer ${api_key}`]),
  // OpenAI's own newer models refuse `max_tokens`, which every other server knows.
  bodies: ({ hostname }) =>
    createRequestBodies(hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens', vendor?.search_tool),
  answer: (asked) => createAnswer(asked, newId),
})
