/** The journal of a session: what its entries are, and how the session itself adds to it. */
import { digest, type Json, type JsonObject, type Stream, type StreamSpec, type Tx } from '../../../../core/plugin.js'
import type { AttachmentRef, OutputPart } from '../../../media/assets/contract.js'
import type { ModelMessage, Usage } from '../../models/contract.js'
import type { Effect, PermissionAudit } from '../../tools/contract.js'
import type { DaemonOutputRecord } from './output.js'
import type { ApprovalRequest, ResolvedApproval, ResolvedQuestion, UserQuestionRequest } from './requests.js'
import { metadataOf, personaSummary } from '../settings/shown-settings.js'
import { settingKeys, type PersonaSnapshot, type SessionSettings, type SettingName } from '../settings/settings.js'

/** A change of a session itself: no soul of a persona and no address of a reply target. */
export type SessionNote =
  | { readonly change: 'ended' | 'interrupted' | 'opened'; readonly reason?: string }
  | { readonly change: 'set'; readonly key: string; readonly value: Json }
  | { readonly change: 'cleared'; readonly key: string }

/** An output as the journal keeps it. */
export type OutputDraft = {
  content: string
  parts?: OutputPart[]
  artifacts?: AttachmentRef[]
  source_kind: DaemonOutputRecord['source_kind']
}

/**
 * The persisted run event variants (runs-20). The projection that some carry is derived when they are read.
 */
export type RunEvent =
  | { type: 'accepted'; content: string; files?: AttachmentRef[]; metadata?: JsonObject; generation?: JsonObject }
  | { type: 'queued'; position: number }
  | { type: 'started' }
  | { type: 'waiting_for_approval'; request_ids: string[]; requests: ApprovalRequest[] }
  | { type: 'approval_resolved'; resolutions: ResolvedApproval[] }
  | { type: 'waiting_for_user_question'; request_ids: string[]; requests: UserQuestionRequest[] }
  | { type: 'user_question_resolved'; resolution: ResolvedQuestion }
  | {
      type: 'parent_clarification_resolved'
      requester_agent_id: string
      requester_session_id: string
      request_id: string
      declined: boolean
      resolution: ResolvedQuestion
    }
  | { type: 'output'; output: OutputDraft }
  | { type: 'completed' }
  | { type: 'failed'; error: string }
  | { type: 'interrupted'; error?: string }
  | { type: 'cancelled'; error?: string }

/** What a completion requirement names, as it was when its run began; without a state it was not there. */
export type CompletionMark = { path: string; state?: JsonObject }

/** What an interceptor made of a call, of a call's outcome or of the end of a run: it is never asked again. */
export type InterceptedNote = {
  /** The moment. */
  event: string
  by: string[]
  tool_call_id?: string
  blocked?: string
  permission?: 'allow' | 'deny' | 'ask'
  /** In place of the input that the model gave. */
  input?: Json
  /** True if the outcome of the call holds another output than that of the tool. */
  output_changed?: true
  contexts?: string[]
  /** True if the session has permission rules by it. */
  gave_rules?: true
  /** What each of `by` did of that, and why. */
  parts?: {
    by: string
    did: ('block' | 'allow' | 'deny' | 'ask' | 'input' | 'output' | 'context' | 'rules' | 'failed')[]
    reason?: string
  }[]
}

/** Why a conversation is summed up: it is near the window of its model, was refused as too long, or somebody asked. */
export const compactionCauses = ['window', 'refused', 'manual'] as const
/** One of `compactionCauses`. */
export type CompactionCause = (typeof compactionCauses)[number]

type CallUsage = { [K in keyof Usage]: Usage[K] }
/** What a model call cost, by the price table of which version. */
type CallCost = { cost_microusd?: number; price?: string }

/** How a call ended: `unknown` means the daemon died between intent and outcome. */
export type OutcomeState = 'done' | 'failed' | 'refused' | 'unknown'

/** Of an answer that ended `cut`, at the limit of its length, or `unexplained`, for a reason that nobody knows. */
export type AnswerMarks = {
  readonly cut?: true
  readonly unexplained?: true
}

