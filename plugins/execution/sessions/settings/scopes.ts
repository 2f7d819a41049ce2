/**
 * What scopes permit, and how two of them meet (sessions-14 to sessions-18). Pure.
 *
 * A scope is pairs of lists, one pair for each kind of name. A name passes a
 * pair if the allow list is empty, holds `*` or holds the name, and the deny
 * list holds neither `*` nor the name. A scope that restricts another permits
 * what both permit. Two allow lists without a common name would leave an empty
 * list, which permits everything: then the deny list becomes `*`.
 */
import { unsafeCast } from '../../../../core/plugin.js'
import type { CapabilityScope, CredentialScope } from './settings.js'

type Names = readonly string[]
/** One pair of a scope. */
export interface Pair {
  readonly allow: Names
  readonly deny: Names
}
type Scope = CapabilityScope | CredentialScope
type Lists = Readonly<Record<string, Names>>

const everything = '*'

/** Trimmed, sorted, each once; `*` stands for all others. */
export const normalNames = (names: Names): string[] => {
  const kept = [...new Set(names.map((name) => name.trim()))].sort()
  return kept.includes(everything) ? [everything] : kept
}

const listsOf = (scope: Scope): Lists => scope
const mapLists = <S extends Scope>(scope: S, change: (names: Names, list: string) => Names): S =>
  unsafeCast<S>(Object.fromEntries(Object.entries(listsOf(scope)).map(([list, names]) => [list, change(names, list)])))

/** A scope as it is stored: every list normal; undefined if no list restricts anything. */
export const normalScope = <S extends Scope>(scope: S): S | undefined => {
  const normal = mapLists(scope, normalNames)
  return Object.values(listsOf(normal)).every((names) => names.length === 0) ? undefined : normal
}

/** The path of the first blank entry, from the scope on. */
export const blankEntry = (scope: Scope): string | undefined => {
  for (const [list, names] of Object.entries(listsOf(scope))) {
    const at = names.findIndex((name) => name.trim() === '')
    if (at >= 0) return `${list}.${at}`
  }
  return undefined
}

/** True if a pair lets a name pass. */
export const permits = ({ allow, deny }: Pair, name: string): boolean =>
  (allow.length === 0 || allow.includes(everything) || allow.includes(name)) &&
  !deny.includes(everything) &&
  !deny.includes(name)

const isOpen = (allow: Names): boolean => allow.length === 0 || allow.includes(everything)

/** What both pairs let pass. */
export const restrictPair = (baseline: Pair, by: Pair): Pair => {
  const deny = normalNames([...baseline.deny, ...by.deny])
  if (isOpen(baseline.allow)) return { allow: by.allow.length === 0 ? baseline.allow : by.allow, deny }
  if (isOpen(by.allow)) return { allow: baseline.allow, deny }
  const allow = baseline.allow.filter((name) => by.allow.includes(name))
  return allow.length === 0 ? { allow, deny: [everything] } : { allow, deny }
}

/** The pair of a scope for one kind of name, such as `skill`. */
const pairOf = (lists: Lists, kind: string): Pair => ({
  allow: lists[`${kind}_allow`] ?? [],
  deny: lists[`${kind}_deny`] ?? [],
})

/** A baseline restricted by a scope; never wider than either. */
export const restrict = <S extends Scope>(baseline: S | undefined, by: S | undefined): S | undefined => {
  if (baseline === undefined || by === undefined) return baseline ?? by
  return mapLists(baseline, (_, list) => {
    const [, kind = '', side] = /^(\w+)_(allow|deny)$/u.exec(list) ?? []
    const pair = restrictPair(pairOf(baseline, kind), pairOf(by, kind))
    return side === 'allow' ? pair.allow : pair.deny
  })
}

/**
 * With the rule that is not written into it: where connectors are scoped and no credential of theirs is allowed by
 * name, none may be used.
 */
export const withDefaultDeny = (scope: CredentialScope): CredentialScope => {
  const scoped = scope.connector_allow.length > 0 || scope.connector_deny.length > 0
  return scoped && scope.connector_credential_allow.length === 0
    ? { ...scope, connector_credential_deny: [everything] }
    : scope
}

/** True if an entry of an allow list names nothing that a scope does not permit. */
export const permitsEntry = (scope: Scope | undefined, kind: string, entry: string): boolean => {
  if (scope === undefined) return true
  const pair = pairOf(listsOf(scope), kind)
  return entry === everything ? isOpen(pair.allow) : permits(pair, entry)
}

/** Kinds of names in a capability scope. */
export type Capability = 'skill' | 'mcp_server' | 'mcp_tool'
/** Kinds of names in a credential scope. */
export type Credential = 'route' | 'connector' | 'connector_credential' | 'mcp_server'

/** True if a capability scope lets a session see and call a name. */
export const permitsCapability = (scope: CapabilityScope | undefined, kind: Capability, name: string): boolean =>
  scope === undefined || permits(pairOf(scope, kind), name)

/** True if a credential scope lets a name resolve. */
export const permitsCredential = (scope: CredentialScope | undefined, kind: Credential, name: string): boolean =>
  scope === undefined || permits(pairOf(withDefaultDeny(scope), kind), name)
