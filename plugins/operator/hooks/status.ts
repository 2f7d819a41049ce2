/** The member `hooks` of the status. */
import {
  array,
  commandLine,
  count as counted,
  doc,
  integer,
  object,
  optional,
  sentence,
  shellWord,
  string,
  timestamp,
  visibleLine,
  type HealthCheck,
  type List,
  type Warning,
} from '../../../core/plugin.js'
import type { StatusSection } from '../status/contract.js'
import type { DeadLetters } from './dead-letters.js'
import { executorFault, notFired, type CheckParts, type HookMap } from './definitions.js'
import type { HookCounts } from './hook-run.js'
import { createFitting, type HookTools } from './matching/fitting.js'

const count = () => integer({ min: 0 })

const HooksStatus = object({
  configured_count: count(),
  moments_not_fired: doc(array(string()), 'Moments that hooks are set for and that this daemon does not have yet.'),
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
  dead_letter_store_path: doc(string(), 'The folder that they are kept in; what is newest is in the log beside it.'),
})

export interface HooksStatusParts {
  readonly letters: DeadLetters
  readonly counts: HookCounts
  readonly hooks: () => HookMap
  readonly state_root: string
}

/** Executions, failures and retries since the start of the daemon. */
export const hooksSection = ({ letters, counts, hooks, state_root }: HooksStatusParts): StatusSection => ({
  name: 'hooks',
  schema: HooksStatus,
  collect: () => {
    const [last, open] = [letters.newest('all'), letters.newest('unresolved')]
    return {
      configured_count: Object.values(hooks()).reduce((sum, definitions) => sum + definitions.length, 0),
      moments_not_fired: notFired(hooks()),
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
      dead_letter_store_path: `${state_root}/data/hook_dead_letters`,
    }
  },
})

/** Hooks that fail stop nothing if they are open, so somebody must be told. */
const unresolved = ({ collection, newest }: DeadLetters): readonly Warning[] => {
  const last = newest('unresolved')
  if (last === undefined) return []
  const waiting = collection.count('unresolved', 'all')
  return [
    {
      severity: 'warning',
      code: 'hook_dead_letters',
      related_id: last.id,
      message: sentence(
        `${counted(waiting, 'call')} of hooks failed for good, the last of ${last.hook_name}: ${last.error}`,
      ),
      action:
        `See them with ${commandLine('runtime hooks dead-letter')}, mend the hook, then resolve the last one: ` +
        `${commandLine('runtime hooks resolve-dead-letter', last.id)}, or all of the hook: ` +
        `${commandLine(`runtime hooks resolve-dead-letter --hook=${shellWord(last.hook_name)}`)}`,
    },
  ]
}

/** Hooks of the file hold while nobody has set others: it must not look as if they did. */
const overruled = (inFile: number, isOverruled: boolean): readonly Warning[] =>
  inFile === 0 || !isOverruled
    ? []
    : [
        {
          severity: 'info',
          code: 'hooks_file_overruled',
          message: `Hooks were set: those of config/hooks.toml, ${counted(inFile, 'hook')}, are not asked.`,
          action:
            `See what holds: ${commandLine('runtime hooks get')}. If no other setting was changed since, the file ` +
            `counts again after ${commandLine('runtime rollback')}. Else every setting has to go back, such as the ` +
            `model and the policies: ${commandLine('runtime rollback --target-revision 0')}`,
        },
      ]

/** Warnings of one kind that are told at most. */
const most = 10

/** A file is read before anybody knows what plugins give, and a plugin may go: nothing else says so before a call. */
const notAskable = (hooks: HookMap, parts: CheckParts): readonly Warning[] =>
  Object.entries(hooks)
    .flatMap(([event, definitions]) =>
      definitions.flatMap((hook): Warning[] => {
        const fault = executorFault(hook, parts)
        if (fault === undefined) return []
        const name = visibleLine(hook.name)
        const meanwhile =
          hook.failure_policy?.mode === 'closed' ? 'what it guards is refused' : 'nothing is stopped by it'
        return [
          {
            severity: 'warning',
            code: 'hook_not_askable',
            related_id: name,
            message: `The hook ${name} at ${event} cannot be asked, and ${meanwhile}: ${fault}`,
            action: `Correct the hook, or load what it needs. See what holds: ${commandLine('runtime hooks get')}`,
          },
        ]
      }),
    )
    .slice(0, most)

interface HealthParts extends Pick<HooksStatusParts, 'letters' | 'hooks'> {
  readonly list: Pick<List<unknown>, 'all'>
  /** Those of the file. */
  readonly configured: () => HookMap
  readonly tools: () => HookTools | undefined
  readonly parts: CheckParts
}

export const hooksHealth = ({ letters, list, hooks, configured, tools, parts }: HealthParts): HealthCheck => {
  const unfitMatchers = createFitting(hooks, tools)
  return {
    id: 'hooks',
    check: () => [
      ...unresolved(letters),
      ...overruled(list.all().size, hooks() !== configured()),
      ...notAskable(hooks(), parts),
      ...unfitMatchers(),
    ],
  }
}
