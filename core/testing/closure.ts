/** The plugins that one plugin needs, directly or not. */
import { Host } from '../host/contract.js'
import { Processes, Supervised } from '../processes/contract.js'
import { Sandbox } from '../sandbox/contract.js'
import { needed } from '../host/lifecycle/order.js'
import type { AnyPlugin } from '../plugin/contract.js'

/** Tokens of what core provides. */
export const coreTokens: ReadonlySet<string> = new Set([Host.token, Processes.token, Supervised.token, Sandbox.token])

export type Closure =
  | { readonly kind: 'whole'; readonly plugins: readonly AnyPlugin[] }
  | { readonly kind: 'lacking'; readonly token: string }

/** In the order of `all`; the first that provides a token is taken. What core provides is always there. */
export const closureOf = (plugin: AnyPlugin, all: readonly AnyPlugin[]): Closure => {
  const wanted = new Set([plugin])
  for (const { needs } of wanted)
    for (const [, { token }] of needed({ ...plugin, needs })) {
      if (coreTokens.has(token)) continue
      const provider = all.find(({ provides = [] }) => provides.some((entry) => entry.token === token))
      if (provider === undefined) return { kind: 'lacking', token }
      wanted.add(provider)
    }
  return { kind: 'whole', plugins: all.filter((entry) => wanted.has(entry)) }
}
