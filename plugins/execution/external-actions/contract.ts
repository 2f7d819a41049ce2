/** The ledger of what the daemon did outside: every tool call that acts, every delivery, every hook. Contract 1, `/external-actions`; reference 1, 6.10. */
import { defineToken } from '../../../core/plugin.js'
import type { Token, Tx } from '../../../core/plugin.js'

/** What kind of thing acted. */
export const actionKinds = ['tool', 'delivery', 'hook'] as const
/** One of `actionKinds`. */
export type ActionKind = (typeof actionKinds)[number]
/** What let it act: an approval by its request, a permission rule by its pattern, a permission mode by its effect, or the daemon's own configuration. */
export type ActionGrounds = { readonly type: 'approval' | 'rule' | 'mode' | 'configuration'; readonly id: string }

/** What is about to be done. Recorded in a commit that is durable before it is done. */
export interface ActionIntent {
  /** Stable over restarts and attempts: a call's key, a delivery's id. */
  readonly action_id: string
  readonly kind: ActionKind
  readonly session_id: string
  readonly agent_id?: string
  readonly run_id?: string
  readonly tool_call_id?: string
  /** A name of what is acted on that may be shown. */
  readonly target: string
  /** SHA-256 of what is sent or called, in hex. */
  readonly request_digest: string
  /** 1 for the first. */
  readonly attempt: number
  readonly approved_by: ActionGrounds
}
/** How an attempt ended; `unknown` if nobody can tell. */
export interface ActionOutcome {
  readonly action_id: string
  readonly session_id: string
  readonly attempt: number
  readonly outcome: 'done' | 'failed' | 'unknown'
  readonly response_digest?: string
  /** Stable and safe to show. */
  readonly code?: string
}

/** The ledger. Each entry carries the hash of the one before it in its session, so that an edit, a removal or a swap is found by `holdfast state verify`. */
export interface ExternalActions {
  intend(tx: Tx, intent: ActionIntent): void
  conclude(tx: Tx, outcome: ActionOutcome): void
}
/** The ledger of effects. */
export const ExternalActions: Token<ExternalActions> = defineToken<ExternalActions>('external-actions@1')
