/** How requests set connectors up, and take them away. */
import {
  canonical,
  isJsonObject,
  unsafeCast,
  type Collection,
  type Json,
  type JsonObject,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import type { Outbox } from '../../execution/deliveries/contract.js'
import type { RunRecord, Runs } from '../../execution/runs/contract.js'
import type { PersonaSource, Sessions } from '../../execution/sessions/contract.js'
import type { SecretSeal, SecretSlots } from '../../operator/secrets/contract.js'
import type { ConnectorSettings, AnyConnectorKind } from './contract.js'
import { draftOf, faultOfName, readSettings, settingsJson, targetsOf } from './entry.js'
import { connectorErrors, notFound } from './errors.js'
import { usersOf, type UserParts } from './references.js'
import { idOf, mostConnectors, type StoredConnector } from './record.js'
import type { Registry } from './registry.js'
import { doesNotOpen } from './roster.js'
import { openedSettings, sealedSettings } from './sealed.js'
import { invalid, planSecrets, type SecretPlan, type SecretPlanParts } from './secret-inputs.js'

export interface ChangeParts extends SecretPlanParts, UserParts {
  readonly state: State
  readonly collection: Collection<StoredConnector>
  readonly kinds: () => readonly AnyConnectorKind[]
  /** How the file of connectors is called. */
  readonly file: string
  readonly registry: Pick<Registry, 'find' | 'changed' | 'list'>
  readonly outbox: Pick<Outbox, 'normalize'>
  readonly slots: Pick<SecretSlots, 'find' | 'put'>
  readonly seal: Pick<SecretSeal, 'sealLasting' | 'open'>
  readonly personas: Pick<PersonaSource, 'require'>
  readonly sessions: Pick<Sessions, 'find' | 'requireIdle'>
  readonly runs: () => Pick<Runs, 'open' | 'find'> | undefined
}

/** What a request names. */
export interface Wish {
  readonly kind: string
  readonly name: string
}

const kindIn = ({ kinds }: ChangeParts, { kind, name }: Wish): AnyConnectorKind => {
  const found = kinds().find((one) => one.kind === kind)
  if (found === undefined) throw notFound({ kind, name })
  return found
}

/** A member that says nothing is as if it had never been said. */
const isReset = (value: Json | undefined): boolean =>
  value === null || (typeof value === 'string' && value.trim() === '')

/** What stays of the settings, with what the body says: its key decides, not its value (connectors-3). */
const merged = (kind: AnyConnectorKind, before: JsonObject, body: JsonObject): JsonObject => {
  const secrets = new Set([...kind.secrets, ...Object.keys(kind.secretLists ?? {})])
  const settings = { ...before }
  for (const [member, value] of Object.entries(body)) {
    if (secrets.has(member)) continue
    if (isReset(value)) Reflect.deleteProperty(settings, member)
    else settings[member] = value
  }
  return settings
}

/** The settings that a request makes of those before. Throws `connector_invalid`, `reply_target_invalid`. */
const settingsFrom = (
  { outbox }: ChangeParts,
  { kind, name, body, before }: { kind: AnyConnectorKind; name: string; body: JsonObject; before: JsonObject },
  { secrets: sources }: SecretPlan,
): ConnectorSettings => {
  const secrets = new Map(Object.entries(sources))
  const read = readSettings(kind, { name, secrets, settings: merged(kind, before, body) })
  if ('issues' in read) throw invalid(...read.issues)
  const unusable = kind.faultOfUses?.(read.settings)
  if (unusable !== undefined) throw invalid(unusable)
  const { targets } = kind
  const settings = Object.hasOwn(body, targets)
    ? {
        ...read.settings,
        [targets]: outbox.normalize(unsafeCast(Reflect.get(read.settings, targets)), `body.${targets}`),
      }
    : read.settings
  const draft = draftOf({ name, secrets }, settings)
  for (const [at, target] of targetsOf({ kind, settings }).entries()) {
    const rule = kind.refuseTarget?.(draft, target)
    if (rule !== undefined) throw invalid({ path: `${targets}.${at}`, rule })
  }
  return settings
}

/** What a session is bound to when it is opened. */
const bindings = ({ session_policy }: Partial<Pick<ConnectorSettings, 'session_policy'>>): string => {
  const { persona_id, capability_scope, credential_scope } = session_policy ?? {}
  return canonical(unsafeCast(JSON.parse(JSON.stringify({ persona_id, capability_scope, credential_scope }))))
}

/** True of a run that an event of the connector began; one of the kind `http` may have no key. */
const isOf = ({ kind, name }: Wish, { origin, source_plugin, source_kind }: RunRecord): boolean =>
  String(origin?.ingress?.['connector_ingress_key'] ?? '').startsWith(`${kind}:${name}:`) ||
  (source_plugin === kind && source_kind === name)

/**
 * Throws `session_not_idle` (409) while sessions of the connector are busy: its fixed one, and those in which a run of
 * its events has not ended.
 */
const requireIdle = ({ sessions, runs }: ChangeParts, wish: Wish, settings: Partial<ConnectorSettings>): void => {
  const { fixed_session_id } = settings
  if (fixed_session_id !== undefined && sessions.find(fixed_session_id) !== undefined)
    sessions.requireIdle(fixed_session_id)
  const kept = runs()
  for (const run_id of kept?.open() ?? []) {
    const run = kept?.find(run_id)
    if (run !== undefined && isOf(wish, run)) sessions.requireIdle(run.session_id)
  }
}

/** Sets a connector up, or changes it: its secrets and its settings in one commit. */
export const putConnector = (parts: ChangeParts, wish: Wish, body: JsonObject): Promise<void> =>
  parts.state.commit((tx) => {
    const { collection, registry, slots, personas } = parts
    const kind = kindIn(parts, wish)
    const { name } = wish
    const misnamed = faultOfName(wish.kind, name)
    if (misnamed !== undefined)
      throw connectorErrors.connector_invalid({
        details: { what: `its name ${misnamed}` },
        errors: [{ path: 'path.name', rule: misnamed }],
      })
    refuseFileBacked(parts, wish)
    const stored = collection.find(idOf(wish))
    if (stored === undefined && collection.count('all', 'all') >= mostConnectors)
      throw connectorErrors.connectors_full({ details: { most: mostConnectors } })
    const plan = planSecrets(parts, { kind, name, body, before: stored?.secrets ?? {} })
    const before = settingsBefore(parts, { kind, name, body }, stored)
    const settings = settingsFrom(parts, { kind, name, body, before }, plan)
    if (stored !== undefined) checkAgainst(parts, { kind, name }, { before, settings })
    const persona_id = settings.session_policy?.persona_id
    if (persona_id !== undefined && isJsonObject(body['session_policy'])) personas.require(persona_id)
    tx.put(collection, {
      kind: kind.kind,
      name,
      settings: sealedSettings(parts.seal, { kind, name }, settingsJson(settings)),
      secrets: plan.secrets,
      created_at_ms: stored?.created_at_ms ?? tx.now,
      updated_at_ms: Math.max(tx.now, stored?.updated_at_ms ?? 0),
    })
    for (const draft of plan.writes) slots.put(tx, draft)
    tx.after(() => registry.changed(kind.kind, name))
  })

/** Throws `connector_invalid` where something does not open that the body leaves as it is. */
const settingsBefore = (
  { seal }: ChangeParts,
  { kind, name, body }: { kind: AnyConnectorKind; name: string; body: JsonObject },
  stored: StoredConnector | undefined,
): JsonObject => {
  const { settings, locked } = openedSettings(seal, { kind, name }, stored?.settings ?? {})
  const lost = locked.find((place) => !Object.hasOwn(body, place.split('.', 1).join('')))
  if (lost !== undefined) throw invalid({ path: lost, rule: doesNotOpen })
  return settings
}

const refuseFileBacked = ({ registry, file }: ChangeParts, { kind, name }: Wish): void => {
  if (registry.find(kind, name)?.source === 'file')
    throw connectorErrors.connector_file_backed({ details: { kind, name, file } })
}

/** What a change may not change, and what it may not change now. */
const checkAgainst = (
  parts: ChangeParts,
  { kind, name }: { kind: AnyConnectorKind; name: string },
  { before, settings }: { before: JsonObject; settings: ConnectorSettings },
): void => {
  const now = settingsJson(settings)
  const member = kind.fixed?.find((fixed) => canonical(before[fixed] ?? null) !== canonical(now[fixed] ?? null))
  if (member !== undefined) throw connectorErrors.connector_member_fixed({ details: { member, kind: kind.kind, name } })
  const old: Partial<ConnectorSettings> = unsafeCast(before)
  if (bindings(old) !== bindings(settings)) requireIdle(parts, { kind: kind.kind, name }, old)
}

/** Takes a connector away; its secrets stay. */
export const removeConnector = (parts: ChangeParts, wish: Wish): Promise<void> =>
  parts.state.commit((tx: Tx) => {
    const { collection, registry } = parts
    const { kind, name } = wish
    const found = registry.find(kind, name)
    if (found === undefined) throw notFound({ kind, name })
    refuseFileBacked(parts, wish)
    const users = usersOf(parts, wish)
    if (users.length > 0)
      throw connectorErrors.connector_in_use({ details: { kind, name, users: users.slice(0, 10).join(', ') } })
    tx.remove(collection, idOf(wish), 'deleted')
    tx.after(() => registry.changed(found.kind.kind, name))
  })
