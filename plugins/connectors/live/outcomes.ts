/** What became of a request, as a sentence: read from the journal, whoever decided. */
import { assertNever, digest, visibleLine } from '../../../core/plugin.js'
import type {
  ApprovalRequest,
  ResolvedApproval,
  ResolvedQuestion,
  RunEvent,
  UserQuestionRequest,
} from '../../execution/sessions/contract.js'
import type { RunRecord, Runs } from '../../execution/runs/contract.js'
import { cutTo } from './cut.js'
import type { AskRecord } from './store.js'

/** What is asked, as the run asks it. */
export type Asked =
  | { readonly subject: 'approval'; readonly request: ApprovalRequest }
  | { readonly subject: 'question'; readonly request: UserQuestionRequest }

/** What names exactly what is shown. */
export const digestOf = (asked: Asked): string =>
  asked.subject === 'approval'
    ? digest([asked.request.id, asked.request.tool_name, asked.request.cwd ?? null, asked.request.input])
    : digest([asked.request.id, asked.request.questions])

/** What a run waits for now, in its order. */
export const openIn = (runs: Runs, run: RunRecord): Asked[] => [
  ...runs.openApprovals(run).map((request): Asked => ({ subject: 'approval', request })),
  ...runs.openQuestions(run).map((request): Asked => ({ subject: 'question', request })),
]

/** The request of a message as long as it is open, and is what was shown. */
export const openAsked = (runs: Runs, run: RunRecord | undefined, ask: AskRecord): Asked | undefined => {
  if (run === undefined) return undefined
  const asked = openIn(runs, run).find(({ request }) => request.id === ask.request_id)
  return asked !== undefined && digestOf(asked) === ask.digest ? asked : undefined
}

/** The request of a message, open or not; undefined where it is not kept any more. */
export const everAsked = (runs: Runs, ask: AskRecord): Asked | undefined => {
  const run = runs.find(ask.run_id)
  if (run === undefined) return undefined
  for (const { entry } of runs.entries(run, ask.waiting - 1)) {
    const event = entry.type === 'event' ? entry.event : undefined
    return event === undefined ? undefined : askedIn(event, ask.request_id)
  }
  return undefined
}

const askedIn = (event: RunEvent, request_id: string): Asked | undefined => {
  if (event.type === 'waiting_for_approval') {
    const request = event.requests.find(({ id }) => id === request_id)
    return request && { subject: 'approval', request }
  }
  if (event.type === 'waiting_for_user_question') {
    const request = event.requests.find(({ id }) => id === request_id)
    return request && { subject: 'question', request }
  }
  return undefined
}

type Resolution =
  | { readonly subject: 'approval'; readonly of: ResolvedApproval }
  | { readonly subject: 'question'; readonly of: ResolvedQuestion }

const resolutionOf = (runs: Runs, ask: AskRecord): Resolution | undefined => {
  const run = runs.find(ask.run_id)
  if (run === undefined) return undefined
  for (const { entry } of runs.entries(run, ask.waiting)) {
    const event = entry.type === 'event' ? entry.event : undefined
    if (event?.type === 'approval_resolved') {
      const of = event.resolutions.find(({ request_id }) => request_id === ask.request_id)
      if (of !== undefined) return { subject: 'approval', of }
    }
    if (event?.type === 'user_question_resolved' || event?.type === 'parent_clarification_resolved')
      if (event.resolution.request_id === ask.request_id) return { subject: 'question', of: event.resolution }
  }
  return undefined
}

/** Somebody as a sentence names them, without a sign that is not seen. */
const nameIn = (name: string): string => cutTo(visibleLine(name), 80)

/** Who decided: a person of this connector by id, and name where it is known: anybody may be called an operator. */
const decider = (ask: AskRecord, actor_id: string | undefined, name: string | undefined): string => {
  if (actor_id === undefined) return 'an operator'
  const own = `${ask.plugin}:${ask.connector}:`
  const id = nameIn(actor_id.startsWith(own) ? actor_id.slice(own.length) : actor_id)
  return name === undefined ? id : `${nameIn(name)} (${id})`
}

/** One sentence. `name` is what the person is called that decided here. */
export const outcomeOf = (runs: Runs, ask: AskRecord, name?: string): string => {
  const resolution = resolutionOf(runs, ask)
  if (resolution === undefined) return 'This is no longer open.'
  const { decided_by, actor_id } = resolution.of
  const who = decider(ask, actor_id, name)
  switch (decided_by) {
    case 'operator':
      return `${didOf(resolution)} by ${who}.`
    case 'policy':
      return `${didOf(resolution)} by a rule.`
    case 'timeout':
      return 'Nobody decided in time.'
    case 'cancel':
      return 'Withdrawn: the run was stopped.'
    case 'recovery':
      return 'Withdrawn: the daemon was started anew.'
    default:
      return assertNever(decided_by)
  }
}

const didOf = (resolution: Resolution): string => {
  if (resolution.subject === 'question') return resolution.of.declined ? 'Declined' : 'Answered'
  return resolution.of.behavior === 'allow' ? 'Allowed' : 'Denied'
}
