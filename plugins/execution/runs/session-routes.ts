import {
  array,
  boolean,
  clampLimit,
  committed,
  defineRoute,
  doc,
  integer,
  json,
  jsonObject,
  jsonReply,
  object,
  optional,
  pageProblems,
  string,
  type Infer,
  type Route,
  type RouteInput,
  fingerprint,
  idempotencyKey,
  IdempotencyKey,
} from '../../../core/plugin.js'
import {
  DaemonOutputRecord,
  ManagedAgentSnapshot,
  SessionId,
  SessionInterrupted,
  SessionView,
  sessionErrors,
  type SessionRecord,
} from '../sessions/contract.js'
import { modelErrors } from '../models/contract.js'
import { RunEventEntry, RunView, submitFields, type RunRecord, type Submission } from './contract.js'
import { JournalView, sessionLog } from './views/session-log.js'
import type { RouteContext } from './routes.js'
import { endRuns, interruptSession } from './lifecycle/stop.js'
import { fileBytesOf, mostSubmissionBytes } from './submission/input.js'
import { submitProblems } from './submission/problems.js'
import { submitRun } from './submission/submit.js'

const params = object({ session_id: SessionId })
const SubmitBody = object({ idempotency_key: IdempotencyKey, ...submitFields })
export const sessionRunRoutes = (all: RouteContext): readonly Route[] => [
  input(all),
  submit(all),
  interrupt(all),
  end(all),
  compact(all),
  events(all),
]

type SubmitBody = Infer<typeof SubmitBody>
type Asked = RouteInput<Infer<typeof params>, unknown, SubmitBody>

/** Files may come in the request itself. */
const withFiles = { bodyLimit: mostSubmissionBytes, fileBytes: (body: SubmitBody): number => fileBytesOf(body) }

/** The body apart: what the run is told, and the key that names the request. */
const submissionOf = ({ params: { session_id }, body, idempotencyKey: header, hashes }: Asked): Submission => {
  const key = idempotencyKey(header, body.idempotency_key)
  const { idempotency_key: _, ...input } = body
  return {
    session_id,
    input,
    ...(key !== undefined && { receipt: { scope: `runs:${session_id}`, key, digest: fingerprint(input, hashes) } }),
  }
}

const input = ({ context, runs }: RouteContext): Route =>
  defineRoute({
    id: 'sessions.input',
    method: 'POST',
    path: '/v1/sessions/:session_id/input',
    summary:
      'Executes a run and answers when it has ended or waits for a person, or when the daemon is told to stop: ' +
      'then the run goes on after the next start.',
    access: 'admin',
    params,
    body: SubmitBody,
    ...withFiles,
    idempotent: true,
    reply: jsonReply(SessionView),
    problems: submitProblems,
    durability: 'A',
    example: { body: { content: 'Hello' } },
    handler: async (asked) => {
      const { run } = await submitRun(context, { ...submissionOf(asked), alone: true })
      asked.release()
      await runs.waitFor(run.run_id, asked.signal)
      return context.sessions.view(context.sessions.get(run.session_id), asked.caller)
    },
  })

const submit = ({ context, runs }: RouteContext): Route =>
  defineRoute({
    id: 'sessions.runs.create',
    method: 'POST',
    path: '/v1/sessions/:session_id/runs',
    summary: 'Accepts a run, which is executed when its turn comes.',
    access: 'admin',
    params,
    body: SubmitBody,
    ...withFiles,
    idempotent: true,
    reply: jsonReply(RunView, 202),
    problems: submitProblems,
    durability: 'A',
    example: { body: { content: 'Hello' } },
    handler: async (asked) => {
      const { run, seen } = await submitRun(context, submissionOf(asked))
      return seen === undefined ? runs.view(run, asked.caller) : committed(seen)
    },
  })

const interrupt = ({ context }: RouteContext): Route =>
  defineRoute({
    id: 'sessions.interrupt',
    method: 'POST',
    path: '/v1/sessions/:session_id/interrupt',
    summary: 'Ends the active run of a session; queued runs stay and the next one starts.',
    access: 'admin',
    params,
    body: object({}),
    bodyOptional: true,
    reply: jsonReply(object({ interrupted: boolean(), snapshot: ManagedAgentSnapshot })),
    problems: [sessionErrors.session_not_found],
    durability: 'A',
    handler: async ({ params: { session_id } }) => {
      const { agent_id } = context.sessions.get(session_id)
      const interrupted = await interruptSession(context, session_id, { kind: 'interrupt' })
      if (interrupted)
        context.events.emit(SessionInterrupted, { session: session_id }, () => ({ session_id, agent_id }))
      return { interrupted, snapshot: context.sessions.snapshot(context.sessions.get(session_id)) }
    },
  })

