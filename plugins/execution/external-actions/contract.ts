/**
 * The ledger of what the daemon did outside: every tool call that acts, every delivery, every hook. Rules:
 * docs/rules/external-actions.md.
 */
import {
  definePoint,
  defineToken,
  hasMembers,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Point,
  type Token,
  type Tx,
} from '../../../core/plugin.js'

/** Acts of a plugin that no run does. */
export { declareOpenCalls } from './session-calls.js'
/** Its shapes. */
export type { OpenCall, OpenCalls } from './session-calls.js'

/** What kind of thing acted. */
export const actionKinds = ['tool', 'delivery', 'hook'] as const
/** One of `actionKinds`. */
export type ActionKind = (typeof actionKinds)[number]
/** How an attempt ended; `unknown` if nobody can tell. */
export const actionOutcomes = ['done', 'failed', 'unknown'] as const

/**
 * What let something act: an approval by its request, a grant by its id, a permission rule by its pattern, a
 * permission mode by its effect, or the daemon's own configuration.
 */
export type ActionGrounds = { type: 'approval' | 'grant' | 'rule' | 'mode' | 'configuration'; id: string }

/** What is about to be done. Recorded in a commit that is durable before it is done. */
export interface ActionIntent {
  /** Stable over restarts and attempts: a call's key, a delivery's id. */
  readonly action_id: string
  readonly kind: ActionKind
  readonly session_id: string
  /** The agent of the run; absent for what no run did. */
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
  readonly outcome: (typeof actionOutcomes)[number]
  readonly response_digest?: string
  /** Stable and safe to show. */
  readonly code?: string
}

/**
 * The ledger. Each entry carries the hash of the one before it in its session, so that an edit, a removal or a swap is
 * found by `holdfast state verify`.
 */
export interface ExternalActions {
  /**
   * Must be part of a commit that is durable before the attempts are made: what is not in the ledger is not done. What
   * begins together is entered together.
   */
  intend(tx: Tx, ...intents: readonly ActionIntent[]): void
  /** Must be part of the commit that records what came of the attempts. */
  conclude(tx: Tx, ...outcomes: readonly ActionOutcome[]): void
  /**
   * Concludes every tool call of a run that has no outcome as `unknown`: the run has ended, so none will come.
   * Listeners are told if it has unknown ones.
   */
  abandon(tx: Tx, run_id: string, code: string): void
  /** Runs with an action whose outcome is unknown and that nobody has acknowledged, in order of submission. */
  unknown(): readonly string[]
  /** What a run did, oldest first: one row for each action, with its latest attempt and what came of that. */
  of(run_id: string): ExternalActionView[]
  /** Enters that somebody has looked at the unknown actions of a run; they are no longer counted. */
  acknowledge(tx: Tx, acknowledgement: ActionAcknowledgement): void
}
/** Somebody has looked what came of the actions of a run whose outcome is unknown. */
export interface ActionAcknowledgement {
  readonly run_id: string
  /** The role of who did. */
  readonly by: string
  readonly note: string | undefined
}
/** The ledger of effects. */
export const ExternalActions: Token<ExternalActions> = defineToken<ExternalActions>('external-actions@1')

/** One row of `GET /v1/runs/{run_id}/external-actions`: an action with its latest attempt. */
export const ExternalActionView = named(
  'ExternalActionView',
  object({
    action_id: doc(string(), 'The same for every attempt, over restarts.'),
    timestamp_ms: doc(timestamp(), 'When the first attempt was recorded, before it was made.'),
    session_id: doc(string(), 'Id of the session.'),
    agent_id: optional(doc(string(), 'Id of the agent.')),
    run_id: optional(doc(string(), 'Id of the run.')),
    tool_call_id: optional(doc(string(), 'Id of the tool call.')),
    kind: enums(actionKinds),
    target: doc(string(), 'The name of the tool, or a redacted name of where a delivery goes.'),
    request_digest: doc(string(), 'SHA-256 of what was sent: of a tool call, of the canonical JSON of its input.'),
    response_digest: doc(optional(string()), 'SHA-256 of what came back.'),
    outcome: doc(
      enums([...actionOutcomes, 'pending']),
      '`unknown`: the daemon ended between the attempt and its outcome, so nobody can tell. `pending`: no outcome yet.',
    ),
    attempts: doc(integer({ min: 1 }), 'Attempts made so far.'),
    approved_by: object({
      type: enums(['approval', 'grant', 'rule', 'mode', 'configuration']),
      id: doc(string(), 'The approval request, the grant, the pattern of the rule, the effect of the mode.'),
    }),
    code: doc(optional(string()), 'Why it failed.'),
    concluded_at_ms: optional(timestamp()),
    acknowledged_at_ms: doc(optional(timestamp()), 'When somebody said to have looked at an unknown outcome.'),
    acknowledged_by: doc(optional(string()), 'The role of who did.'),
    acknowledgement: doc(optional(string()), 'What they noted.'),
    sequence: doc(integer({ min: 1 }), 'Number of its latest entry in the ledger of its session.'),
    hash: doc(string(), 'Hash of that entry. It covers the entry and the hash of the one before it.'),
  }),
)
/** The value form of `ExternalActionView`. */
export type ExternalActionView = Infer<typeof ExternalActionView>

/** An entry about an action of a run, as those who watch may see it. */
export interface EnteredAction extends Pick<ActionIntent, 'session_id' | 'kind' | 'target' | 'tool_call_id'> {
  readonly run_id: string
  readonly phase: 'intent' | 'outcome'
  readonly request_digest?: string
  readonly response_digest?: string
  readonly outcome?: ActionOutcome['outcome']
}
/** Looks at what is entered. */
export interface ActionListener {
  readonly id: string
  /** Called in the commit of an entry about an action of a run. Must be done when it returns. */
  entered(tx: Tx, action: EnteredAction): void
  /**
   * Called in the commit from which on a run has actions with an unknown outcome that nobody has acknowledged, or has
   * none any more, and again when a run ends that has some. The run may have fallen. Must be done when it returns.
   */
  unknown?(tx: Tx, run_id: string, isUnknown: boolean): void
}
/** Everything that looks at what is entered. */
export const ActionListeners: Point<ActionListener> = definePoint<ActionListener>(
  'action-listeners@1',
  (listener) => listener.id,
  hasMembers('a listener of the ledger', { id: 'id', entered: 'function' }),
)
