/** What a remembered approval may cover. Pure (approvals-21 to approvals-23). */
import {
  canonical,
  definePoint,
  doc,
  enums,
  hasMembers,
  named,
  object,
  parse,
  string,
  unsafeCast,
  visible,
  visibleLine,
  type AnyStruct,
  type Infer,
  type Json,
  type Point,
} from '../../../core/plugin.js'

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
/** Programs that run what their arguments say, as far as they are known. */
const runners: ReadonlySet<string> = new Set(
  (
    '. asdf ash at awk bash batch builtin bun bunx busybox bwrap capsh catchsegv cgexec chronic chroot chrt ' +
    'command coproc csh dash dbus-run-session deno direnv doas docker dumb-init eatmydata elixir elvish entr ' +
    'env erl escript eval exec expect fakeroot faketime find firejail fish flock gawk gdb gdb-multiarch ghci ' +
    'gosu groovy gsed guile hhvm iex ionice ipython java jruby jshell julia ksh linux32 linux64 lldb ltrace ' +
    'lua luajit m4 mawk mise mksh nawk nice node nodejs nohup npx nsenter nu numactl ocaml octave original-awk ' +
    'osascript parallel perl php pipx pkexec pnpx podman prlimit proxychains proxychains4 pwsh pypy python R ' +
    'racket rbash retry Rscript ruby run-parts runghc runuser sbcl scala screen script sed setarch setpriv ' +
    'setsid sg sh source ssh start-stop-daemon stdbuf strace su sudo swipl systemd-inhibit systemd-run taskset ' +
    'tclsh tcsh texlua time timeout tini tmux torsocks toybox trap ts-node ts-node-esm tsx unbuffer unshare uv ' +
    'uvx valgrind watch xargs xonsh xvfb-run yash zsh zx'
  ).split(' '),
)

/** True of their versions and of loaders too: `python3.12`, `ld-linux-x86-64.so.2`. */
const isRunner = (name: string): boolean =>
  runners.has(name) || runners.has(name.replace(/[\d.]+$/u, '')) || /^ld[-.]/u.test(name)

/** Why commands that begin with these words cannot be covered; undefined if they can. */
export const prefixFault = (prefix: string): string | undefined => {
  if (!plainWords.test(prefix) || prefix.length > 200)
    return 'must be words of letters, digits and _.,:/@%+=- with one blank between two, at most 200 characters'
  const [program = ''] = prefix.split(' ')
  const name = program.slice(program.lastIndexOf('/') + 1)
  if (program.includes('=')) return 'must begin with a program, not with a variable'
  return isRunner(name) ? `must not begin with ${name}, which runs other programs` : undefined
}

/** True if a rule covers a call, which its own exact rule tells. What is more than plain words no prefix covers. */
export const covers = (rule: GrantRule, call: GrantRule): boolean => {
  if (rule.kind !== 'command_prefix') return rule.kind === call.kind && rule.value === call.value
  if (call.kind !== 'command' || !plainWords.test(call.value)) return false
  return call.value === rule.value || call.value.startsWith(`${rule.value} `)
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
export const CallGrants: Point<CallGrants> = definePoint<CallGrants>(
  'call-grants@1',
  ({ id }) => id,
  hasMembers('who remembers approvals', { id: 'text', find: 'function' }),
)
