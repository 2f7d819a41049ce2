/** Decisions on a waiting run: all of a batch are checked before any is recorded. */
import type { ApprovalRequest, Decider, ResolvedApproval } from '../sessions/contract.js'
import { parse, type Clock, type Tx, digest } from '../../../core/plugin.js'
import { type ReceiptKey, type RunRecord, type Runs } from '../runs/contract.js'
import { grantErrors, type Grants } from '../grants/contract.js'
import type { ToolRegistry } from '../tools/contract.js'
import type { ApprovalResolution } from './contract.js'
import { approvalErrors } from './errors.js'
import { expireApprovals } from './expire.js'

export interface ApprovalParts {
  readonly runs: Runs
  readonly tools: ToolRegistry
  readonly grants: Grants
  readonly clock: Clock
}
export interface Batch {
  readonly resolutions: readonly ApprovalResolution[]
  readonly receipt?: ReceiptKey | undefined
  readonly decided_by: Decider
  /** The person, where a connector knows it. */
  readonly actor_id?: string | undefined
}

/**
 * Records a batch on one waiting run. Synchronous up to its commit, so that of two callers one sees the other's
 * decision.
 */
export const resolveApprovals = async (parts: ApprovalParts, run: RunRecord, batch: Batch): Promise<void> => {
  const { runs, tools, clock } = parts
  refuseExpired(runs, run, batch)
  if (run.status !== 'waiting_for_approval')
    throw approvalErrors.approval_state_conflict({
      details: { what: `run ${run.run_id}`, status: run.status, run_id: run.run_id },
    })
  if (run.expires_at_ms !== undefined && clock.now() >= run.expires_at_ms) {
    await expireApprovals(runs, run)
    throw approvalErrors.approval_expired({ details: { request_id: batch.resolutions[0]?.request_id ?? '' } })
  }
  const open = new Map(runs.openApprovals(run).map((request) => [request.id, request]))
  const made = withGrants(parts, run, { open, batch, resolutions: checkBatch(tools, open, batch) })
  await runs.decide({ run_id: run.run_id, receipt: batch.receipt, ...made })
}

/** A late answer learns that time decided, whatever the run does now. */
const refuseExpired = (runs: Runs, run: RunRecord, { resolutions }: Batch): void => {
  const open = 'pending' in run ? run.pending : []
  const stale = resolutions.find(({ request_id }) => !open.includes(request_id))
  if (stale !== undefined && runs.deciderOf(run, stale.request_id) === 'timeout')
    throw approvalErrors.approval_expired({ details: { request_id: stale.request_id } })
}

const checkBatch = (
  tools: ToolRegistry,
  open: ReadonlyMap<string, ApprovalRequest>,
  { resolutions, decided_by, actor_id }: Batch,
): ResolvedApproval[] => {
  if (resolutions.length === 0)
    throw approvalErrors.approval_batch_empty({ errors: [{ path: 'body.resolutions', rule: 'must not be empty' }] })
  const seen = new Set<string>()
  return resolutions.map((resolution, index) => {
    const { request_id } = resolution
    const path = `body.resolutions.${index}.request_id`
    if (seen.has(request_id))
      throw approvalErrors.approval_duplicate_resolution({ errors: [{ path, rule: 'must be named once' }] })
    seen.add(request_id)
    const request = open.get(request_id)
    if (request === undefined)
      throw approvalErrors.approval_request_not_pending({
        details: { request_id },
        errors: [{ path, rule: 'must be pending' }],
      })
    return {
      ...resolved(resolution, checkInput(tools, request, { resolution, index }), decided_by),
      ...(actor_id !== undefined && { actor_id }),
    }
  })
}

interface Checked {
  readonly open: ReadonlyMap<string, ApprovalRequest>
  readonly batch: Batch
  readonly resolutions: readonly ResolvedApproval[]
}

/** Answers that are to be remembered become grants, in the commit that records them. */
const withGrants = (
  { grants }: ApprovalParts,
  { session_id, run_id }: RunRecord,
  { open, batch, resolutions }: Checked,
) => {
  const writes: ((tx: Tx) => void)[] = []
  const made = resolutions.map((resolution, index): ResolvedApproval => {
    const { grant: wish, behavior, updated_input } = batch.resolutions[index] ?? {}
    if (wish === undefined) return resolution
    const path = `body.resolutions.${index}.grant`
    const refuse = (rule: string): Error => grantErrors.grant_invalid({ errors: [{ path, rule }] })
    if (behavior === 'deny') throw refuse('goes only with allow')
    if (updated_input !== undefined) throw refuse('goes only with the input that was asked about')
    const { tool_name, grant_rule: rule } = open.get(resolution.request_id) ?? {}
    if (tool_name === undefined || rule === undefined) throw refuse('goes only with a request that has a grant_rule')
    const from = { run_id, request_id: resolution.request_id }
    const { grant_id, write } = grants.draft({ session_id, tool_name, rule, wish, from }, path)
    writes.push(write)
    return { ...resolution, grant_id }
  })
  return { resolutions: made, also: (tx: Tx) => void writes.forEach((write) => write(tx)) }
}

/** Digest of the input that was decided on: the one that was shown, or one that replaces it and fits the tool. */
const checkInput = (
  tools: ToolRegistry,
  request: ApprovalRequest,
  { resolution, index }: { resolution: ApprovalResolution; index: number },
): string => {
  const { updated_input, behavior } = resolution
  if (updated_input === undefined) return request.input_digest ?? digest(request.input)
  const path = `body.resolutions.${index}.updated_input`
  const invalid = (errors: { path: string; rule: string }[]): Error =>
    approvalErrors.approval_updated_input_invalid({ details: { tool_name: request.tool_name }, errors })
  if (behavior === 'deny') throw invalid([{ path, rule: 'goes only with allow' }])
  const tool = tools.find(request.tool_name)
  if (tool === undefined) throw invalid([{ path, rule: 'names a tool that is gone' }])
  const parsed = parse(tool.input, updated_input)
  if (!parsed.ok)
    throw invalid(
      parsed.issues.map((issue) => ({ path: issue.path === '' ? path : `${path}.${issue.path}`, rule: issue.rule })),
    )
  return digest(updated_input)
}

const resolved = (
  { request_id, behavior, updated_input, justification, reason }: ApprovalResolution,
  input_digest: string,
  decided_by: Decider,
): ResolvedApproval => ({
  request_id,
  behavior,
  ...(updated_input !== undefined && { updated_input }),
  ...(justification !== undefined && { justification }),
  ...(reason !== undefined && { reason }),
  decided_by,
  input_digest,
})
