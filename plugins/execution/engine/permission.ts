/** What becomes of the calls of one model answer before any of them runs. */
import { relative } from 'node:path'
import type { ApprovalRequest, OutcomeState } from '../sessions/contract.js'
import { parse, type Issue, type Json, type JsonObject, type Problem, digest } from '../../../core/plugin.js'
import type { ToolCallPart } from '../models/contract.js'
import {
  callFailure,
  permissionAudit,
  type PermissionAudit,
  type PermissionDecision,
  type Tool,
} from '../tools/contract.js'
import { callErrors } from '../runs/contract.js'
import { whoDid, type Ruling } from '../interception/contract.js'
import type { EngineContext, Execution } from './execution.js'
import { absent, tooLarge } from './thread/foreseen.js'

/** `settled` calls never run: their outcome is known at once. */
export type Verdict =
  | { readonly type: 'settled'; readonly state: OutcomeState; readonly output: Json; readonly audit?: PermissionAudit }
  | { readonly type: 'ask'; readonly request: ApprovalRequest; readonly audit: PermissionAudit }
  | { readonly type: 'allow'; readonly audit: PermissionAudit }

export const refused = (problem: Problem, more?: JsonObject): { output: Json } => ({
  output: callFailure(problem, more),
})

/** Where a call stands in its answer, which was `cut` at its length limit, and what interceptors say of it. */
export interface Place {
  readonly index: number
  readonly cut: boolean
  readonly ruling?: Pick<Ruling, 'permission' | 'reason' | 'by' | 'parts'>
}

/** Interceptors are stricter than the rules, or let pass what would ask; what is denied stays so. */
const ruled = (
  decision: PermissionDecision,
  ruling: Place['ruling'],
): PermissionDecision & { readonly who?: string } => {
  const { permission, reason } = ruling ?? {}
  if (
    ruling === undefined ||
    permission === undefined ||
    permission === decision.decision ||
    decision.decision === 'deny'
  )
    return decision
  // A hook that asks would ask again: what it wants to know is not remembered.
  const { mode_effect: _, grant_id: __, grant_rule: ___, ...rest } = decision
  const who = whoDid(ruling, permission)
  return {
    ...rest,
    decision: permission,
    approval_required: permission === 'ask',
    reason: reason ?? `The ${who} says so.`,
    who,
  }
}

const denial = ({
  who,
  mode_applied,
  effective_mode,
  matched_rule,
}: PermissionDecision & { readonly who?: string }): Problem => {
  if (who !== undefined) return callErrors.call_denied_by_hook({ details: { who } })
  if (mode_applied) return callErrors.call_denied_by_mode({ details: { mode: effective_mode } })
  return matched_rule?.behavior === 'deny' ? callErrors.call_denied_by_rule() : callErrors.call_denied_by_limit()
}

/** Judges one call of a run. */
export const judgeCall = (execution: Execution, call: ToolCallPart, { index, cut, ruling }: Place): Verdict => {
  const { context, session_id, pins } = execution
  const problem = callProblem(execution, call, { index, cut })
  if (problem !== undefined) return { type: 'settled', state: 'failed', ...problem }
  const decision = ruled(context.tools.decide({ tool_name: call.name, input: call.input, session_id, pins }), ruling)
  const named = { tool_name: call.name, tool_call_id: call.id }
  switch (decision.decision) {
    case 'allow':
      return { type: 'allow', audit: permissionAudit(named, decision) }
    case 'deny':
      return {
        type: 'settled',
        state: 'refused',
        ...refused(denial(decision), decision.reason === undefined ? {} : { reason: decision.reason }),
        audit: permissionAudit(named, decision),
      }
    case 'ask': {
      const request = { ...requestOf(context, call, decision), ...placeOf(execution) }
      return { type: 'ask', request, audit: permissionAudit({ ...named, approval_request_id: request.id }, decision) }
    }
  }
}

/** Paths of the call are of the folder that the agent works in. */
const placeOf = ({ folder: { path, within } }: Execution): Pick<ApprovalRequest, 'cwd'> =>
  within === undefined ? {} : { cwd: relative(within, path) }

/** What a person is asked: bound to the exact input by its digest. */
const requestOf = (
  { ids, clock, config }: EngineContext,
  { id: tool_call_id, name: tool_name, input }: ToolCallPart,
  { scope, reason, grant_rule }: PermissionDecision,
): ApprovalRequest => {
  const now = clock.now()
  const expires = config.approval_expires_after_ms
  return {
    id: ids.make('approval'),
    tool_call_id,
    tool_name,
    input,
    input_digest: digest(input),
    scope,
    reason: reason ?? null,
    created_at_ms: now,
    ...(grant_rule !== undefined && { grant_rule }),
    ...(expires > 0 && { expires_at_ms: now + expires }),
  }
}

const callProblem = (
  execution: Execution,
  call: ToolCallPart,
  { index, cut }: { index: number; cut: boolean },
): { output: Json } | undefined => {
  const {
    limits,
    session_id,
    context: { tools },
  } = execution
  if (cut) return refused(callErrors.call_cut())
  if (index >= limits.max_calls_per_turn)
    return refused(callErrors.call_limit_reached({ details: { limit: limits.max_calls_per_turn } }))
  const tool = tools.find(call.name, session_id)
  if (tool === undefined) return refused(absent(tools, call.name, session_id))
  if (call.unparsed !== undefined) return unparsed(call.unparsed)
  const large = tooLarge(call.input, limits.max_input_bytes)
  if (large !== undefined) return refused(large)
  const read = readInput(execution, tool, call.input)
  return read.ok ? undefined : read.refusal
}

type InputRead =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: { output: Json } }

/** The input as the tool takes it, or why no call can be made with it. */
export const readInput = ({ session_id, run_id }: Execution, tool: Tool, input: Json): InputRead => {
  const parsed = parse(tool.input, input)
  if (!parsed.ok) return { ok: false, refusal: misfit(parsed.issues) }
  const problem = tool.refusal?.(parsed.value, { session_id, run_id })
  return problem === undefined ? { ok: true, value: parsed.value } : { ok: false, refusal: refused(problem) }
}

/** Characters of an input that is no JSON which the model is shown. */
const shownInput = 2_000
const unparsed = (text: string): { output: Json } =>
  refused(callErrors.call_input_invalid(), {
    issues: [{ path: '', rule: 'must be JSON that is not nested too deep' }],
    input_text: Buffer.from(text.slice(0, shownInput)).toString(),
  })

/** An input that the tool's struct does not take. */
const misfit = (issues: readonly Issue[]): { output: Json } =>
  refused(callErrors.call_input_invalid(), { issues: issues.map(({ path, rule }) => ({ path, rule })) })
