/** The order in which plugins load: whoever provides comes before whoever needs. */
import type { AnyPlugin } from '../../plugin/contract.js'
import type { Token } from '../../base/token.js'
import { nearest } from '../../base/words/nearest.js'

export interface Refused {
  readonly id: string
  readonly reason: string
}
export interface Order {
  readonly ordered: readonly AnyPlugin[]
  readonly refused: readonly Refused[]
}

export const needed = (plugin: AnyPlugin): readonly (readonly [string, Token<unknown>])[] =>
  Object.entries<Token<unknown>>(plugin.needs ?? {})
export const wanted = (plugin: AnyPlugin): readonly (readonly [string, Token<unknown>])[] =>
  Object.entries<Token<unknown>>(plugin.wants ?? {})
const needsOf = (plugin: AnyPlugin): string[] => needed(plugin).map(([, { token }]) => token)

const providers = (plugins: readonly AnyPlugin[]): Map<string, AnyPlugin> => {
  const found = new Map<string, AnyPlugin>()
  for (const plugin of plugins) {
    for (const { token } of plugin.provides ?? []) if (!found.has(token)) found.set(token, plugin)
  }
  return found
}

/** A token that no plugin provides, and the one that was meant, if its name is nearly that. */
const unprovided = (token: string, known: Iterable<string>): string => {
  const meant = nearest(token, known)
  return `${token}, which no plugin provides${meant === undefined ? '' : `; did you mean ${meant}?`}`
}

/** What plugins want and misspell: they would work without it, and nobody would be told. */
export const misspelt = (plugins: readonly AnyPlugin[], core: ReadonlySet<string>): readonly Refused[] => {
  const known = new Set([...core, ...providers(plugins).keys()])
  return plugins.flatMap((plugin) =>
    wanted(plugin)
      .filter(([, { token }]) => !known.has(token) && nearest(token, known) !== undefined)
      .map(([, { token }]) => ({ id: plugin.id, reason: `wants ${unprovided(token, known)}` })),
  )
}

type Mark =
  | { readonly kind: 'visiting' }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Depth first from each plugin in the given order, so plugins that do not
 * depend on each other keep it. `core` are the tokens that need no plugin.
 */
export const orderByNeeds = (plugins: readonly AnyPlugin[], core: ReadonlySet<string>): Order => {
  const by = providers(plugins)
  const marks = new Map<string, Mark>()
  const ordered: AnyPlugin[] = []
  const refuse = (plugin: AnyPlugin, reason: string): string => {
    marks.set(plugin.id, { kind: 'refused', reason })
    return reason
  }
  const missing = (token: string, chain: readonly string[]): string | undefined => {
    if (core.has(token)) return undefined
    const provider = by.get(token)
    if (provider === undefined) return `needs ${unprovided(token, [...core, ...by.keys()])}`
    const reason = visit(provider, chain)
    return reason === undefined ? undefined : `needs ${token} of ${provider.id}: ${reason}`
  }
  const visit = (plugin: AnyPlugin, chain: readonly string[]): string | undefined => {
    const mark = marks.get(plugin.id)
    if (mark?.kind === 'done') return undefined
    if (mark?.kind === 'refused') return mark.reason
    const path = [...chain, plugin.id]
    if (mark?.kind === 'visiting') return `the needs form a cycle: ${path.slice(path.indexOf(plugin.id)).join(' > ')}`
    marks.set(plugin.id, { kind: 'visiting' })
    for (const token of needsOf(plugin)) {
      const reason = missing(token, path)
      if (reason !== undefined) return refuse(plugin, reason)
    }
    marks.set(plugin.id, { kind: 'done' })
    ordered.push(plugin)
    return undefined
  }
  const refused = plugins.flatMap((plugin) => {
    const reason = visit(plugin, [])
    return reason === undefined ? [] : [{ id: plugin.id, reason }]
  })
  return { ordered, refused }
}

/** Ids of the plugins that need, directly or not, what this one provides. */
export const dependentsOf = (plugin: AnyPlugin, plugins: readonly AnyPlugin[]): readonly AnyPlugin[] => {
  const lost = new Set((plugin.provides ?? []).map(({ token }) => token))
  const found: AnyPlugin[] = []
  for (const other of plugins) {
    if (other.id === plugin.id || !needsOf(other).some((token) => lost.has(token))) continue
    found.push(other)
    for (const { token } of other.provides ?? []) lost.add(token)
  }
  return found
}
