/** Searches of the web that servers of models make, as they stand in a conversation. */
import type { JsonObject } from '../../../../core/plugin.js'

/** A page of the web. The title may be empty. */
export type WebPage = { url: string; title: string }
/**
 * A search that the server of the model made while it answered (models-53), or what it found, as its provider tells of
 * both; sent back verbatim, and to no other provider. `failed`: a code of the server.
 */
export type SearchPart = {
  type: 'search'
  queries: string[]
  pages: WebPage[]
  failed?: string
  metadata?: JsonObject
}
