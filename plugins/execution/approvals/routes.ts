import {
  array,
  defineRoute,
  jsonReply,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  type Route,
  type Skip,
  digest,
  idempotencyErrors,
  idempotencyKey,
  IdempotencyKey,
} from '../../../core/plugin.js'
import { grantErrors } from '../grants/contract.js'
import { noRun, runErrors, RunView, type ReceiptKey, type RunRecord } from '../runs/contract.js'
import { SessionId, sessionErrors, SessionView, type Sessions } from '../sessions/contract.js'
import { ApprovalResolution } from './contract.js'
import { approvalErrors } from './errors.js'
import { PendingApprovalView, pendingApprovals } from './pending.js'
import { resolveApprovals, type ApprovalParts } from './resolve.js'

export interface ApprovalRouteParts extends ApprovalParts {
  readonly sessions: Sessions
  readonly skip: Skip
}

const Body = object({ idempotency_key: IdempotencyKey, resolutions: array(ApprovalResolution, { max: 1000 }) })
const sessionParams = object({ session_id: SessionId })
const runParams = object({ run_id: string({ min: 1, max: 200 }) })
const problems = [
  approvalErrors.approval_state_conflict,
  approvalErrors.approval_expired,
  approvalErrors.approval_batch_empty,
  approvalErrors.approval_duplicate_resolution,
  approvalErrors.approval_request_not_pending,
  approvalErrors.approval_updated_input_invalid,
  grantErrors.grant_invalid,
  grantErrors.grants_full,
  idempotencyErrors.idempotency_conflict,
  idempotencyErrors.invalid_idempotency_key,
]
const example = { body: { resolutions: [{ request_id: 'approval_1', behavior: 'allow' }] } }

export const approvalRoutes = (parts: ApprovalRouteParts): readonly Route[] => [
  list(parts),
  inline(parts),
  detached(parts),
  exact(parts),
]

const list = ({ runs, skip }: ApprovalRouteParts): Route =>
  defineRoute({
    id: 'approvals.list',
    method: 'GET',
    path: '/v1/approvals',
    summary: 'Lists tool calls that wait for permission, of all sessions or of one.',
    access: 'read',
    query: object({ session_id: optional(SessionId), ...pageFields }),
    reply: jsonReply(pageOf(PendingApprovalView)),
    problems: [...pageProblems],
    handler: ({ query }) => pendingApprovals(runs, query.session_id, { ...query, skip }),
  })

type Request = { readonly idempotency_key?: string | undefined; readonly resolutions: readonly ApprovalResolution[] }

const receiptOf = (target: string, header: string | undefined, body: Request): ReceiptKey | undefined => {
  const key = idempotencyKey(header, body.idempotency_key)
  return key === undefined ? undefined : { scope: `approvals:${target}`, key, digest: digest(body.resolutions) }
}

/** The last run of a session that answers to nobody any more, if time decided on what the body names. */
const expiredIn = (
  { runs }: ApprovalRouteParts,
  session_id: string,
  { resolutions }: Request,
): RunRecord | undefined => {
  const [run, first] = [runs.latest(session_id), resolutions[0]]
  return run !== undefined && first !== undefined && runs.deciderOf(run, first.request_id) === 'timeout'
    ? run
    : undefined
}

/** Decides on the run that holds the session's slot. */
const decideInSession = async (
  parts: ApprovalRouteParts,
  session_id: string,
  { header, body }: { header: string | undefined; body: Request },
): Promise<RunRecord> => {
  parts.sessions.get(session_id)
  const receipt = receiptOf(session_id, header, body)
  const known = parts.runs.replayed(receipt)
  if (known !== undefined) return known
  const run = parts.runs.active(session_id) ?? expiredIn(parts, session_id, body)
  if (run === undefined)
    throw approvalErrors.approval_state_conflict({
      details: {
        what: `session ${session_id}`,
        status: 'without a run that waits',
        run_id: parts.runs.latest(session_id)?.run_id ?? '',
      },
    })
  await resolveApprovals(parts, run, { resolutions: body.resolutions, receipt, decided_by: 'operator' })
  return parts.runs.get(run.run_id)
}

const inline = (parts: ApprovalRouteParts): Route =>
  defineRoute({
    id: 'sessions.approvals',
    method: 'POST',
    path: '/v1/sessions/:session_id/approvals',
    summary: 'Decides on open approvals of the session and answers when the run has ended or waits again.',
    access: 'admin',
    params: sessionParams,
    body: Body,
    idempotent: true,
    reply: jsonReply(SessionView),
    problems: [sessionErrors.session_not_found, runErrors.run_expired, ...problems],
    durability: 'A',
    example,
    handler: async ({ params, body, idempotencyKey: header, signal, caller }) => {
      const run = await decideInSession(parts, params.session_id, { header, body })
      await parts.runs.waitFor(run.run_id, signal)
      return parts.sessions.view(parts.sessions.get(params.session_id), caller)
    },
  })

const detached = (parts: ApprovalRouteParts): Route =>
  defineRoute({
    id: 'sessions.approval_runs',
    method: 'POST',
    path: '/v1/sessions/:session_id/approval-runs',
    summary: 'Decides on open approvals of the session; the run goes on by itself.',
    access: 'admin',
    params: sessionParams,
    body: Body,
    idempotent: true,
    reply: jsonReply(RunView, 202),
    problems: [sessionErrors.session_not_found, runErrors.run_expired, ...problems],
    durability: 'A',
    example,
    handler: async ({ params, body, idempotencyKey: header, caller }) =>
      parts.runs.view(await decideInSession(parts, params.session_id, { header, body }), caller),
  })

const exact = (parts: ApprovalRouteParts): Route =>
  defineRoute({
    id: 'runs.approvals',
    method: 'POST',
    path: '/v1/runs/:run_id/approvals',
    summary: 'Decides on open approvals of one run; it goes on by itself.',
    access: 'admin',
    params: runParams,
    body: Body,
    idempotent: true,
    reply: jsonReply(RunView, 202),
    problems: [...noRun, ...problems],
    durability: 'A',
    example,
    handler: async ({ params: { run_id }, body, idempotencyKey: header, caller }) => {
      const run = parts.runs.get(run_id)
      const receipt = receiptOf(run_id, header, body)
      if (parts.runs.replayed(receipt) === undefined)
        await resolveApprovals(parts, run, { resolutions: body.resolutions, receipt, decided_by: 'operator' })
      return parts.runs.view(parts.runs.get(run_id), caller)
    },
  })