const end = ({ context }: RouteContext): Route =>
  defineRoute({
    id: 'sessions.end',
    method: 'POST',
    path: '/v1/sessions/:session_id/end',
    summary: 'Ends a session: queued runs are cancelled and the active one is interrupted.',
    access: 'admin',
    params,
    body: object({ reason: optional(string({ max: 4000 })) }),
    example: { body: { reason: 'The work is done.' } },
    bodyOptional: true,
    reply: jsonReply(SessionView),
    problems: [sessionErrors.session_not_found, sessionErrors.session_end_refused],
    durability: 'A',
    handler: async ({ params: { session_id }, body: { reason }, caller }) => {
      const session = context.sessions.get(session_id)
      const stop = {
        kind: 'end' as const,
        reason: `session_ended: the session was ended${reason === undefined ? '.' : `: ${reason}`}`,
      }
      if (session.ended_at_ms === undefined) {
        await context.store.state.commit((tx) => {
          context.sessions.end(tx, session_id, reason)
          endRuns(context, tx, { session_id, stop })
        })
        tellEnded(context, session, reason)
      }
      await interruptSession(context, session_id, stop)
      return context.sessions.view(context.sessions.get(session_id), caller)
    },
  })

const tellEnded = (
  { interception }: RouteContext['context'],
  { session_id, agent_id }: SessionRecord,
  reason: string | undefined,
): void =>
  interception()?.tell({
    event: 'session_end',
    session_id,
    agent_id,
    payload: { ...(reason !== undefined && { reason }) },
  })

const compact = ({ context, runs }: RouteContext): Route =>
  defineRoute({
    id: 'sessions.compact',
    method: 'POST',
    path: '/v1/sessions/:session_id/compact',
    summary:
      'Sums up the conversation of a session in which nothing runs: its older part stays in the journal, and models ' +
      'are shown a summary in its place.',
    access: 'admin',
    params,
    body: object({
      instructions: optional(doc(string({ min: 1, max: 4000 }), 'What the model that sums up is told beside.')),
    }),
    bodyOptional: true,
    example: { body: { instructions: 'Keep every file name.' } },
    reply: jsonReply(
      object({
        compacted: boolean(),
        code: optional(doc(string(), 'Why it was not, such as `nothing_to_compact`.')),
        message: optional(string()),
        tokens_before: optional(doc(integer(), 'Of the prompt, as they are reckoned.')),
        tokens_after: optional(doc(integer(), 'Of the prompt, as they are reckoned.')),
        messages: optional(doc(integer(), 'How many messages the summary stands for.')),
      }),
    ),
    problems: [
      sessionErrors.session_not_found,
      sessionErrors.session_not_idle,
      modelErrors.bad_request,
      modelErrors.route_not_ready,
    ],
    durability: 'A',
    handler: ({ params: { session_id }, body: { instructions: wish }, signal }) => {
      context.sessions.get(session_id)
      context.sessions.requireIdle(session_id)
      const run = runs.latest(session_id)
      return run === undefined
        ? { compacted: false, code: 'nothing_to_compact', message: 'Nothing was said in this session.' }
        : context.executor.compact(summedBy(context, run), { wish, signal })
    },
  })

/** The run with the route that the next one would have, where its own is gone. */
const summedBy = ({ models, sessions }: RouteContext['context'], run: RunRecord): RunRecord => {
  if (models.find(run.provider) !== undefined) return run
  const { route_policy: { provider = models.default_route, generation } = {} } = sessions.get(run.session_id)
  const route = models.find(provider)
  if (route !== undefined) return { ...run, provider, model: generation?.model ?? route.model }
  const reason = 'it is not configured any more; set the route policy of the session'
  throw modelErrors.route_not_ready({ details: { route_id: provider, reason } })
}

/** Journal entries of one answer, at most. */
const mostEntries = 10_000

const events = ({ context }: RouteContext): Route =>
  defineRoute({
    id: 'sessions.events',
    method: 'GET',
    path: '/v1/sessions/:session_id/events',
    summary:
      'Reads the journal of a session, its outputs and the events of its runs: the newest entries, or those after ' +
      'one, as many as fit into 2 MiB.',
    access: 'read',
    params,
    query: object({
      after: optional(doc(integer({ min: 0 }), 'Only journal entries beyond this sequence.')),
      limit: optional(
        doc(
          integer(),
          `Most journal entries, 1 to ${mostEntries}, 2000 when absent; larger values mean ${mostEntries}.`,
        ),
      ),
    }),
    reply: jsonReply(
      object({
        session: object({
          session_id: doc(string(), 'Id of the session.'),
          journal: array(JournalView),
          checkpoints: array(json()),
          audits: array(json()),
          outputs: doc(array(DaemonOutputRecord), 'What was put out.'),
          metadata: jsonObject(),
          first_seq: optional(
            doc(integer({ min: 2 }), 'The oldest entry that is kept; those before it fell. Absent where none did.'),
          ),
        }),
        daemon_outputs: array(DaemonOutputRecord),
        run_events: array(RunEventEntry),
      }),
    ),
    problems: [sessionErrors.session_not_found, pageProblems[0]],
    handler: ({ params: { session_id }, query: { after, limit }, caller }) =>
      sessionLog(context, context.sessions.get(session_id), {
        after,
        limit: limit === undefined ? undefined : clampLimit(limit, mostEntries),
        caller,
      }),
  })
