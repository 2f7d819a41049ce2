/** One question to a model outside of runs. Rules: docs/rules/models.md. */
import {
  definePoint,
  defineToken,
  hasMembers,
  type Json,
  type JsonObject,
  type Point,
  type Token,
} from '../../../core/plugin.js'
import type { GenerationSettings, Usage } from '../models/contract.js'

/** What is asked, and on whose behalf. */
export interface Consultation {
  /** What for, in a word of the code such as `hook`: usage is told by it. Lower case and `_`, never text of others. */
  readonly purpose: string
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
  /** JSON Schema of the answer: one that does not fit is asked for again, twice at most. */
  readonly schema?: JsonObject | undefined
  /** All of it, milliseconds; without one it takes as long as the provider does. */
  readonly timeout_ms?: number | undefined
  /** Characters of an answer at most: a longer one is cut off and none. */
  readonly most: number
  /** True if whoever asks books what was used, in a commit of its own. */
  readonly unbooked?: true
}

/**
 * The text of an answer, its value where a schema was given, or a code and a short sentence without secrets; and what
 * all its calls used, where their provider told. `asked`: a model was asked, so that there is a call to book.
 */
export type Consulted =
  | { readonly type: 'text'; readonly text: string; readonly value?: Json; readonly usage?: Usage | undefined }
  | {
      readonly type: 'failed'
      readonly code: string
      readonly message: string
      readonly asked?: true
      readonly usage?: Usage | undefined
    }

/** Asks models once, without tools: no run, no journal, and no interceptor is asked about it. */
export interface Consultations {
  /** Never rejects. Ends soon after the signal aborts; what was used until then is booked. */
  ask(consultation: Consultation, signal: AbortSignal): Promise<Consulted>
  /** Ids of the routes that may be named. */
  routes(): readonly string[]
}
/** Asks models outside of runs. */
export const Consultations: Token<Consultations> = defineToken<Consultations>('consultations@1')

/** One call of a consultation, as it was. Times in Unix ms and ms. */
export interface ConsultedCall {
  readonly purpose: string
  readonly session_id?: string | undefined
  readonly run_id?: string | undefined
  readonly route_id: string
  readonly model: string
  readonly started_at_ms: number
  readonly duration_ms: number
  readonly outcome: 'answered' | 'failed'
  readonly code?: string
  readonly usage?: Usage | undefined
}
/** Looks at consultations. */
export interface ConsultationObserver {
  readonly name: string
  /** Called when a call has ended. Must not throw and must not wait. */
  observe(call: ConsultedCall): void
}
/** Everybody who looks at consultations; one that throws takes nothing from the others. */
export const ConsultationObservers: Point<ConsultationObserver> = definePoint<ConsultationObserver>(
  'consultation-observers@1',
  (observer) => observer.name,
  hasMembers('an observer of consultations', { name: 'id', observe: 'function' }),
)
