/**
 * The contract between providers whose model servers stream answers over HTTP and the plugin that calls these: the
 * provider knows the protocol, the plugin everything else. Rules: docs/rules/models.md.
 */
import {
  defineToken,
  type Outbound,
  type OutboundAnswer,
  type OutboundRequest,
  type Token,
} from '../../../core/plugin.js'
import type { ConnectionOptions, ModelConnection, ModelRequest } from '../../execution/models/contract.js'
import type { Answer } from './answer.js'
import type { Asked } from './failure.js'

/** How a family of servers is spoken to. */
export interface Protocol {
  /** Wire name of the provider, for what is said of it. */
  readonly provider: string
  /** Where its servers are when nobody says; absent if somebody must. */
  readonly base_url?: string
  /** Behind the base URL, such as `/chat/completions`; a query may follow. Must be of characters that a URL has. */
  path(request: ModelRequest): string
  /** Names and values in turns, beside those of every call. */
  headers(api_key: string | undefined): readonly string[]
  /** Makes the bodies of the calls of one connection. */
  bodies(address: URL): (request: ModelRequest) => Buffer
  /** Begins the answer of one call. */
  answer(asked: Asked, request: ModelRequest): Answer
}

/** Calls model servers: no retry, no redirect, every bound on what comes back kept (models-15 to models-28). */
export interface StreamedModels {
  /** Does no I/O. Throws a Problem for options that cannot work. */
  connect(options: ConnectionOptions, protocol: Protocol): ModelConnection
  /**
   * Asks a server of models that answers as a whole, by this client. It is on cassettes as calls are: while one is
   * played it opens no socket, and rejects with a Problem where the request is not the recorded one. A body must be
   * JSON or `multipart/form-data`, with its `content-type`.
   */
  once(outbound: Pick<Outbound, 'request'>, request: OutboundRequest): Promise<OutboundAnswer>
}
export const StreamedModels: Token<StreamedModels> = defineToken<StreamedModels>('streamed-models@1')

/** Collects what a server streams. */
export type { Answer } from './answer.js'
/** What was asked, as far as failures tell of it. */
export type { Asked } from './failure.js'
/** Failures in our words, what a server refused, and what it put into its stream instead of an answer in its own. */
export { failures, refused, told } from './failure.js'
/** Reads values that others made. */
export { isLink } from './link.js'
/** A value of which nothing is known. */
export type { Link } from './link.js'
/** A server's numbers, which may be anything, and the usage that they tell. */
export { countIn, usageIn, usageOf, searchesIn } from './counted.js'
/** What goes to servers of every protocol in the same way: ids of calls, inputs, results, what was left beside them. */
export { dataUrl, kept, keptSignature, objectInput, resultText, wireId } from './wire.js'
/** The JSON of one event of a stream, within bounds. */
export { readEvent } from './event-json.js'
/** The input of a tool call, of the text that the model wrote. */
export { toolInput } from './tool-input.js'
/** The JSON of conversations, kept from one call to the next. */
export { createConversationBytes } from './conversation-bytes.js'
export { isStrictSchema } from './strict-schema.js'
/** What became visible of an answer, neighbours of one kind joined. */
export { extend } from './fresh-deltas.js'
/** What every protocol keeps of an answer while it comes, and what all do with it. */
export {
  beginGathering,
  eventAnswer,
  finishWith,
  isLastEvent,
  isWhole,
  offProtocol,
  refuse,
  stateOf,
} from './gathered.js'
/** Its shape. */
export type { Gathered } from './gathered.js'
/** Values of it. */
export type { Delta, Said } from './fresh-deltas.js'
/** What an answer is, now that nothing follows; an answer without a real end never counts. */
export { endingOf } from './ending.js'
/** Why a model stopped. */
export type { Finish } from './ending.js'
