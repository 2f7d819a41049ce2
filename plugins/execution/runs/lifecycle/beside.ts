/**
 * Runs that are a question of another session: they begin with it, ask no model, hold no slot of their session, and end
 * when it is settled (runs-56).
 */
import type { Tx } from '../../../../core/plugin.js'
import type { ResolvedQuestion, RunEvent, UserQuestionRequest } from '../../sessions/contract.js'
import type { RunOrigin } from '../record/origin.js'
import { recordReceipt, type ReceiptKey } from '../record/receipts.js'
import type { WaitingRun } from '../record/run-record.js'
import { getRun } from '../record/get-run.js'
import type { ControlContext } from './executor.js'
import { editRun } from './run-changes.js'

/** A question that another session asks this one. */
export interface AskedBeside {
  readonly session_id: string
  readonly kind: 'parent_clarification'
  readonly request: UserQuestionRequest
  /** Who asks. */
  readonly origin: RunOrigin
  readonly actor_id: string
}

/** How it ended. */
export interface SettledBeside {
  readonly run_id: string
  readonly resolution: ResolvedQuestion
  /** What stands in the journal beside the resolution. */
  readonly event: RunEvent
  readonly receipt?: ReceiptKey | undefined
}

const previewLength = 200

/** Opens the run in a commit of the caller. */
export const askBeside = (context: ControlContext, tx: Tx, asked: AskedBeside): WaitingRun => {
  const { session_id, kind, request, origin, actor_id } = asked
  const { agent_id, route_policy } = context.sessions.get(session_id)
  const provider = route_policy?.provider ?? context.models.default_route ?? ''
  const first = context.store.journal.length(session_id) + 1
  const content = request.questions.map(({ question }) => question).join('\n')
  const run: WaitingRun = {
    run_id: context.ids.make('run'),
    session_id,
    agent_id,
    kind,
    status: 'waiting_for_user_question',
    submitted_at_ms: tx.now,
    updated_at_ms: tx.now,
    started_at_ms: tx.now,
    source_plugin: 'agents',
    source_kind: kind,
    actor_id,
    text_preview: content.slice(0, previewLength),
    provider,
    model: context.models.find(provider)?.model ?? '',
    first,
    last: 0,
    owner: context.store.state.health.generation,
    origin,
    questions: 1,
    waiting: first + 1,
    pending: [request.id],
    ...(request.expires_at_ms !== undefined && { expires_at_ms: request.expires_at_ms }),
  }
  const edit = editRun(context, tx, run)
  edit.event({ type: 'accepted', content })
  edit.event({ type: 'waiting_for_user_question', request_ids: [request.id], requests: [request] })
  edit.show()
  edit.save()
  return run
}

/** Ends it as completed in a commit of the caller, who has checked that its request is open. */
export const settleBeside = (
  context: ControlContext,
  tx: Tx,
  { run_id, resolution, event, receipt }: SettledBeside,
): void => {
  const edit = editRun(context, tx, getRun(context.store, run_id))
  recordReceipt(context.store, tx, { receipt, run_id })
  edit.event({ type: 'user_question_resolved', resolution })
  edit.event(event)
  const { decided_by, request_id } = resolution
  edit.step({ to: 'completed' }, { type: 'completed' }, { decided_by, except: request_id })
  edit.save()
}
