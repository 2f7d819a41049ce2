/** Folds the journal of a session into its thread, entry by entry. */
import { assertNever } from '../../../../core/plugin.js'
import { namesOf } from '../../interception/contract.js'
import type { ActionGrounds } from '../../external-actions/contract.js'
import { fileLine, type AttachmentRef } from '../../../media/assets/contract.js'
import type { ModelMessage, TextPart, ToolResultPart } from '../../models/contract.js'
import { callFailure } from '../../tools/contract.js'
import { callErrors } from '../../runs/contract.js'
import type { InterceptedNote, JournalEntry, RunEvent } from '../../sessions/contract.js'
import { added, isPicture, mentionOf } from '../prompt/mention.js'
import { foldCompaction, foldFailedCompaction } from './compacted.js'
import { weigh, weighJson } from './weight.js'
import type { Texts, Thread } from './thread.js'
import { groundsOf, beginProgress, countFailure, type Call, type Progress } from './turn.js'

export const foldEntry = (thread: Thread, seq: number, entry: JournalEntry): void => {
  thread.seq = seq
  switch (entry.type) {
    case 'event':
      return foldEvent(thread, entry.run_id, entry.event)
    case 'message':
      return foldMessage(thread, entry.message)
    case 'intent':
      if (thread.progress !== undefined) thread.progress.acted = true
      return setState(thread, entry.tool_call_id, intended)
    case 'outcome':
      if (entry.files !== undefined) setFiles(thread, entry.tool_call_id, entry.files)
      return foldOutcome(thread, entry.tool_call_id, {
        type: 'tool_result',
        tool_call_id: entry.tool_call_id,
        // Earlier versions took a result without an output.
        output: entry.output ?? null,
        is_error: entry.state !== 'done',
      })
    case 'audit':
      return setGrounds(thread, entry.audit.tool_call_id, groundsOf(entry.audit))
    case 'intercepted':
      return entry.event === 'user_prompt_submit' ? foldPrompt(thread, entry) : foldIntercepted(thread, entry)
    case 'attempt':
      if (entry.code === 'context_length' && thread.progress !== undefined) thread.progress.overflow ??= 'refused'
      return countAttempt(thread)
    case 'fallback':
      return countAttempt(thread)
    case 'compaction':
      return foldCompaction(thread, entry)
    case 'compaction_failed':
      return foldFailedCompaction(thread)
    case 'baseline':
    case 'usage':
    case 'held':
    case 'recovery':
    case 'session':
      return
    default:
      assertNever(entry)
  }
}

const countAttempt = ({ progress }: Thread): void => {
  if (progress !== undefined) progress.failed += 1
}

const push = (thread: Thread, message: ModelMessage): void => {
  thread.messages.push(message)
  thread.seqs.push(thread.seq)
  thread.weighed += weigh(message)
  trim(thread)
}

const foldEvent = (thread: Thread, run_id: string, event: RunEvent): void => {
  switch (event.type) {
    case 'accepted':
      thread.inputs.set(run_id, textsOf(event))
      return
    case 'started':
      return foldStart(thread, run_id)
    case 'waiting_for_approval':
      for (const { id, tool_call_id } of event.requests)
        setState(thread, tool_call_id, () => ({ type: 'asked', request_id: id }))
      return
    case 'waiting_for_user_question':
      for (const { id, tool_call_id } of event.requests)
        setState(thread, tool_call_id, () => ({ type: 'questioned', request_id: id }))
      return
    case 'approval_resolved':
      for (const resolution of event.resolutions) {
        const call = thread.progress?.calls.find(
          ({ state }) => state.type === 'asked' && state.request_id === resolution.request_id,
        )
        if (call === undefined || resolution.behavior !== 'allow') continue
        call.state = {
          type: 'ready',
          input: resolution.updated_input ?? call.input,
          digest: resolution.input_digest,
        }
        call.grounds = { type: 'approval', id: resolution.request_id }
      }
      return
    case 'completed':
    case 'failed':
    case 'interrupted':
    case 'cancelled':
      thread.inputs.delete(run_id)
      if (thread.progress?.run_id === run_id) endProgress(thread)
      return
    case 'queued':
    case 'output':
    case 'user_question_resolved':
    case 'parent_clarification_resolved':
      return
    default:
      assertNever(event)
  }
}

