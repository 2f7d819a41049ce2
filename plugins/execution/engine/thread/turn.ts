/** A model turn and its calls, as far as the journal tells. */
import { canonical, isJsonObject, type Json } from '../../../../core/plugin.js'
import type { AttachmentRef } from '../../../media/assets/contract.js'
import type { ActionGrounds } from '../../external-actions/contract.js'
import type { ToolCallPart, ToolResultPart } from '../../models/contract.js'
import type { PermissionAudit } from '../../tools/contract.js'

/** Where a call stands. `ready` may start; `intended` may have acted. */
export type CallState =
  | { readonly type: 'ready'; readonly input: Json; readonly digest?: string }
  | { readonly type: 'asked'; readonly request_id: string }
  | { readonly type: 'intended'; readonly input: Json; readonly attempts: number }
  | { readonly type: 'questioned'; readonly request_id: string }
  | { readonly type: 'done'; readonly result: ToolResultPart }

/** `grounds` is what let it act. */
export interface Call {
  readonly part: ToolCallPart
  /** What the call is made with; another than that of the part if an interceptor has changed it. */
  input: Json
  state: CallState
  grounds?: ActionGrounds
  /** What the model reads beside the results of the turn. */
  contexts?: readonly string[]
  /** Files that it gave. */
  files?: readonly AttachmentRef[]
}

/** How far a started run has come. */
export interface Progress {
  readonly run_id: string
  /** Model answers so far. */
  turns: number
  /** Attempts at the next answer that failed, of the model that was given up too. */
  failed: number
  /** Calls of the last answer; empty if it had none. */
  calls: Call[]
  /** True if a call that acts on the outside was begun. */
  acted: boolean
  /** Calls over all turns. */
  called: number
  /** Outputs of the calls of the last answer. */
  output_bytes: number
  /** Outputs with what stands around them. */
  envelope_bytes: number
  /** How often its end was held up by an interceptor. */
  held: number
  /** The model refused the conversation as too long; and it was summed up since, or could not be. */
  overflow: 'refused' | 'compacted' | undefined
  /** At which turn a compaction failed last. */
  uncompacted: number | undefined
  /** The failure that came last, and how often in a row. */
  /** `isCut`: its answer was cut, so it was not made. */
  repeated: { key: string; count: number; turn: number; isCut: boolean }
}

export const beginProgress = (run_id: string): Progress => ({
  run_id,
  turns: 0,
  failed: 0,
  calls: [],
  acted: false,
  called: 0,
  output_bytes: 0,
  envelope_bytes: 0,
  held: 0,
  overflow: undefined,
  uncompacted: undefined,
  repeated: { key: '', count: 0, turn: 0, isCut: false },
})

export type NextStep =
  | { readonly type: 'model' }
  | { readonly type: 'tools'; readonly calls: readonly Call[] }
  | { readonly type: 'blocked' }
  | { readonly type: 'fail'; readonly error: string }

export interface TurnLimits {
  readonly max_turns: number
  readonly max_output_bytes: number
  readonly max_envelope_bytes: number
}

/** Turns in a row with an identical failure, after which a run stops. */
const breaker = 3

const repeatedError = ({ isCut }: Progress['repeated']): string =>
  isCut
    ? `answer_cut_repeated: the answer was cut at its length limit amid a tool call in ${breaker} turns in a row. ` +
      'Let answers of its model be longer (generation.max_output_tokens).'
    : `tool_failure_repeated: the same tool call failed in ${breaker} turns in a row.`

/** What a running run does next: a pure function of what its journal says. */
export const nextStep = (progress: Progress, limits: TurnLimits): NextStep => {
  if (progress.repeated.count >= breaker) return { type: 'fail', error: repeatedError(progress.repeated) }
  if (progress.output_bytes > limits.max_output_bytes || progress.envelope_bytes > limits.max_envelope_bytes)
    return {
      type: 'fail',
      error: 'tool_output_limit: the tool calls of one model turn returned more bytes than its limit.',
    }
  const calls = progress.calls.filter(({ state }) => state.type === 'ready' || state.type === 'intended')
  if (calls.length > 0) return { type: 'tools', calls }
  if (progress.calls.some(({ state }) => state.type !== 'done')) return { type: 'blocked' }
  if (limits.max_turns > 0 && progress.turns >= limits.max_turns)
    return { type: 'fail', error: `turn_limit: the run used its ${limits.max_turns} turns.` }
  return { type: 'model' }
}

/** The code of what `callFailure` made. */
const failureOf = (output: Json): Json | undefined =>
  isJsonObject(output) && isJsonObject(output['error']) ? output['error']['code'] : undefined

/** Counts a turn with a failure that equals the one before, which its model was told; anything else starts anew. */
export const countFailure = (progress: Progress, call: Call, result: ToolResultPart): void => {
  const input = call.state.type === 'ready' || call.state.type === 'intended' ? call.state.input : call.input
  const key = result.is_error ? `${call.part.name}:${canonical(input)}:${canonical(result.output)}` : ''
  const { turns: turn, repeated } = progress
  const again = repeated.count + (repeated.turn === turn ? 0 : 1)
  const isCut = result.is_error === true && failureOf(result.output) === 'call_cut'
  progress.repeated = { key, count: key === '' ? 0 : key === repeated.key ? again : 1, turn, isCut }
}

/**
 * What let a call run without a person: what was remembered of one, the mode if it changed the answer of the rules,
 * else the rule.
 */
export const groundsOf = ({
  grant_id,
  mode_effect,
  matched_rule_pattern,
  effective_mode,
}: PermissionAudit): ActionGrounds => {
  if (grant_id !== undefined) return { type: 'grant', id: grant_id }
  return mode_effect !== undefined
    ? { type: 'mode', id: mode_effect }
    : matched_rule_pattern !== undefined
      ? { type: 'rule', id: matched_rule_pattern }
      : { type: 'mode', id: effective_mode }
}
