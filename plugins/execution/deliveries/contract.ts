/** Outputs on their way to reply targets. Contract 1, "Output deliveries"; reference 1, 6.14; reference 2, 1.10. */
import { definePoint, defineToken } from '../../../core/plugin.js'
import type { Json, JsonObject, Point, Token, Tx } from '../../../core/plugin.js'
import type { ReplyHandle, ReplyTargetRequest } from '../sessions/contract.js'

/** Problems of reply targets and deliveries, for routes of other plugins. */
export { deliveryErrors } from './errors.js'

/** One output and where it goes. */
export interface OutboxItem {
  readonly session_id: string
  /** Absent for what the daemon itself says, such as a notice to the operator. */
  readonly run_id?: string
  /** Journal sequence of the output: with session and target it names the delivery, so that a repetition makes no second one. */
  readonly output: number
  readonly content: string
  readonly parts?: readonly Json[]
  readonly targets: readonly ReplyHandle[]
}

/** The deliveries of this daemon. */
export interface Outbox {
  /** Adds one delivery for each target to a commit. */
  enqueue(tx: Tx, item: OutboxItem): void
  /**
   * Requested targets as handles: each checked by its reply plugin, repetitions left out, order kept.
   * Throws `reply_target_invalid` (400) for an unknown plugin and for an address that its plugin refuses. `path` is where the request names them, such as `body.reply_targets`.
   */
  normalize(targets: readonly (ReplyTargetRequest | ReplyHandle)[], path: string): ReplyHandle[]
}
/** The deliveries of this daemon. */
export const Outbox: Token<Outbox> = defineToken<Outbox>('outbox@1')

/** What a reply plugin gets to deliver. `metadata` holds `delivery_id` and `delivery_attempt`. */
export interface Envelope {
  readonly delivery_id: string
  /** 1 for the first. */
  readonly attempt: number
  readonly session_id: string
  readonly thread_id: string | null
  readonly run_id?: string
  readonly address: string
  readonly content: string
  readonly parts: readonly Json[]
  readonly metadata: JsonObject
}
/** How an attempt ended. `code` is stable and safe to show; it never holds an address. */
export type DeliveryOutcome =
  | { readonly type: 'delivered' }
  | { readonly type: 'retry'; readonly code: string; readonly retry_after_ms?: number }
  | { readonly type: 'terminal'; readonly code: string }

/** One way in which outputs leave the daemon. */
export interface ReplyPlugin {
  /** The `plugin` of a reply handle. */
  readonly plugin: string
  /** The stored form of a requested target, or undefined if it belongs to another plugin. */
  address(request: ReplyTargetRequest): string | undefined
  /** Why an address cannot work, in words that can follow the name of a field; undefined if it can. Must do no I/O. */
  refuse(address: string): string | undefined
  /** A name of the target that may be shown: no credential, path or chat id. */
  target(address: string): string
  /** Delivers once. Must not throw and must end soon after the signal aborts. May be called again with the same `delivery_id`. */
  deliver(envelope: Envelope, signal: AbortSignal): Promise<DeliveryOutcome>
}
/** Every reply plugin, by the name in its handles. */
export const ReplyPlugins: Point<ReplyPlugin> = definePoint<ReplyPlugin>('reply-plugins@1', (reply) => reply.plugin)