/** A summary counts as what the first run begins with. */
const firstOr = ({ starts, summed, weighed }: Thread): number => (summed && starts.length === 0 ? 0 : weighed)

/** Of a run that fell in part, the rest is left out too. */
const foldStart = (thread: Thread, run_id: string): void => {
  endProgress(thread)
  const texts = thread.inputs.get(run_id) ?? thread.find(run_id)
  if (texts === undefined) return
  thread.progress = beginProgress(run_id)
  thread.starts.push({ run_id, seq: thread.seq, at: thread.messages.length, before: firstOr(thread) })
  push(thread, { role: 'user', content: [...texts] })
  thread.inputs.delete(run_id)
}

/** What was said in a run whose beginning is not in the part that was read is left out, as its results are. */
const foldMessage = (thread: Thread, message: ModelMessage): void => {
  if (thread.progress === undefined) return
  push(thread, message)
  if (message.role !== 'assistant') return
  const parts = message.content.filter((part) => part.type === 'tool_call')
  thread.progress.turns += 1
  thread.progress.failed = 0
  thread.progress.overflow = undefined
  thread.progress.output_bytes = 0
  thread.progress.envelope_bytes = 0
  thread.progress.called += parts.length
  thread.progress.calls = parts.map((part) => ({
    part,
    input: part.input,
    state: { type: 'ready', input: part.input },
  }))
}

const setState = (thread: Thread, tool_call_id: string, state: (call: Call) => Call['state']): void => {
  const call = thread.progress?.calls.find(({ part }) => part.id === tool_call_id)
  if (call !== undefined && call.state.type !== 'done') call.state = state(call)
}

const intended = ({ state, input }: Call): Call['state'] => ({
  type: 'intended',
  input: state.type === 'ready' || state.type === 'intended' ? state.input : input,
  attempts: state.type === 'intended' ? state.attempts + 1 : 1,
})

const setGrounds = (thread: Thread, tool_call_id: string | undefined, grounds: ActionGrounds): void => {
  const call = thread.progress?.calls.find(({ part }) => part.id === tool_call_id)
  if (call !== undefined) call.grounds = grounds
}

const setFiles = (thread: Thread, tool_call_id: string, files: readonly AttachmentRef[]): void => {
  const call = thread.progress?.calls.find(({ part }) => part.id === tool_call_id)
  if (call !== undefined && call.state.type !== 'done') call.files = files
}

const said = (text: string): TextPart => ({ type: 'text', text })

/** What was submitted: words, then files. */
export const textsOf = ({ content, files = [] }: Extract<RunEvent, { type: 'accepted' }>): Texts => [
  ...(content === '' && files.length > 0 ? [] : [said(content)]),
  ...files.map(mentionOf),
]

/** What a run is told, once interceptors have seen it: `texts` are what was submitted. */
export const toldAfter = (texts: Texts, { input, contexts = [] }: InterceptedNote): Texts => [
  ...(typeof input === 'string' ? [said(input), ...texts.filter(({ file }) => file !== undefined)] : texts),
  ...contexts.map(added),
]

const foldPrompt = ({ inputs }: Thread, entry: InterceptedNote & { readonly run_id: string }): void => {
  const texts = inputs.get(entry.run_id)
  if (texts !== undefined) inputs.set(entry.run_id, toldAfter(texts, entry))
}

