/** The kind `external`: connectors whose platform is spoken to by a sidecar (external-1 to external-9). */
import type { Issue } from '../../../../core/plugin.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import { type ConnectorDraft, type ConnectorKind, unauthenticated } from '../../registry/contract.js'
import { faultOfBaseUrl, normalBaseUrl } from './base-url.js'
import { faultOfTexts } from './texts.js'
import { ExternalSettings, type ChildProcess } from './settings.js'

/** The secret that both sides show to each other. */
export const sharedToken = 'shared_token'

const prefix = 'SERVICE_EXTERNAL_CONNECTOR_'
/** Variables of a child that the daemon alone sets. */
export const reservedVariables = {
  name: `${prefix}NAME`,
  base_url: `${prefix}BASE_URL`,
  daemon_base_url: `${prefix}DAEMON_BASE_URL`,
  shared_token: `${prefix}SHARED_TOKEN`,
  credential_token: `${prefix}CREDENTIAL_TOKEN`,
  credential_keys: `${prefix}CREDENTIAL_KEYS_JSON`,
} as const
/** Variables with which a sidecar takes test messages, where both are `true`. */
export const testVariables = [`${prefix}ENABLE_TEST_API`, `${prefix}TEST_MODE`] as const

const reserved: ReadonlySet<string> = new Set(Object.values(reservedVariables))

export interface ExternalKindParts {
  readonly slots: Pick<SecretSlots, 'find' | 'value'>
  /** Special address ranges that an operator opened. */
  readonly open: readonly string[]
}

/** Secrets that one lease can be for. */
const mostSlots = 100

const isBlank = (text: string): boolean => text.trim() === ''

/** What is wrong with names of variables, of `env` or of `credential_slots`. */
const faultOfNames = (names: readonly string[]): string | undefined => {
  if (names.some((name) => isBlank(name) || /[=\p{Cc}]/u.test(name))) return 'must have names that can be variables'
  return names.some((name) => reserved.has(name)) ? 'must not set variables that the daemon sets' : undefined
}

/** What is wrong with a secret that a child may ask for (external-8). */
export const faultOfSlot = (slots: ExternalKindParts['slots'], secret_ref: string): string | undefined => {
  const found = slots.find(secret_ref)
  if (found === undefined) return 'must name secrets that are there'
  if (found.provider !== 'generic' || found.mode !== 'opaque_secret') return 'must name generic secrets'
  const { readable, revoked_at_ms } = found.details
  return readable && revoked_at_ms === undefined && !isBlank(slots.value(secret_ref))
    ? undefined
    : 'must name secrets that hold a value'
}

/** Secrets that a child may ask for. */
const usesOf = ({ child_process: child }: ExternalSettings): readonly string[] =>
  Object.values(child?.credential_slots ?? {})

const faultOfUses = ({ slots }: ExternalKindParts, settings: ExternalSettings): Issue | undefined => {
  for (const ref of usesOf(settings)) {
    const rule = faultOfSlot(slots, ref)
    if (rule !== undefined) return { path: 'child_process.credential_slots', rule }
  }
  return undefined
}

/** The test endpoint of a sidecar takes messages of whoever has the shared token: without one, of everybody here. */
const opensTests = ({ env = {} }: ChildProcess): boolean => testVariables.every((name) => env[name]?.trim() === 'true')

const faultOfChild = (draft: ConnectorDraft<ExternalSettings>): Issue | undefined => {
  const { mode, child_process: child } = draft.settings
  if (mode === 'remote_http')
    return child && { path: 'child_process', rule: 'must be absent, because others run the sidecar' }
  if (child === undefined) return { path: 'child_process', rule: 'is required in the mode child_process' }
  if (isBlank(child.command)) return { path: 'child_process.command', rule: 'must not be blank' }
  const ofTexts = faultOfTexts(child)
  if (ofTexts !== undefined) return ofTexts
  const { env = {}, credential_slots = {} } = child
  const ofEnv = faultOfNames(Object.keys(env))
  if (ofEnv !== undefined) return { path: 'child_process.env', rule: ofEnv }
  if (opensTests(child) && !draft.has(sharedToken))
    return { path: 'child_process.env', rule: 'must not open the test endpoint without a shared token' }
  if (Object.keys(credential_slots).length > mostSlots)
    return { path: 'child_process.credential_slots', rule: `must have at most ${mostSlots} entries` }
  const ofSlots = faultOfNames(Object.keys(credential_slots))
  return ofSlots === undefined ? undefined : { path: 'child_process.credential_slots', rule: ofSlots }
}

const faultOf = (parts: ExternalKindParts, draft: ConnectorDraft<ExternalSettings>): Issue | undefined => {
  const { settings } = draft
  if (isBlank(settings.platform)) return { path: 'platform', rule: 'must not be blank' }
  const ofUrl = faultOfBaseUrl(settings, parts.open)
  if (ofUrl !== undefined) return { path: 'base_url', rule: ofUrl }
  if (!draft.has(sharedToken) && !settings.allow_unauthenticated_ingress)
    return { path: sharedToken, rule: 'is required where allow_unauthenticated_ingress is not true' }
  return faultOfChild(draft)
}

const namesOf = (values: Readonly<Record<string, string>> | undefined): string[] | undefined => {
  const names = Object.keys(values ?? {}).toSorted()
  return names.length === 0 ? undefined : names
}
const filled = <T>(list: readonly T[] | undefined): readonly T[] | undefined => (list?.length === 0 ? undefined : list)

export type ExternalKind = ConnectorKind<ExternalSettings>

export const createExternalKind = (parts: ExternalKindParts): ExternalKind => ({
  kind: 'external',
  settings: ExternalSettings,
  secrets: [sharedToken],
  targets: 'additional_reply_targets',
  fixed: ['platform'],
  normal: (settings) => ({
    ...settings,
    platform: settings.platform.trim(),
    base_url: normalBaseUrl(settings.base_url),
    additional_binding_keys: [
      ...new Set(settings.additional_binding_keys.map((key) => key.trim()).filter((key) => key !== '')),
    ],
    ingress_events_per_second: Math.max(1, settings.ingress_events_per_second),
  }),
  fault: (draft) => faultOf(parts, draft),
  exposure: ({ has }) => (has(sharedToken) ? undefined : unauthenticated(sharedToken)),
  uses: usesOf,
  faultOfUses: (settings) => faultOfUses(parts, settings),
  view: ({ child_process: child }) => ({
    child_process: child && {
      command: child.command,
      args: filled(child.args),
      env_keys: namesOf(child.env),
      credential_env_keys: namesOf(child.credential_slots),
      working_dir: child.working_dir,
    },
  }),
})
