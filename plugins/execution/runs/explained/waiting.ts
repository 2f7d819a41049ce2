/** What runs wait for that do not execute: their turn, and people (explanations-4, explanations-5). */
import { commandLine, count } from '../../../../core/plugin.js'
import type { Reason } from '../../../operator/explanations/contract.js'
import type { ApprovalRequest, UserQuestionRequest } from '../../sessions/contract.js'
import type { ControlContext } from '../lifecycle/executor.js'
import { openApprovals, openQuestions } from '../record/requests.js'
import type { QueuedRun, RunRecord } from '../record/run-record.js'
import { activeLane, queuedLane } from '../record/store.js'
import { approvalLines, questionLines } from '../terminal/request-text.js'

/** Characters of a question, an option or an input that are told. */
const mostText = 200

/** What keeps every run from executing. */
export const daemonReasons = ({ executor, store }: ControlContext): readonly Reason[] => {
  const { mode, reason, action } = store.state.health
  const why = mode === 'closed' ? 'closed' : `read-only${reason === undefined ? '' : ` (${reason})`}`
  if (mode !== 'ok')
    return [
      {
        code: 'storage',
        text: [`The daemon takes no changes: its storage is ${why}.`, ...(action === undefined ? [] : [action])].join(
          ' ',
        ),
        commands: [commandLine('status')],
      },
    ]
  // A daemon that stops answers nobody any more.
  if (executor.acts()) return []
  return [
    {
      code: 'daemon_held',
      text: 'The daemon begins nothing by itself until it is released; holdfast status says why.',
      commands: [commandLine('release')],
    },
  ]
}

export const placeReason = ({ executor, config }: ControlContext, run_id: string): Reason => ({
  code: 'no_place',
  text:
    `All places are taken (${executor.standing(run_id).taken} of ${config.max_concurrent_runs}); ` +
    'max_concurrent_runs of config/runs.toml says how many there are.',
  commands: [commandLine('runs list')],
})

const behind = (run_id: string, how: string): Reason => ({
  code: 'behind_run',
  text: `Its session executes one run at a time, and ${run_id} ${how}.`,
  leads_to: [run_id],
})

/** The queue of its session, and the places of all. */
export const queueReasons = (context: ControlContext, run: QueuedRun): readonly Reason[] => {
  const { store, executor } = context
  const { session_id, run_id } = run
  const [active] = store.runs.ids('lane', activeLane(session_id))
  const queue = store.runs.ids('lane', queuedLane(session_id))
  const before = queue.indexOf(run_id)
  const ahead: readonly Reason[] =
    before > 0
      ? [
          {
            code: 'queue',
            text: `${count(before, 'queued run')} of its session ${before === 1 ? 'goes' : 'go'} first.`,
          },
        ]
      : []
  if (active !== undefined) return [...ahead, behind(active, 'has not ended')]
  const held = daemonReasons(context)
  const [next] = queue
  if (before > 0 && next !== undefined) return [...ahead, behind(next, 'is the next'), ...held]
  if (held.length > 0) return held
  return executor.free() ? [] : [placeReason(context, run_id)]
}

const inputOf = ({ input }: ApprovalRequest): string => {
  const text = JSON.stringify(input)
  return text.length <= mostText ? text : `${text.slice(0, mostText)}… (holdfast approvals list shows all)`
}

/** With its options by number, as the line that answers names them. */
const questionOf = ({ question, options }: UserQuestionRequest['questions'][number]): string =>
  `${JSON.stringify(cut(question))} (${options.map(({ label }, at) => `${at + 1} ${cut(label)}`).join(', ')})`
const cut = (text: string): string => (text.length <= mostText ? text : `${text.slice(0, mostText)}…`)

/** What people are asked for, with the lines that decide. */
export const requestReasons = ({ store }: ControlContext, run: RunRecord): readonly Reason[] => [
  ...openApprovals(store, run).map((request): Reason => {
    const { allow, deny } = approvalLines(run.run_id, request.id)
    return {
      code: 'approval',
      text: `It asks to use ${request.tool_name} with ${inputOf(request)}, and nobody has decided (${request.id}).`,
      ...timesOf(request),
      commands: [allow, deny],
    }
  }),
  ...openQuestions(store, run).map((request): Reason => {
    const { answer, decline } = questionLines(run.run_id, request)
    return {
      code: 'question',
      text: `It asks: ${request.questions.map(questionOf).join('; ')} (${request.id}).`,
      ...timesOf(request),
      commands: [answer, decline],
    }
  }),
]

const timesOf = ({
  created_at_ms,
  expires_at_ms,
}: Pick<ApprovalRequest, 'created_at_ms' | 'expires_at_ms'>): Pick<Reason, 'since_ms' | 'until_ms'> => ({
  ...(created_at_ms !== undefined && { since_ms: created_at_ms }),
  ...(expires_at_ms !== undefined && { until_ms: expires_at_ms }),
})
