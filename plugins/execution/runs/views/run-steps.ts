/** What a run did between its events, for those who ask for its steps. */
import { isJsonObject, wellFormedJson, type Json } from '../../../../core/plugin.js'
import type { InterceptedNote, JournalEntry } from '../../sessions/contract.js'
import type { ModelMessage } from '../../models/contract.js'
import { answerEnd } from '../record/answer-end.js'
import type { RunEventEntry } from './run-event-view.js'

const [mostReason, mostPages] = [500, 50]
const stableCode = /^[a-z][a-z0-9_]{0,63}$/u
/** What does not fit of an input, each with its place. */
const issuesIn = (issues: Json | undefined): string[] =>
  (Array.isArray(issues) ? issues : [])
    .filter(isJsonObject)
    .map(({ path, rule }) => `${String(path)} ${String(rule)}.`.trim())

/** What the model was told of a call that failed; a tool of others may have told it in a form of its own. */
const reasonOf = (output: Json): { readonly code?: string; readonly message?: string } => {
  const error = isJsonObject(output) ? output['error'] : output
  if (typeof error === 'string') return { message: wellFormedJson(error.slice(0, mostReason)) }
  const { code, message, issues } = isJsonObject(error) ? error : {}
  const told = [message, ...issuesIn(issues)].filter((text) => typeof text === 'string').join(' ')
  return {
    ...(typeof code === 'string' && stableCode.test(code) && { code }),
    ...(told !== '' && { message: wellFormedJson(told.slice(0, mostReason)) }),
  }
}

type Step = RunEventEntry['event']

/** One for each who ruled; what is older does not say who of several did what. */
const rulingsOf = ({ event, by, tool_call_id, parts, ...changes }: InterceptedNote): Step[] => {
  const { blocked, permission, input, output_changed, contexts, gave_rules } = changes
  const all = {
    by: by.join(', '),
    did: [
      ...(blocked === undefined ? [] : ['block' as const]),
      ...(permission === undefined ? [] : [permission]),
      ...(input === undefined ? [] : ['input' as const]),
      ...(output_changed === undefined ? [] : ['output' as const]),
      ...(contexts === undefined ? [] : ['context' as const]),
      ...(gave_rules === undefined ? [] : ['rules' as const]),
    ],
    ...(blocked !== undefined && { reason: blocked.slice(0, mostReason) }),
  }
  return (parts ?? [all]).map(({ reason, ...part }) => ({
    type: 'intercepted',
    moment: event,
    ...part,
    ...(tool_call_id !== undefined && { tool_call_id }),
    ...(reason !== undefined && { reason: wellFormedJson(reason) }),
  }))
}

/** What all searches of one answer were for, and found. */
const searchedIn = ({ content }: ModelMessage): Step[] => {
  const searches = content.filter((part) => part.type === 'search')
  if (searches.length === 0) return []
  const failed = searches.find((part) => part.failed !== undefined)?.failed
  const short = (text: string): string => wellFormedJson(text.slice(0, mostReason))
  return [
    {
      type: 'model_searched',
      queries: searches.flatMap(({ queries }) => queries.map(short)),
      pages: searches
        .flatMap(({ pages }) => pages)
        .slice(0, mostPages)
        .map(({ url, title }) => ({ url, title: short(title) })),
      ...(failed !== undefined && { failed: short(failed) }),
    },
  ]
}

const answeredBy = (entry: Extract<JournalEntry, { type: 'message' }>, { content }: AssistantMessage): Step => {
  const { not_taken } = entry
  const ended = answerEnd(content, entry)
  return {
    type: 'model_answered',
    tool_names: content.flatMap((part) => (part.type === 'tool_call' ? [part.name] : [])),
    ...(not_taken !== undefined && { not_taken: wellFormedJson(not_taken.slice(0, mostReason)) }),
    ...(ended !== undefined && { ended }),
  }
}
type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>

/** Steps of a run that an entry of its journal tells of. */
export const stepsOf = (entry: JournalEntry): Step[] => {
  switch (entry.type) {
    case 'message':
      return entry.message.role === 'assistant' ? [...searchedIn(entry.message), answeredBy(entry, entry.message)] : []
    case 'attempt': {
      const { attempt, code, message, next_attempt_at_ms } = entry
      return [{ type: 'model_attempt_failed', attempt, code, message, next_attempt_at_ms }]
    }
    case 'held': {
      const { attempt, until_ms } = entry
      return [{ type: 'model_call_held', attempt, until_ms }]
    }
    case 'fallback': {
      const { from, to, attempt, code, message } = entry
      return [
        {
          type: 'model_fallback',
          from,
          to,
          ...(attempt !== undefined && { attempt }),
          ...(code !== undefined && { code }),
          ...(message !== undefined && { message }),
        },
      ]
    }
    case 'compaction': {
      const { cause, messages, tokens_before, tokens_after } = entry
      return [{ type: 'compacted', cause, messages, tokens_before, tokens_after }]
    }
    case 'compaction_failed': {
      const { cause, code, message, given_up } = entry
      return [{ type: 'compaction_failed', cause, code, message, ...(given_up !== undefined && { given_up }) }]
    }
    case 'audit': {
      const { tool_name, tool_call_id = '', grant_id, reason } = entry.audit
      return grant_id === undefined
        ? []
        : [{ type: 'tool_granted', tool_name, tool_call_id, grant_id, message: reason ?? '' }]
    }
    case 'intercepted':
      return rulingsOf(entry)
    case 'outcome': {
      const { tool_name, tool_call_id, state: outcome, output, files } = entry
      const reason = outcome === 'done' ? {} : reasonOf(output)
      return [
        { type: 'tool_ended', tool_name, tool_call_id, outcome, ...reason, ...(files !== undefined && { files }) },
      ]
    }
    default:
      return []
  }
}
