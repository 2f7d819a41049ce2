/** Whether a session may do no more than a playbook lets it (flows-4). Pure. */
import { withDefaultDeny, type CapabilityScope, type CredentialScope } from '../../execution/sessions/contract.js'

type Lists = Readonly<Record<string, readonly string[]>>

const all = '*'
const isOpen = (allow: readonly string[]): boolean => allow.length === 0 || allow.includes(all)

interface Pair {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** True if every name that passes the first pair passes the second. */
const isWithin = (own: Pair, bound: Pair): boolean => {
  if (own.deny.includes(all)) return true
  if (isOpen(own.allow))
    return isOpen(bound.allow) && bound.deny.every((name) => name !== all && own.deny.includes(name))
  const passes = (name: string): boolean =>
    (isOpen(bound.allow) || bound.allow.includes(name)) && !bound.deny.includes(all) && !bound.deny.includes(name)
  return own.allow.every((name) => own.deny.includes(name) || passes(name))
}

const pairOf = (lists: Lists, kind: string): Pair => ({
  allow: (lists[`${kind}_allow`] ?? []).map((name) => name.trim()),
  deny: (lists[`${kind}_deny`] ?? []).map((name) => name.trim()),
})

const widerIn = (own: Lists, bound: Lists): string | undefined =>
  Object.keys(bound)
    .flatMap((list) => (list.endsWith('_allow') ? [list.slice(0, -'_allow'.length)] : []))
    .find((kind) => !isWithin(pairOf(own, kind), pairOf(bound, kind)))

/** The kind of names of which the session may use more than the playbook lets it; undefined if there is none. */
export const widerCapability = (
  own: CapabilityScope | undefined,
  bound: CapabilityScope | undefined,
): string | undefined => (bound === undefined ? undefined : widerIn({ ...own }, { ...bound }))

/** The same for credentials, with what is denied by default. */
export const widerCredential = (
  own: CredentialScope | undefined,
  bound: CredentialScope | undefined,
): string | undefined =>
  bound === undefined
    ? undefined
    : widerIn(own === undefined ? {} : { ...withDefaultDeny(own) }, { ...withDefaultDeny(bound) })
