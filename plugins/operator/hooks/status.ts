/** The member `hooks` of the status. */
import { integer, object, optional, string, timestamp } from '../../../core/plugin.js'
import type { StatusSection } from '../status/contract.js'
import type { DeadLetters } from './dead-letters.js'
import type { HookMap } from './definitions.js'
import type { HookCounts } from './hook-run.js'

const count = () => integer({ min: 0 })

const HooksStatus = object({
  configured_count: count(),
  dead_lettered_count: count(),
  unresolved_dead_lettered_count: count(),
  last_dead_letter_at_ms: optional(timestamp()),
  last_dead_letter_hook: optional(string()),
  last_unresolved_dead_letter_at_ms: optional(timestamp()),
  last_unresolved_dead_letter_hook: optional(string()),
  execution_count: count(),
  failure_count: count(),
  retry_count: count(),
  dead_letter_persist_failure_count: count(),
})

export interface HooksStatusParts {
  readonly letters: DeadLetters
  readonly counts: HookCounts
  readonly hooks: () => HookMap
}

/** Executions, failures and retries since the start of the daemon. */
export const hooksSection = ({ letters, counts, hooks }: HooksStatusParts): StatusSection => ({
  name: 'hooks',
  schema: HooksStatus,
  collect: () => {
    const [last, open] = [letters.newest('all'), letters.newest('unresolved')]
    return {
      configured_count: Object.values(hooks()).reduce((sum, definitions) => sum + definitions.length, 0),
      dead_lettered_count: letters.collection.count('all', 'all'),
      unresolved_dead_lettered_count: letters.collection.count('unresolved', 'all'),
      ...(last !== undefined && { last_dead_letter_at_ms: last.at_ms, last_dead_letter_hook: last.hook_name }),
      ...(open !== undefined && {
        last_unresolved_dead_letter_at_ms: open.at_ms,
        last_unresolved_dead_letter_hook: open.hook_name,
      }),
      execution_count: counts.executions,
      failure_count: counts.failures,
      retry_count: counts.retries,
      dead_letter_persist_failure_count: counts.unkept,
    }
  },
})
