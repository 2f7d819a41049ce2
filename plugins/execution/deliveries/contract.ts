/** Outputs on their way to reply targets. Rules: docs/rules/deliveries.md. */
import {
  answerOf,
  array,
  asItIs,
  definePoint,
  defineToken,
  doc,
  enums,
  hasMembers,
  integer,
  named,
  object,
  optional,
  refusing,
  outboundFate,
  string,
  taken,
  timestamp,
  withAnswers,
  type Infer,
  type JsonObject,
  type OutboundCode,
  type Point,
  type Token,
  type Tx,
} from '../../../core/plugin.js'
import type { AttachmentRef, OutputPart } from '../../media/assets/contract.js'
import type { KeepTarget, TargetKeeper } from './carry-over.js'
import type { ReplyHandle, ReplyTargetRequest } from './reply-targets.js'

/** Carries older records over. */
export { begunBeside, carryOverRecords, keptHandles, type OnceWork } from './carry-over.js'
/** What seals targets, and who keeps them. */
export type { KeepTarget, TargetKeeper } from './carry-over.js'
/** Where outputs go: as it is stored, and as it is asked for. */
export { mostAddress, ReplyHandle, ReplyTargetRequest } from './reply-targets.js'
/** Problems of reply targets and deliveries, for routes of other plugins. */
export { deliveryErrors } from './errors.js'

/** The states of a delivery (deliveries-2). */
export const deliveryStatuses = ['pending', 'retrying', 'delivered', 'dead_lettered'] as const

/** A delivery as it is shown: never an address, a payload or its metadata (deliveries-1). */
export const DeliveryView = named(
  'DeliveryView',
  object({
    delivery_id: doc(string(), 'Id of the delivery.'),
    status: enums(deliveryStatuses),
    session_id: doc(string(), 'Id of the session.'),
    thread_id: optional(doc(string(), 'Id of the thread of the conversation.')),
    run_id: optional(doc(string(), 'Absent for what the daemon itself says.')),
    plugin: string(),
    target: doc(string(), 'Plugin and digest of the address; equal for deliveries to the same place.'),
    attempts: doc(integer({ min: 0 }), 'Attempts that began.'),
    next_attempt_at_ms: optional(doc(timestamp(), 'Not before this time; absent when no more is attempted.')),
    delivered_at_ms: optional(timestamp()),
    dead_lettered_at_ms: optional(timestamp()),
    dead_letter_resolved_at_ms: optional(timestamp()),
    dead_letter_resolution_reason: optional(doc(string(), 'Why the dead letter is settled.')),
    last_error: optional(doc(string(), 'Code of the last attempt that failed.')),
    terminal_error: optional(doc(string(), 'Code of the reason why no more is attempted.')),
    replayed_from_delivery_id: optional(doc(string(), 'Id of the dead letter that it sends again.')),
    content_size_bytes: doc(integer({ min: 0 }), 'Size of the content in bytes.'),
    parts_count: doc(integer({ min: 0 }), 'Number of parts.'),
    artifacts_count: doc(integer({ min: 0 }), 'Number of artifacts.'),
  }),
)
/** The value form of `DeliveryView`. */
export type DeliveryView = Infer<typeof DeliveryView>

/** One output and where it goes. */
export interface OutboxItem {
  readonly session_id: string
  /** The thread of the session at the provider, if it has one. */
  readonly thread_id?: string
  /** The agent of the session: its id is chance, so that the ids of deliveries of two roots differ. */
  readonly agent_id: string
  /** Absent for what the daemon itself says, such as a notice to the operator. */
  readonly run_id?: string
  /**
   * Journal sequence of the output: with session and target it names the delivery, so that a repetition makes no second
   * one.
   */
  readonly output: number
  readonly content: string
  readonly parts?: readonly OutputPart[]
  readonly artifacts?: readonly AttachmentRef[]
  readonly targets: readonly ReplyHandle[]
}

/** Everyone who keeps reply targets. */
export const TargetKeepers: Point<TargetKeeper> = withAnswers(
  definePoint<TargetKeeper>(
    'target-keepers@1',
    ({ id }) => id,
    hasMembers('a keeper of reply targets', { id: 'id', carryOver: 'function' }),
  ),
  {
    carryOver: asItIs,
    // A connector under which something may still send is not deleted.
    naming: answerOf(array(string()), [], {
      named: (plugin) => [`something that the plugin ${plugin} cannot name`],
    }),
  },
)

