/** The steps of a run between its events: model answers and failed attempts, tool calls and how they ended. */
import type { Caller } from '../../../core/plugin.js'
import type { RunEventEntry, RunRecord } from './contract.js'
import type { JournalEntry } from '../sessions/contract.js'
import { eventsBySequence } from './run-events.js'
import type { RunStore } from './store.js'
import { ownEntries } from './views.js'

const stepOf = (entry: JournalEntry): RunEventEntry['event'] | undefined => {
  switch (entry.type) {
    case 'message':
      return entry.message.role === 'assistant'
        ? {
            type: 'model_answered',
            tool_names: entry.message.content.flatMap((part) => (part.type === 'tool_call' ? [part.name] : [])),
          }
        : undefined
    case 'attempt': {
      const { attempt, code, message, next_attempt_at_ms } = entry
      return { type: 'model_attempt_failed', attempt, code, message, next_attempt_at_ms }
    }
    case 'fallback':
      return { type: 'model_fallback', from: entry.from, to: entry.to }
    case 'outcome': {
      const { tool_name, tool_call_id, state: outcome } = entry
      return { type: 'tool_ended', tool_name, tool_call_id, outcome }
    }
    default:
      return undefined
  }
}

/** The events of a run with its steps between them, oldest first. */
export const runSteps = (store: RunStore, run: RunRecord, caller: Caller): RunEventEntry[] => {
  const events = eventsBySequence(store, run, caller)
  const { run_id, session_id, agent_id } = run
  return ownEntries(store, run).flatMap(({ seq, entry }) => {
    const known = events.get(seq)
    if (known !== undefined) return [known]
    const event = stepOf(entry)
    return event === undefined ? [] : [{ timestamp_ms: entry.at, run_id, session_id, agent_id, event }]
  })
}
