/** Matchers that fit no tool, as far as that can be told: hooks that look like guards and guard nothing. */
import { commandLine, nearest, visibleLine, type Warning } from '../../../../core/plugin.js'
import { momentFacts, moments } from '../../../execution/interception/contract.js'
import type { ToolRegistry } from '../../../execution/tools/contract.js'
import { namesOf } from './familiar.js'
import { matches } from './matcher.js'

/** Hooks by moment, as far as they are looked at here. */
type Matchers = Readonly<
  Record<string, readonly { readonly name: string; readonly matcher?: string | undefined }[] | undefined>
>

interface Unfit {
  readonly event: string
  readonly hook: string
  readonly matcher: string
}

export type HookTools = Pick<ToolRegistry, 'list' | 'arrival'>

const aboutTools = moments.filter((event) => momentFacts[event].subject === momentFacts.pre_tool_use.subject)

const unfitOf = (hooks: Matchers, tools: ReturnType<HookTools['list']>): readonly Unfit[] =>
  aboutTools.flatMap((event) =>
    (hooks[event] ?? []).flatMap(({ name: hook, matcher = '' }) =>
      tools.some(({ name }) => matches(matcher, name)) ? [] : [{ event, hook, matcher }],
    ),
  )

/** Tools of servers that are not connected are not known. */
const mayComeLater = (matcher: string): boolean => !/^\w+(?:\|\w+)*$/u.test(matcher) || /(?:^|\|)mcp__/u.test(matcher)

/** Warnings that are told at most. */
const most = 10

const warningOf = ({ event, hook, matcher }: Unfit, names: readonly string[]): Warning => {
  const later = mayComeLater(matcher)
  const meant = later ? undefined : nearest(matcher, names)
  return {
    severity: later ? 'info' : 'warning',
    code: 'hook_matcher_fits_nothing',
    message:
      `The hook ${visibleLine(hook)} at ${event} is ${later ? 'not asked as it is now' : 'never asked'}: its matcher ` +
      `${visibleLine(matcher)} fits no tool that is there${later ? '; those of MCP servers may come' : ''}.`,
    related_id: hook,
    action:
      (meant === undefined ? '' : `If ${meant} is meant, correct the matcher. `) +
      `See the names of all tools: ${commandLine('runtime permissions matrix')}`,
  }
}

/** Looks at tools and hooks again when one of them is another. */
export const createFitting = (
  hooks: () => Matchers,
  tools: () => HookTools | undefined,
): (() => readonly Warning[]) => {
  let seen: { readonly hooks: Matchers; readonly list: unknown; readonly unfit: readonly Unfit[] } | undefined
  return () => {
    const registry = tools()
    if (registry === undefined) return []
    const [now, list] = [hooks(), registry.list()]
    if (seen?.hooks !== now || seen.list !== list) seen = { hooks: now, list, unfit: unfitOf(now, list) }
    if (seen.unfit.length === 0) return []
    const isArriving = registry.arrival('mcp__') !== undefined
    const names = list.flatMap(({ name }) => namesOf(name))
    return seen.unfit
      .filter(({ matcher }) => !isArriving || !mayComeLater(matcher))
      .slice(0, most)
      .map((unfit) => warningOf(unfit, names))
  }
}
