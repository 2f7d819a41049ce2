/** What interceptors make of the steps of a run. Their rulings are journal entries, so that nobody is asked twice. */
import type { JsonObject } from '../../../core/plugin.js'
import { strictest, whoDid, type Invocation, type Moment, type Ruling } from '../interception/contract.js'
import type { InterceptedNote } from '../sessions/contract.js'
import type { ToolCallPart } from '../models/contract.js'
import { additionsOf, callErrors, lockedCall, noteOf } from '../runs/contract.js'
import type { Execution } from './execution.js'
import { judgeCall, refused, type Place, type Verdict } from './permission.js'
import type { Invoked, Ready } from './tool-call.js'

/** True if somebody looks at this moment: without interceptors nothing is put together. */
export const isWatched = ({ context }: Execution, event: Moment): boolean =>
  context.interception()?.wants(event) === true

const invocationOf = (
  { context, session_id, agent_id, run_id, folder, place, controller }: Execution,
  event: Moment,
  about: Pick<Invocation, 'subject' | 'payload'>,
): Invocation => ({
  event,
  session_id,
  agent_id,
  run_id,
  ...(folder.path !== context.tools.workspace && { cwd: folder.path }),
  ...about,
  waitFor: (work) => place.lend(work, controller.signal),
})

/** Undefined if nobody looks, or nobody has anything to say. */
export const askAbout = async (
  execution: Execution,
  event: Moment,
  about: () => Pick<Invocation, 'subject' | 'payload'>,
): Promise<Ruling | undefined> => {
  if (!isWatched(execution, event)) return undefined
  const invocation = invocationOf(execution, event, about())
  const ruling = await execution.context.interception()?.ask(invocation, execution.controller.signal)
  return ruling === undefined || ruling.by.length === 0 ? undefined : ruling
}

/** A call with what was decided about it, and what interceptors had to do with that. */
export interface Judged {
  readonly call: ToolCallPart
  readonly verdict: Verdict
  readonly notes: readonly InterceptedNote[]
}

const callFacts = ({ id, name, input }: ToolCallPart): JsonObject => ({
  tool_name: name,
  tool_input: input,
  tool_call_id: id,
})

const blockedBy = (ruling: Ruling, reason: string): Verdict => {
  const details = { who: whoDid(ruling, 'block') }
  const problem = (ruling.locked === true ? lockedCall : callErrors).call_denied_by_hook({ details })
  return { type: 'settled', state: 'refused', ...refused(problem, { reason }) }
}

const changedBy = (ruling: Ruling | undefined, call: ToolCallPart): ToolCallPart =>
  ruling?.updated_input === undefined ? call : { ...call, input: ruling.updated_input }

/** By what was said last, and how strict all of it is together. */
const judgeBy = (execution: Execution, call: ToolCallPart, { place, said, ruling = said }: RuledPlace): Verdict =>
  said.block === undefined ? judgeCall(execution, call, { ...place, ruling }) : blockedBy(said, said.block)

interface RuledPlace {
  readonly place: Place
  readonly said: Ruling
  readonly ruling?: Ruling
}

/**
 * Asks before a call is judged: what becomes of its input then is what the permission rules and the approval are about.
 */
export const judgeWatched = async (execution: Execution, call: ToolCallPart, place: Place): Promise<Judged> => {
  const plain = judgeCall(execution, call, place)
  const notes: InterceptedNote[] = []
  if (plain.type === 'settled' && plain.state === 'failed') return { call, verdict: plain, notes }
  const ask = async (event: Moment, about: ToolCallPart): Promise<Ruling | undefined> => {
    const ruling = await askAbout(execution, event, () => ({ subject: about.name, payload: callFacts(about) }))
    const note = ruling && noteOf(event, call.id, event === 'permission_denied' ? additionsOf(ruling) : ruling)
    if (note !== undefined) notes.push(note)
    return ruling
  }
  const before = await ask('pre_tool_use', call)
  let made = changedBy(before, call)
  let verdict = before === undefined ? plain : judgeBy(execution, made, { place, said: before })
  const asked = verdict.type === 'ask' ? await ask('permission_request', made) : undefined
  if (asked !== undefined) {
    made = changedBy(asked, made)
    const ruling = before === undefined ? asked : strictest(before, asked)
    verdict = judgeBy(execution, made, { place, said: asked, ruling })
  }
  if (verdict.type === 'settled' && verdict.state === 'refused') await ask('permission_denied', made)
  return { call: made, verdict, notes }
}

/** What is recorded of an invocation, once interceptors have seen it. */
export interface Seen {
  readonly invoked: Invoked
  readonly note?: InterceptedNote | undefined
}

const failureOf = (invoked: Invoked): JsonObject =>
  invoked.type === 'result' ? { tool_output: invoked.output } : { error: invoked.type }

/** Asks about the outcome of a call before it is recorded. */
export const seeOutcome = async (execution: Execution, { call, input }: Ready, invoked: Invoked): Promise<Seen> => {
  if (invoked.type === 'ask') return { invoked }
  const failed = invoked.type !== 'result' || invoked.is_error === true
  const event = failed ? 'post_tool_use_failure' : 'post_tool_use'
  const ruling = await askAbout(execution, event, () => ({
    subject: call.part.name,
    payload: { ...callFacts({ ...call.part, input }), ...failureOf(invoked) },
  }))
  if (ruling === undefined) return { invoked }
  const note = noteOf(
    event,
    call.part.id,
    Object.assign({}, ruling, { updated_input: undefined, permission: undefined }),
  )
  if (invoked.type !== 'result' || failed) return { invoked, note }
  if (ruling.block !== undefined)
    return { invoked: { ...invoked, files: undefined, is_error: true, ...blockedOutput(ruling) }, note }
  return {
    invoked:
      ruling.updated_output === undefined ? invoked : { ...invoked, files: undefined, output: ruling.updated_output },
    note,
  }
}

const blockedOutput = (ruling: Ruling) =>
  refused(callErrors.output_withheld_by_hook({ details: { who: whoDid(ruling, 'block') } }), {
    reason: ruling.block ?? '',
  })

/** How often interceptors may hold up the end of one run. */
const mostHolds = 3

/** What was said about the end of a run: with a reason it may not end with this answer. */
interface Said {
  readonly note: InterceptedNote
  readonly reason: string | undefined
}

/** Asks whether a run may end with an answer; undefined if nobody has anything to say. */
export const holdEnd = async (
  execution: Execution,
  { held, said }: { readonly held: number; readonly said: string },
): Promise<Said | undefined> => {
  if (held >= mostHolds) return undefined
  const ruling = await askAbout(execution, 'stop', () => ({
    payload: { stop_hook_active: held > 0, last_assistant_message: said },
  }))
  if (ruling === undefined) return undefined
  const { block: reason } = ruling
  const counted = Object.assign(additionsOf(ruling), { contexts: [] }, reason !== undefined && { block: reason })
  const note = noteOf('stop', undefined, counted)
  return note && { note, reason }
}
