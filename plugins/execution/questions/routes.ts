import {
  defineRoute,
  fault,
  jsonReply,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  type ListReply,
  type PageRequest,
  type Route,
  type Skip,
  digest,
  idempotencyErrors,
  idempotencyKey,
  IdempotencyKey,
} from '../../../core/plugin.js'
import {
  noRun,
  pendingPage,
  runErrors,
  RunView,
  type ReceiptKey,
  type RunRecord,
  type WaitingRun,
} from '../runs/contract.js'
import { SessionId, sessionErrors, SessionView, type Sessions } from '../sessions/contract.js'
import { UserQuestionResolution } from './contract.js'
import { questionErrors } from './errors.js'
import { PendingQuestionView } from './pending.js'
import { cancelQuestion, resolveQuestion, type QuestionParts } from './resolve.js'

export interface QuestionRouteParts extends QuestionParts {
  readonly sessions: Sessions
  readonly skip: Skip
}

const Body = object({ idempotency_key: IdempotencyKey, resolution: UserQuestionResolution })
const sessionParams = object({ session_id: SessionId })
const runParams = object({ run_id: string({ min: 1, max: 200 }) })
const keyProblems = [idempotencyErrors.idempotency_conflict, idempotencyErrors.invalid_idempotency_key]
/** What only a tool can do wrong, when it asks. */
const { question_expiry_ambiguous: _, question_expiry_past: __, ...answerErrors } = questionErrors
const answerProblems = [...Object.values(answerErrors), ...keyProblems]

export const questionRoutes = (parts: QuestionRouteParts): readonly Route[] => [
  list(parts),
  listOfSession(parts),
  inline(parts),
  exact(parts),
  cancel(parts),
]

type Answer = { readonly idempotency_key?: string | undefined; readonly resolution: UserQuestionResolution }

const receiptOf = (
  target: string,
  header: string | undefined,
  { idempotency_key, resolution }: Answer,
): ReceiptKey | undefined => {
  const key = idempotencyKey(header, idempotency_key)
  return key === undefined ? undefined : { scope: `questions:${target}`, key, digest: digest(resolution) }
}

const pending = (
  { runs, settler, skip }: QuestionRouteParts,
  session_id: string | undefined,
  page: PageRequest,
): ListReply<PendingQuestionView> =>
  pendingPage({ waiting: runs.waiting('waiting_for_user_question'), session_id, page, skip }, (run, request_id) =>
    viewOf({ runs, settler }, run, request_id),
  )

/** A request that a run waits for, read from the journal. */
const viewOf = (
  { runs, settler }: Pick<QuestionRouteParts, 'runs' | 'settler'>,
  run: WaitingRun,
  request_id: string,
): PendingQuestionView => {
  const request = runs.openQuestions(run).find(({ id }) => id === request_id)
  if (request === undefined) throw fault('a pending question is not in the journal')
  const { session_id, agent_id, run_id, kind } = run
  return { session_id, agent_id, run_id, run_kind: kind, ...settler(kind).asker(run), request }
}

const list = (parts: QuestionRouteParts): Route =>
  defineRoute({
    id: 'questions.list',
    method: 'GET',
    path: '/v1/questions',
    summary: 'Lists questions that wait for an answer.',
    access: 'read',
    query: object({ session_id: optional(SessionId), ...pageFields }),
    reply: jsonReply(pageOf(PendingQuestionView)),
    problems: [...pageProblems],
    handler: ({ query }) => pending(parts, query.session_id, query),
  })

const listOfSession = (parts: QuestionRouteParts): Route =>
  defineRoute({
    id: 'sessions.questions.list',
    method: 'GET',
    path: '/v1/sessions/:session_id/questions',
    summary: 'Lists questions of a session that wait for an answer.',
    access: 'read',
    params: sessionParams,
    query: object(pageFields),
    reply: jsonReply(pageOf(PendingQuestionView)),
    problems: [sessionErrors.session_not_found, ...pageProblems],
    handler: ({ params, query }) => pending(parts, parts.sessions.get(params.session_id).session_id, query),
  })

