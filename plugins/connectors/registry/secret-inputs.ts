/** What a request says of secrets: `null` keeps, `{}` clears, a value is written to a secret (connectors-5). */
import { isJsonObject, parse, type Issue, type Json, type JsonObject } from '../../../core/plugin.js'
import type { SecretSlots, SlotDraft } from '../../operator/secrets/contract.js'
import type { AnyConnectorKind } from './contract.js'
import { idsIn, listedSecret, listId } from './entry.js'
import { connectorErrors } from './errors.js'
import type { StoredSource } from './record.js'
import { ConnectorSecretInput } from './settings.js'
import { variable, type SourceParts } from './sources.js'

/** Where the secrets of a connector are to be, and what is written for that. */
export interface SecretPlan {
  readonly secrets: Readonly<Record<string, StoredSource>>
  readonly writes: readonly SlotDraft[]
}

export interface SecretPlanParts extends Pick<SourceParts, 'secrets' | 'guard'> {
  readonly slots: Pick<SecretSlots, 'find'>
}

export interface Asked {
  readonly kind: AnyConnectorKind
  readonly name: string
  readonly body: JsonObject
  readonly before: Readonly<Record<string, StoredSource>>
}

const slotIdRule = 'must be of letters, digits and . _ : @ - alone, 200 at most, and begin with a letter or a digit'
const listIdRule = 'must be of letters, digits, _ and - alone, 64 at most, and begin with a letter or a digit'
const slotId = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}$/u

export const invalid = (...issues: readonly Issue[]): Error => {
  const what = issues.map(({ path, rule }) => `${path} ${rule}`).join('; ')
  return connectorErrors.connector_invalid({
    details: { what },
    errors: issues.map(({ path, rule }) => ({ path: path === '' ? 'body' : `body.${path}`, rule })),
  })
}

type Write = { readonly secret: string; readonly path: string; readonly text: string; readonly secret_ref?: string }

const generic = (path: string, secret_ref: string, slot: Pick<SlotDraft, 'provider' | 'mode'>): string => {
  if (slot.provider !== 'generic' || slot.mode === 'oauth_account')
    throw invalid({ path: `${path}.secret_ref`, rule: 'must be a secret of the provider generic, with one value' })
  return secret_ref
}

/** Reads one secret after the other, as the request names them. */
const createPlan = (parts: SecretPlanParts, { kind, name, before }: Asked) => {
  const secrets = new Map<string, StoredSource>(Object.entries(before))
  const writes = new Map<string, SlotDraft>()
  const fromVariable = (path: string, env: string): StoredSource => {
    if (variable(parts, env) === undefined)
      throw invalid({ path: `${path}.env`, rule: 'must be a variable that the daemon was started with' })
    return { type: 'env', env }
  }
  const fromSlot = (path: string, secret_ref: string): StoredSource => {
    const found = writes.get(secret_ref) ?? parts.slots.find(secret_ref)
    if (found === undefined) throw invalid({ path: `${path}.secret_ref`, rule: 'must be a secret that is there' })
    return { type: 'secret', secret_ref: generic(path, secret_ref, found) }
  }
  const write = ({ secret, path, text, secret_ref: given }: Write): StoredSource => {
    const secret_ref = given ?? `connectors.${kind.kind}.${name}.${secret}`
    if (text.trim() === '') throw invalid({ path: `${path}.value`, rule: 'must not be blank' })
    if (!slotId.test(secret_ref))
      throw invalid({
        path: `${path}.secret_ref`,
        rule: slotIdRule,
      })
    const other = writes.get(secret_ref)
    if (other !== undefined && other.state['value'] !== text)
      throw invalid({ path: `${path}.value`, rule: 'must be that of the other input for the same secret' })
    const found = parts.slots.find(secret_ref)
    if (found !== undefined) generic(path, secret_ref, found)
    const mode = found?.mode ?? 'opaque_secret'
    writes.set(secret_ref, { slot_id: secret_ref, provider: 'generic', mode, state: { value: text } })
    return { type: 'secret', secret_ref }
  }
  const take = (secret: string, path: string, value: Json | undefined): void => {
    if (value === undefined || value === null) return
    const read = parse(ConnectorSecretInput, value)
    if (!read.ok) throw invalid(...read.issues.map((issue) => ({ ...issue, path: joined(path, issue.path) })))
    const { value: text, secret_ref, env } = read.value
    if (env !== undefined && (text !== undefined || secret_ref !== undefined))
      throw invalid({ path, rule: 'must have env alone' })
    if (env !== undefined) secrets.set(secret, fromVariable(path, env))
    else if (text !== undefined)
      secrets.set(secret, write({ secret, path, text, ...(secret_ref !== undefined && { secret_ref }) }))
    else if (secret_ref !== undefined) secrets.set(secret, fromSlot(path, secret_ref))
    else secrets.delete(secret)
  }
  return { secrets, writes, take }
}
type Plan = ReturnType<typeof createPlan>

const joined = (path: string, inner: string): string => (inner === '' ? path : `${path}.${inner}`)

/** Takes a list of secrets as a whole: what it does not name any more is gone. */
const takeList = (plan: Plan, { kind, body }: Asked, list: string): void => {
  const { id, secret } = kind.secretLists?.[list] ?? { id: '', secret: '' }
  const elements = body[list] ?? []
  if (!Array.isArray(elements)) throw invalid({ path: list, rule: 'must be an array' })
  if (elements.length > mostListed) throw invalid({ path: list, rule: `must have at most ${mostListed} items` })
  const gone = new Set(idsIn(plan.secrets.keys(), list))
  const seen = new Set<string>()
  for (const [at, element] of elements.entries()) {
    const path = `${list}.${at}`
    const { [id]: given, [secret]: input, ...rest } = isJsonObject(element) ? element : {}
    const own = typeof given === 'string' ? given.trim() : ''
    const [strange] = Object.keys(rest)
    if (strange !== undefined) throw invalid({ path: `${path}.${strange}`, rule: 'is not a known field' })
    if (!listId.test(own))
      throw invalid({
        path: `${path}.${id}`,
        rule: listIdRule,
      })
    if (seen.has(own)) throw invalid({ path: `${path}.${id}`, rule: 'must be there once' })
    seen.add(own)
    gone.delete(own)
    plan.take(listedSecret(list, own, secret), `${path}.${secret}`, input)
    if (!plan.secrets.has(listedSecret(list, own, secret)))
      throw invalid({ path: `${path}.${secret}`, rule: 'must be given' })
  }
  for (const own of gone) plan.secrets.delete(listedSecret(list, own, secret))
}

/** Elements of a list of secrets. */
const mostListed = 100

/** What becomes of the secrets. Throws `connector_invalid`. */
export const planSecrets = (parts: SecretPlanParts, asked: Asked): SecretPlan => {
  const { kind, body } = asked
  const plan = createPlan(parts, asked)
  for (const secret of kind.secrets) plan.take(secret, secret, body[secret])
  for (const list of Object.keys(kind.secretLists ?? {})) if (Object.hasOwn(body, list)) takeList(plan, asked, list)
  return { secrets: Object.fromEntries(plan.secrets), writes: [...plan.writes.values()] }
}