/** The deliveries of this daemon. */
export interface Outbox {
  /** Adds one delivery for each target to a commit. */
  enqueue(tx: Tx, item: OutboxItem): void
  /**
   * Requested targets as handles: each checked by its reply plugin, repetitions left out, order kept.
   * Throws `reply_target_invalid` (400) for an unknown plugin and for an address that its plugin refuses, and
   * `secrets_key_unusable` for one that cannot be sealed. `path` is where the request names them, such as
   * `body.reply_targets`.
   */
  normalize(targets: readonly (ReplyTargetRequest | ReplyHandle)[], path: string): ReplyHandle[]
  /** A target as it may be stored: as it is, or as a handle whose secrets are sealed. Throws `secrets_key_unusable`. */
  readonly keep: KeepTarget
  /** A delivery that has neither arrived nor been given up, with its files; undefined for every other. */
  findOpen(delivery_id: string): OpenOutput | undefined
  /** True of a delivery that is attempted now or later. */
  isOpen(delivery_id: string): boolean
  /** The deliveries of a run. */
  ofRun(run_id: string): RunDeliveries
}
/** Hears of deliveries. */
export interface DeliveryObserver {
  readonly id: string
  /**
   * Called with deliveries that have arrived or are no longer attempted, all of one commit in that commit. Must be done
   * when it returns.
   */
  settled(tx: Tx, deliveries: readonly DeliveryView[]): void
}
/** Everyone who hears of deliveries. */
export const DeliveryObservers: Point<DeliveryObserver> = definePoint<DeliveryObserver>(
  'delivery-observers@1',
  ({ id }) => id,
  hasMembers('an observer of deliveries', { id: 'id', settled: 'function' }),
)
/** An output on its way. */
export interface OpenOutput extends ReplyHandle {
  /** Of its parts and artifacts, each once. */
  readonly files: readonly AttachmentRef[]
}
/** What became of the outputs of a run. */
export interface RunDeliveries {
  /** Oldest first, at most a hundred. */
  readonly views: readonly DeliveryView[]
  /** The first target of each output, by its sequence in the journal. */
  readonly targets: ReadonlyMap<number, ReplyHandle>
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
  readonly parts: readonly OutputPart[]
  /** Files that go with it; one of `parts` may be among them. */
  readonly artifacts: readonly AttachmentRef[]
  readonly metadata: JsonObject
}
/**
 * How an attempt ended. `code` is stable and safe to show: of letters, digits, dots, colons, underscores and hyphens;
 * it never holds an address or a secret. `retry_after_ms` is not negative. `uncertain` if the target may have received
 * it all the same. Each member is asked for once.
 */
export type DeliveryOutcome =
  | { readonly type: 'delivered' }
  | { readonly type: 'retry'; readonly code: string; readonly retry_after_ms?: number; readonly uncertain?: boolean }
  | { readonly type: 'terminal'; readonly code: string; readonly uncertain?: boolean }

/** What a request without an answer means for an attempt: what a repetition would not mend is terminal. */
export const failedRequest = (code: OutboundCode): Exclude<DeliveryOutcome, { type: 'delivered' }> => {
  const fate = outboundFate(code)
  if (fate === 'refused') return { type: 'terminal', code }
  return { type: 'retry', code, ...(fate === 'uncertain' && { uncertain: true }) }
}

/** One way in which outputs leave the daemon. */
export interface ReplyPlugin {
  /** The `plugin` of a reply handle. */
  readonly plugin: string
  /** The stored form of a requested target, or undefined if it belongs to another plugin. */
  address(request: ReplyTargetRequest): string | undefined
  /** Why an address cannot work, in words that can follow the name of a field; undefined if it can. Must do no I/O. */
  refuse(address: string): string | undefined
  /**
   * The form in which an address that can work is stored: what is secret in it is sealed. Equal targets have equal
   * forms; one that has it already is given back. Throws `secrets_key_unusable`. Absent: addresses hold no secrets.
   */
  keep?(address: string): string
  /** A name of the target that may be shown: no credential, path or chat id. */
  target(address: string): string
  /**
   * Delivers once. Must not throw and must end soon after the signal aborts. May be called again with the same
   * `delivery_id`.
   */
  deliver(envelope: Envelope, signal: AbortSignal): Promise<DeliveryOutcome>
}
/** Every reply plugin, by the name in its handles. */
export const ReplyPlugins: Point<ReplyPlugin> = withAnswers(
  definePoint<ReplyPlugin>(
    'reply-plugins@1',
    (reply) => reply.plugin,
    hasMembers('a reply plugin', {
      plugin: 'id',
      address: 'function',
      refuse: 'function',
      target: 'function',
      deliver: 'function',
    }),
  ),
  {
    address: answerOf(string(), undefined),
    refuse: answerOf(string(), 'cannot be judged by its plugin', { nothing: undefined }),
    keep: refusing((kept) => taken(string(), kept)),
    target: answerOf(string(), 'unknown'),
    deliver: asItIs,
  },
)
