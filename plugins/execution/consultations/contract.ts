/** One question to a model outside of runs. Rules: docs/rules/models.md. */
import { defineToken, type Token } from '../../../core/plugin.js'
import type { GenerationSettings, Usage } from '../models/contract.js'

/** What is asked, and on whose behalf. */
export interface Consultation {
  /** Whose routes, credential scope and budget count; without one it is the daemon's own matter. */
  readonly session_id?: string | undefined
  readonly run_id?: string | undefined
  /** The route of the session or the default one when absent. */
  readonly route_id?: string | undefined
  /** As a run names them; what is absent is left to the provider, the model to the route. */
  readonly generation?: GenerationSettings | undefined
  readonly system: string
  /** The parts of one message, in order. */
  readonly texts: readonly string[]
  /** Characters of an answer at most: a longer one is cut off and none. */
  readonly most: number
  /** True if whoever asks books what was used, in a commit of its own. */
  readonly unbooked?: true
}

/** The text of an answer, or a code and a short sentence without secrets; and what it used, where its provider told. */
export type Consulted =
  | { readonly type: 'text'; readonly text: string; readonly usage?: Usage | undefined }
  | { readonly type: 'failed'; readonly code: string; readonly message: string; readonly usage?: Usage | undefined }

/** Asks models once, without tools: no run, no journal, and no interceptor is asked about it. */
export interface Consultations {
  /** Never rejects. Ends soon after the signal aborts; what was used until then is booked. */
  ask(consultation: Consultation, signal: AbortSignal): Promise<Consulted>
  /** Ids of the routes that may be named. */
  routes(): readonly string[]
}
/** Asks models outside of runs. */
export const Consultations: Token<Consultations> = defineToken<Consultations>('consultations@1')
