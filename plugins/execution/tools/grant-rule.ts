/** What a remembered approval may cover. Pure (approvals-21 to approvals-23, approvals-26). */
import {
  answerOf,
  canonical,
  definePoint,
  doc,
  enums,
  hasMembers,
  named,
  object,
  open,
  parse,
  string,
  unsafeCast,
  visible,
  visibleLine,
  withAnswers,
  type AnyStruct,
  type Infer,
  type Json,
  type Point,
} from '../../../core/plugin.js'
import { programFault, staysWithin } from './grant-programs.js'

/** What a rule is about: a command, the words that a command begins with, a file, a host, or a whole input. */
export const grantRuleKinds = ['command', 'command_prefix', 'path', 'host', 'input'] as const

/** Which calls of a tool an approval that is remembered covers. */
export const GrantRule = named(
  'GrantRule',
  object({
    kind: doc(
      enums(grantRuleKinds),
      'Exactly this command, path, host or whole input (as canonical JSON); `command_prefix` alone covers more.',
    ),
    value: doc(string(), 'What it must be, letter by letter.'),
  }),
)
/** The value form of `GrantRule`. */
export type GrantRule = Infer<typeof GrantRule>

/** Nobody reads more of what they decide on. Characters. */
const mostShown = 1_000

/** Looks like a space and is another sign. */
const blanks = /(?! )[\p{Zs}\u2800]/u
/** True if a person sees all of it, and sees it as it is. */
const isSeen = (value: string): boolean => value.length <= mostShown && visible(value) === value && !blanks.test(value)

interface Callable {
  readonly input: AnyStruct
  subject?(input: never): GrantRule | undefined
}

/** What an approval of this call covers when it is remembered; undefined where it cannot be. */
export const grantRuleOf = (tool: Callable, input: Json): GrantRule | undefined => {
  const parsed = parse(tool.input, input)
  if (!parsed.ok) return undefined
  const rule = tool.subject?.(unsafeCast<never>(parsed.value)) ?? { kind: 'input' as const, value: canonical(input) }
  return isSeen(rule.value) ? rule : undefined
}

/** Words of a command that is one program with its arguments, which no shell makes anything else of. */
const plainWords = /^[\w.,:/@%+=-]+(?: [\w.,:/@%+=-]+)*$/u
/** Why commands that begin with these words cannot be covered; undefined if they can. */
export const prefixFault = (prefix: string): string | undefined => {
  if (!plainWords.test(prefix) || prefix.length > 200)
    return 'must be words of letters, digits and _.,:/@%+=- with one blank between two, at most 200 characters'
  const words = prefix.split(' ')
  return words[0]?.includes('=') === true ? 'must begin with a program, not with a variable' : programFault(words)
}

/**
 * True if a rule covers a call, which its own exact rule tells. What is more than plain words no prefix covers, and one
 * that would be refused now, nothing.
 */
export const covers = (rule: GrantRule, call: GrantRule): boolean => {
  if (rule.kind !== 'command_prefix') return rule.kind === call.kind && rule.value === call.value
  if (call.kind !== 'command' || !plainWords.test(call.value) || prefixFault(rule.value) !== undefined) return false
  if (call.value === rule.value) return true
  const rest = call.value.startsWith(`${rule.value} `) ? call.value.slice(rule.value.length + 1) : undefined
  return rest !== undefined && staysWithin(rule.value.split(' '), rest.split(' '))
}

const words = {
  command: (value) => `the command ${value}`,
  command_prefix: (value) => `commands that begin with ${value}`,
  path: (value) => `the path ${value}`,
  host: (value) => `the host ${value}`,
  input: (value) => `exactly the input ${value}`,
} as const satisfies Record<GrantRule['kind'], (value: string) => string>

/** A rule as people read it, in one line. */
export const grantText = (tool_name: string, { kind, value }: GrantRule): string =>
  `${visibleLine(tool_name)} for ${words[kind](visibleLine(value))}`

/** Who remembers approvals. */
export interface CallGrants {
  readonly id: string
  /** What lets a call pass without asking: `rule` is what the call itself is. Must be fast and must not throw. */
  find(call: {
    readonly session_id: string
    readonly tool_name: string
    readonly rule: GrantRule
  }): { readonly grant_id: string; readonly text: string } | undefined
}
/** Everyone who remembers approvals. */
export const CallGrants: Point<CallGrants> = withAnswers(
  definePoint<CallGrants>(
    'call-grants@1',
    ({ id }) => id,
    hasMembers('who remembers approvals', { id: 'id', find: 'function' }),
  ),
  { find: answerOf(open({ grant_id: string(), text: string() }), undefined) },
)