/**
 * One entry of a session's journal. `event` is what the run's life is made
 * of; `message` is what the model said, kept verbatim; `intent` and `outcome`
 * are the effect ledger; `audit` is a permission decision; `recovery` is the
 * verdict of a start; `session` is about the session itself; `baseline` is
 * what required files were before the run did anything; `fallback` says that
 * another model took over; `intercepted` is what an interceptor made of
 * something; `held` is a model call that waits because its server asked for
 * time; `attempt` is a failed model attempt that is followed by another;
 * `usage` is an attempt whose answer was not taken, with what it used;
 * `compaction` stands in the conversation for all that was said before the
 * entry `from`, but what the newest run was told; `compaction_failed` says
 * why there is none, and after the last one of a session that it was given up.
 */
export type JournalEntry = { run_id: string; at: number } & (
  | { type: 'event'; event: RunEvent }
  /** `not_taken`: why an answer without calls did not end its run. */
  | ({ type: 'message'; message: ModelMessage; usage?: CallUsage; not_taken?: string } & AnswerMarks & CallCost)
  | ({ type: 'usage'; turn: number; attempt: number; code: string; usage?: CallUsage } & CallCost)
  | { type: 'intent'; tool_call_id: string; tool_name: string; effect: Effect; key: string; input_digest: string }
  | {
      type: 'outcome'
      tool_call_id: string
      tool_name: string
      state: OutcomeState
      output: Json
      files?: AttachmentRef[]
      /** A model that the tool asked. */
      used?: { route: string; model: string; usage?: CallUsage } & CallCost
    }
  | { type: 'audit'; audit: PermissionAudit }
  | { type: 'recovery'; verdict: 'resumed' | 'requeued' | 'interrupted'; reason: string; generation: number }
  | { type: 'baseline'; files: CompletionMark[] }
  | { type: 'fallback'; from: string; to: string; attempt?: number; code?: string; message?: string }
  | ({ type: 'intercepted' } & InterceptedNote)
  | { type: 'held'; turn: number; attempt: number; until_ms: number }
  | { type: 'attempt'; turn: number; attempt: number; code: string; message: string; next_attempt_at_ms: number }
  | ({
      type: 'compaction'
      cause: CompactionCause
      from: number
      /** How many messages it stands for. */
      messages: number
      tokens_before: number
      tokens_after: number
      summary: string
      /** True if what was said before those messages is in no summary either. */
      lacking?: true
      usage?: CallUsage
    } & CallCost)
  | ({
      type: 'compaction_failed'
      cause: CompactionCause
      code: string
      message: string
      given_up?: true
      usage?: CallUsage
    } & CallCost)
  | ({ type: 'session' } & SessionNote)
)

export const sessionJournal: StreamSpec<JournalEntry> = {
  name: 'session_journal',
  version: 1,
  kept: { kind: 'runs' },
}

/** Where changes of sessions are written down, and who is told. */
export interface JournalParts {
  readonly journal: Stream<JournalEntry>
  readonly activity: () => { noted(tx: Tx, session_id: string): void } | undefined
}

/** Adds a change of the session itself to its journal, in a commit. */
export const noteChange = (
  { journal, activity }: JournalParts,
  tx: Tx,
  { session_id, note }: { readonly session_id: string; readonly note: SessionNote },
): void => {
  tx.append(journal, session_id, { run_id: '', at: tx.now, type: 'session', ...note })
  activity()?.noted(tx, session_id)
}

const digestsOf = ({ soul_sha256, default_skills_sha256 }: PersonaSnapshot): JsonObject => ({
  soul_sha256,
  ...(default_skills_sha256 !== undefined && { default_skills_sha256 }),
})

/**
 * A setting as the journal keeps it. An address may hold a credential, which must not outlive the setting: its digest
 * stands for it.
 */
export const noteOf = (session: SessionSettings, name: SettingName): SessionNote => {
  const key = settingKeys[name]
  const value = metadataOf(session)[key]
  if (value === undefined) return { change: 'cleared', key }
  if (name === 'persona' && session.persona !== undefined)
    return {
      change: 'set',
      key,
      value: { ...personaSummary(session.persona), ...digestsOf(session.persona) },
    }
  if (name !== 'reply_targets') return { change: 'set', key, value }
  return {
    change: 'set',
    key,
    value: (session.reply_targets ?? []).map(({ plugin, address }) => ({ plugin, address_sha256: digest(address) })),
  }
}
