/** What hooks that people have already expect: names of moments, tools and members that other programs give theirs. */
import type { JsonObject } from '../../../../core/plugin.js'
import type { Invocation } from '../../../execution/interception/contract.js'

/** By what matchers look at here, what they name elsewhere. */
const otherNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['apply_patch', ['Edit', 'MultiEdit', 'Write']],
  ['ask_user_question', ['AskUserQuestion']],
  ['bash', ['Bash']],
  ['edit_file', ['Edit', 'MultiEdit']],
  ['exit_plan_mode', ['ExitPlanMode']],
  ['glob_search', ['Glob']],
  ['grep_search', ['Grep']],
  ['list_files', ['LS']],
  ['read_file', ['Read']],
  ['web_fetch', ['WebFetch']],
  ['web_search', ['WebSearch']],
  ['write_file', ['Write']],
  ['created', ['startup']],
  ['opened', ['resume']],
])

/** A subject by all of its names, its own first. */
export const namesOf = (subject: string): readonly string[] => [subject, ...(otherNames.get(subject) ?? [])]

/** `PreToolUse` of `pre_tool_use`. */
const eventName = (event: string): string =>
  event.replaceAll(/(?:^|_)([a-z])/gu, (_, letter: string) => letter.toUpperCase())

/** Members of a payload that stand beside it, and how they are called there. */
const raised = { tool_name: 'tool_name', tool_input: 'tool_input', tool_output: 'tool_response', prompt: 'prompt' }

/** What stands beside the members of ours. */
export const familiarMembers = ({ event, payload }: Invocation, cwd: string): JsonObject => ({
  hook_event_name: eventName(event),
  cwd,
  ...Object.fromEntries(
    Object.entries(raised).flatMap(([own, other]) => (payload[own] === undefined ? [] : [[other, payload[own]]])),
  ),
})
