/**
 * Structured questions to a person and their answers. Rules: docs/rules/questions.md.
 */
import {
  answerOf,
  array,
  awaited,
  boolean,
  defaulted,
  definePoint,
  defineToken,
  doc,
  hasMembers,
  named,
  object,
  open,
  optional,
  refusing,
  string,
  withAnswers,
  type Infer,
  type Point,
  type Token,
} from '../../../core/plugin.js'
import type { ReceiptKey, RunKind, WaitingRun } from '../runs/contract.js'
import type { ResolvedQuestion, UserQuestionRequest } from '../sessions/contract.js'

/** What a tool is told that asks people, and the outcome of its call. */
export { ask, AskInput } from './tools.js'

/** An answer to a request, or a decline (questions-7 and questions-8). */
export const UserQuestionResolution = named(
  'UserQuestionResolution',
  object({
    request_id: doc(string({ min: 1, max: 200 }), 'Id of the request.'),
    answers: defaulted(
      array(
        object({
          question_id: doc(string({ max: 200 }), 'Id of the question.'),
          selected_option_ids: defaulted(array(string({ max: 200 }), { max: 100 }), []),
          freeform_answer: optional(doc(string({ max: 20_000 }), 'An answer in own words; up to 20,000 characters.')),
        }),
        { max: 100 },
      ),
      [],
    ),
    declined: defaulted(boolean(), false),
    justification: optional(doc(string({ max: 4000 }), 'Why; told to the model when the questions are declined.')),
  }),
)
/** The parsed form of `UserQuestionResolution`. */
export type UserQuestionResolution = Infer<typeof UserQuestionResolution>

/** Fields of a pending question that tell who asks, when that is another session (questions-20). */
export const questionAskerFields = {
  requester_agent_id: optional(string()),
  requester_session_id: optional(string()),
  requester_run_id: optional(string()),
  requester_tool_call_id: optional(string()),
  requester_project_ids: optional(array(string())),
  requester_channel_ids: optional(array(string())),
  parent_project_ids: optional(array(string())),
  parent_channel_ids: optional(array(string())),
}
/** Who asks, when that is another session than the one that is asked. */
export type QuestionAsker = {
  requester_agent_id?: string
  requester_session_id?: string
  requester_run_id?: string
  requester_tool_call_id?: string
  requester_project_ids?: string[]
  requester_channel_ids?: string[]
  parent_project_ids?: string[]
  parent_channel_ids?: string[]
}

/** The end of one open request. */
export interface QuestionSettlement {
  readonly run: WaitingRun
  readonly request: UserQuestionRequest
  readonly resolution: ResolvedQuestion
  /** Must be claimed in the commit that settles. */
  readonly receipt?: ReceiptKey | undefined
}
/**
 * Who settles the questions of some runs. Each method must commit in the turn of the event loop in which it is called,
 * because the request was checked to be open in that turn; all but `asker` may be called again after a crash. They
 * refuse by a problem; those of a third-party plugin have ten seconds.
 */
export interface QuestionSettler {
  asker(run: WaitingRun): QuestionAsker
  /** The operator answered or declined. */
  answer(settlement: QuestionSettlement): Promise<void>
  /** The operator cancelled the request. */
  cancel(settlement: QuestionSettlement): Promise<void>
  /** Its time is over. */
  expire(settlement: QuestionSettlement): Promise<void>
}
const settled = awaited(refusing(() => undefined))
/** The settler of a kind of runs. */
export type KindSettler = QuestionSettler & { readonly kind: RunKind }
/**
 * Settlers for kinds of runs whose questions come from elsewhere, one for each kind. The questions of all other runs
 * settle the run that asks.
 */
export const QuestionSettlers: Point<KindSettler> = withAnswers(
  definePoint<KindSettler>(
    'question-settlers@1',
    ({ kind }) => kind,
    hasMembers('who settles questions', {
      kind: 'id',
      asker: 'function',
      answer: 'function',
      cancel: 'function',
      expire: 'function',
    }),
  ),
  {
    asker: answerOf(open(questionAskerFields), {}),
    answer: settled,
    cancel: settled,
    expire: settled,
  },
)

/** An answer of a person who is known by a connector. */
export interface ActorAnswer {
  readonly resolution: UserQuestionResolution
  /** Stands with the answer in the journal. */
  readonly actor_id: string
}
/** Questions, for plugins by which people answer. */
export interface Questions {
  /**
   * Answers or declines an open request of a run; on disk when it resolves. Rejects with the problems of `POST
   * /v1/runs/{run_id}/questions`. Looks and commits in the turn of the event loop in which it is called.
   */
  resolve(run_id: string, answer: ActorAnswer): Promise<void>
}
/** Questions, for plugins by which people answer. */
export const Questions: Token<Questions> = defineToken<Questions>('questions@1')
