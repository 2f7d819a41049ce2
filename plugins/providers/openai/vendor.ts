/** Who speaks the responses protocol, and what differs from one to the other. */
import { digest } from '../../../core/plugin.js'
import type { ModelMessage, ModelRequest } from '../../execution/models/contract.js'
import { grok, thinks } from './models.js'

export interface Vendor {
  /** Wire name of the provider; what it gave goes back under this name, and to no other. */
  readonly provider: 'openai' | 'xai'
  readonly base_url: string
  /** Whether a model takes and gives thoughts; a request that speaks of them is refused by others. */
  thinks(model: string): boolean
  /** True if its server has to be asked for the pages that a search found. */
  readonly asksForPages: boolean
  /** What a request says beside what all say. */
  own(request: ModelRequest): object
  /** What stands before the conversation. */
  before(request: ModelRequest): object[]
}

export const openAi: Vendor = {
  provider: 'openai',
  base_url: 'https://api.openai.com/v1',
  thinks,
  asksForPages: true,
  own: ({ system }) => (system === '' ? {} : { instructions: system }),
  before: () => [],
}

/** The same for all calls of a conversation. */
const nameOf = ({ content }: ModelMessage): string =>
  digest(content.map((part) => ('text' in part ? part.text.slice(0, 1000) : part.type))).slice(0, 32)

export const xAi: Vendor = {
  provider: 'xai',
  base_url: 'https://api.x.ai/v1',
  thinks: grok.thinks,
  asksForPages: false,
  // Its servers find what they keep of a conversation by this.
  own: ({ messages: [first] }) => (first === undefined ? {} : { prompt_cache_key: nameOf(first) }),
  before: ({ system }) => (system === '' ? [] : [{ type: 'message', role: 'system', content: system }]),
}