/** An input that changes after its approval no longer has the digest that was approved: the call is not made. */
const foldIntercepted = ({ progress }: Thread, note: InterceptedNote): void => {
  const { event, tool_call_id, blocked, permission, input, contexts } = note
  if (progress === undefined) return
  if (event === 'stop' && blocked !== undefined) progress.held += 1
  const call = progress.calls.find(({ part }) => part.id === tool_call_id)
  if (call === undefined) return
  if (permission === 'allow')
    call.grounds = { type: 'configuration', id: `hook:${namesOf(note, permission).join(',')}` }
  if (contexts !== undefined) call.contexts = [...(call.contexts ?? []), ...contexts]
  if (input === undefined) return
  call.input = input
  if (call.state.type === 'ready') call.state = { ...call.state, input }
}

/** The result of a call bears the name of its call, whatever the outcome was recorded under. */
const foldOutcome = (thread: Thread, tool_call_id: string, outcome: Omit<ToolResultPart, 'name'>): void => {
  const { progress } = thread
  const call = progress?.calls.find(({ part }) => part.id === tool_call_id)
  if (progress === undefined || call === undefined || call.state.type === 'done') return
  const result: ToolResultPart = { ...outcome, name: call.part.name }
  countFailure(progress, call, result)
  progress.output_bytes += weighJson(result.output)
  progress.envelope_bytes += weighJson(result)
  call.state = { type: 'done', result }
  if (progress.calls.every(({ state }) => state.type === 'done')) pushResults(thread, progress)
}

/** Pictures are shown, if the model takes such; of other files there is a line. */
const givenBy = (name: string, files: readonly AttachmentRef[]): TextPart[] =>
  files.length === 0
    ? []
    : [
        said(`Files that ${name} gave:`),
        ...files.map((file) => (isPicture(file) ? mentionOf(file) : said(fileLine(file)))),
      ]

/**
 * Pairs every call with a result: its own, or one that says it has none. What interceptors have to say about them, and
 * files that they gave, come after all of them.
 */
const pushResults = (thread: Thread, progress: Progress): void => {
  push(thread, {
    role: 'tool',
    content: progress.calls.map(({ part, state }) =>
      state.type === 'done' ? state.result : unfinished(part.id, part.name, state.type === 'intended'),
    ),
  })
  const content = [
    ...progress.calls.flatMap(({ contexts = [] }) => contexts.map(said)),
    ...progress.calls.flatMap(({ part, files = [] }) => givenBy(part.name, files)),
  ]
  if (content.length > 0) push(thread, { role: 'user', content, beside_results: true })
}

const unfinished = (tool_call_id: string, name: string, acted: boolean): ToolResultPart => ({
  type: 'tool_result',
  tool_call_id,
  name,
  is_error: true,
  output: callFailure(acted ? callErrors.call_outcome_lost() : callErrors.call_not_made()),
})

const endProgress = (thread: Thread): void => {
  const { progress } = thread
  if (progress !== undefined && progress.calls.some(({ state }) => state.type !== 'done')) pushResults(thread, progress)
  thread.progress = undefined
}

/**
 * Leaves out the oldest runs when the messages weigh more than the limit, down to half of it, but no part of a run and
 * not the summary of what was before them. It
 * is a part of folding, so that folding from where the oldest kept run begins comes to the same messages.
 */
const trim = (thread: Thread): void => {
  const { starts, weighed, limit } = thread
  const [oldest] = starts
  const newest = starts.at(-1)
  if (oldest === undefined || newest === undefined || weighed - oldest.before <= limit) return
  const cut = starts.find(({ before }) => weighed - before <= limit / 2) ?? newest
  if (cut === oldest) return
  thread.lacking = !thread.alone
  thread.moved = true
  const head = thread.summed ? thread.messages.slice(0, 1) : []
  const weight = head.reduce((sum, message) => sum + weigh(message), 0)
  thread.messages = [...head, ...thread.messages.slice(cut.at)]
  thread.seqs = [...head.map(() => 0), ...thread.seqs.slice(cut.at)]
  thread.starts = starts.slice(starts.indexOf(cut)).map((start, index) => ({
    ...start,
    at: start.at - cut.at + head.length,
    before: index === 0 ? start.before - weight : start.before,
  }))
}
