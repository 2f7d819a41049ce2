/** Random parents, and what is asked for their children. */
import { unsafeCast } from '../../../../../core/plugin.js'
import type { PermissionMode, PermissionRule } from '../../../../../plugins/execution/tools/contract.js'
import { normalScope, type CapabilityScope } from '../../../../../plugins/execution/sessions/contract.js'
import type { Random } from '../../../../faults/random.js'
import { tools, type Being } from './small-world.js'

/** From the mode that lets most pass. */
export const strictness = ['bypassPermissions', 'acceptEdits', 'default', 'dontAsk', 'plan'] as const
/** Names of skills, servers, routes, connectors and credentials; tools of servers are named too. */
export const names = ['a', 'b', 'c', 'mcp__a__get', 'mcp__a__put', 'mcp__b__get']
const entries = [...names, '*', ' a ', 'b ']
const patterns = [...tools.map(({ name }) => name), '*', 'mcp__*', 'mcp__a*', 'list_*', 'read*', 'nothing', ' bash ']

type Scope = Readonly<Record<string, readonly string[]>>
type Surface = { readonly allowlist?: readonly string[]; readonly denylist?: readonly string[] }
export interface Wish {
  readonly permission_mode?: PermissionMode
  readonly capability_scope?: Scope
  readonly credential_scope?: Scope
  readonly tool_surface?: Surface
  readonly fork_context?: { readonly tool_surface?: Surface }
}

const capabilities = ['skill', 'mcp_server', 'mcp_tool']
const credentials = ['route', 'connector', 'connector_credential', 'mcp_server']

/** As a session keeps it. */
const stored = (scope: Scope): CapabilityScope | undefined => normalScope(unsafeCast<CapabilityScope>(scope))

export const createWishes = (random: Random) => {
  const { below, chance } = random
  const pick = <T>(from: readonly T[]): T => unsafeCast<T>(from[below(from.length)])
  const some = (from: readonly string[], share: number): string[] => from.filter(() => chance(share))
  /** Few allow and deny names at a time: else nearly nothing would be left to compare. */
  const scope = (kinds: readonly string[]): Scope =>
    Object.fromEntries(
      kinds.flatMap((kind) => [
        [`${kind}_allow`, chance(0.3) ? some(entries, 0.5) : []],
        [`${kind}_deny`, chance(0.3) ? some(names, 0.25) : []],
      ]),
    )
  const surface = (): Surface => ({
    allowlist: chance(0.5) ? some(patterns, 0.3) : [],
    denylist: chance(0.5) ? some(patterns, 0.1) : [],
  })
  const maybe = <T>(chances: number, value: () => T): T | undefined => (chance(chances) ? value() : undefined)
  const mode = (): PermissionMode => pick(strictness)
  const rule = (): PermissionRule => ({
    scope: 'session',
    tool_name_pattern: pick([...tools.map(({ name }) => name), '*', 'mcp__*']),
    behavior: pick(['allow', 'deny', 'ask']),
  })
  let made = 0
  return {
    below,
    chance,
    pick,
    mode,
    root(): Being {
      made += 1
      const [capability, credential] = [maybe(0.7, () => scope(capabilities)), maybe(0.7, () => scope(credentials))]
      const baseline = maybe(0.3, () => ({ capability_scope: stored(scope(capabilities)) }))
      const session = {
        session_id: `root${made}`,
        agent_id: `root${made}`,
        ...(capability !== undefined && { capability_scope: stored(capability) }),
        ...(credential !== undefined && { credential_scope: stored(credential) }),
        ...(baseline !== undefined && { persona: baseline }),
      }
      const pins = maybe(0.4, () => ({ permission_mode: mode() }))
      const rules = Array.from({ length: below(3) }, rule)
      return { session: unsafeCast(session), spawned: undefined, rules, pins }
    },
    wish(): Wish {
      const permission_mode = maybe(0.4, () => pick(strictness.slice(chance(0.5) ? 2 : 0)))
      const [capability_scope, credential_scope] = [
        maybe(0.4, () => scope(capabilities)),
        maybe(0.5, () => scope(credentials)),
      ]
      const [tool_surface, forked] = [maybe(0.5, surface), maybe(0.2, surface)]
      return {
        ...(permission_mode !== undefined && { permission_mode }),
        ...(capability_scope !== undefined && { capability_scope }),
        ...(credential_scope !== undefined && { credential_scope }),
        ...(tool_surface !== undefined && { tool_surface }),
        ...(forked !== undefined && { fork_context: { tool_surface: forked } }),
      }
    },
  }
}