/** The run of the session that asks this, the one that waits, or the last one if its question has expired. */
const targetIn = ({ runs }: QuestionRouteParts, session_id: string, request_id: string): RunRecord => {
  const [active, last] = [runs.active(session_id), runs.latest(session_id)]
  const asked = runs
    .waiting('waiting_for_user_question')
    .find((one) => one.session_id === session_id && one.pending.includes(request_id))
  const run =
    asked ?? active ?? (last !== undefined && runs.deciderOf(last, request_id) === 'timeout' ? last : undefined)
  if (run === undefined)
    throw questionErrors.question_state_conflict({
      details: { what: `session ${session_id}`, status: 'without a run that waits', run_id: last?.run_id ?? '' },
    })
  return run
}

const example = {
  body: { resolution: { request_id: 'question_1', answers: [{ question_id: 'q1', selected_option_ids: ['o1'] }] } },
}

const inline = (parts: QuestionRouteParts): Route =>
  defineRoute({
    id: 'sessions.questions.answer',
    method: 'POST',
    path: '/v1/sessions/:session_id/questions',
    summary: 'Answers or declines the open question of a session and answers when the run has ended or waits again.',
    access: 'admin',
    params: sessionParams,
    body: Body,
    example,
    idempotent: true,
    reply: jsonReply(SessionView),
    problems: [sessionErrors.session_not_found, runErrors.run_expired, ...answerProblems],
    durability: 'A',
    handler: async ({ params: { session_id }, body, idempotencyKey: header, signal, caller }) => {
      parts.sessions.get(session_id)
      const receipt = receiptOf(session_id, header, body)
      const known = parts.runs.replayed(receipt)
      const run = known ?? targetIn(parts, session_id, body.resolution.request_id)
      if (known === undefined) await resolveQuestion(parts, run, { resolution: body.resolution, receipt })
      await parts.runs.waitFor(run.run_id, signal)
      return parts.sessions.view(parts.sessions.get(session_id), caller)
    },
  })

const exact = (parts: QuestionRouteParts): Route =>
  defineRoute({
    id: 'runs.questions.answer',
    method: 'POST',
    path: '/v1/runs/:run_id/questions',
    summary: 'Answers or declines an open question of one run; it goes on by itself.',
    access: 'admin',
    params: runParams,
    body: Body,
    example,
    idempotent: true,
    reply: jsonReply(RunView, 202),
    problems: [...noRun, ...answerProblems],
    durability: 'A',
    handler: async ({ params: { run_id }, body, idempotencyKey: header, caller }) => {
      const run = parts.runs.get(run_id)
      const receipt = receiptOf(run_id, header, body)
      if (parts.runs.replayed(receipt) === undefined)
        await resolveQuestion(parts, run, { resolution: body.resolution, receipt })
      return parts.runs.view(parts.runs.get(run_id), caller)
    },
  })

const cancel = (parts: QuestionRouteParts): Route =>
  defineRoute({
    id: 'runs.questions.cancel',
    method: 'POST',
    path: '/v1/runs/:run_id/questions/:request_id/cancel',
    summary: 'Cancels the run that waits for this question; a stale id changes nothing.',
    access: 'admin',
    params: object({ run_id: string({ min: 1, max: 200 }), request_id: string({ min: 1, max: 200 }) }),
    body: object({ idempotency_key: IdempotencyKey, justification: optional(string({ max: 4000 })) }),
    bodyOptional: true,
    example: { body: { justification: 'No longer needed.' } },
    idempotent: true,
    reply: jsonReply(RunView),
    problems: [
      ...noRun,
      questionErrors.question_request_mismatch,
      questionErrors.question_state_conflict,
      questionErrors.question_expired,
      ...keyProblems,
    ],
    durability: 'A',
    handler: async ({
      params: { run_id, request_id },
      body: { idempotency_key, justification },
      idempotencyKey: header,
      caller,
    }) => {
      const run = parts.runs.get(run_id)
      const key = idempotencyKey(header, idempotency_key)
      const receipt =
        key === undefined
          ? undefined
          : { scope: `question-cancel:${run_id}`, key, digest: digest([request_id, justification ?? null]) }
      if (parts.runs.replayed(receipt) === undefined)
        await cancelQuestion(parts, run, { request_id, justification, receipt })
      return parts.runs.view(parts.runs.get(run_id), caller)
    },
  })
