/** What a session shows of its settings. Pure. */
import { unsafeCast, digest, type Caller, type Json } from '../../../core/plugin.js'
import {
  type SessionNote,
  type SessionPersona,
  type SessionRecord,
  type SessionView,
  settingKeys,
  type SettingName,
} from './contract.js'
import { shownHandle } from './addresses.js'
import { effectiveCapabilityScope, effectiveCredentialScope } from './effective.js'

type Shown = Pick<
  SessionView,
  | 'route_policy'
  | 'capability_scope'
  | 'effective_capability_scope'
  | 'credential_scope'
  | 'effective_credential_scope'
  | 'persona'
  | 'reply_targets'
  | 'operator'
  | 'ended_at_ms'
>

const summaryOf = ({ persona_id, persona_version, display_name, bound_at_ms }: SessionPersona): SessionPersona => ({
  persona_id,
  persona_version,
  display_name,
  bound_at_ms,
})

/** Members that are empty are left out. */
export const shownSettings = (session: SessionRecord, caller?: Caller): Shown => {
  const {
    route_policy,
    capability_scope,
    credential_scope,
    persona,
    reply_targets = [],
    operator,
    ended_at_ms,
  } = session
  const effective = { capability: effectiveCapabilityScope(session), credential: effectiveCredentialScope(session) }
  return {
    ...(route_policy !== undefined && { route_policy }),
    ...(capability_scope !== undefined && { capability_scope }),
    ...(effective.capability !== undefined && { effective_capability_scope: effective.capability }),
    ...(credential_scope !== undefined && { credential_scope }),
    ...(effective.credential !== undefined && { effective_credential_scope: effective.credential }),
    ...(persona !== undefined && { persona: summaryOf(persona) }),
    ...(reply_targets.length > 0 && {
      reply_targets: reply_targets.map((handle) => shownHandle(handle, caller)),
    }),
    ...(operator !== undefined && { operator }),
    ...(ended_at_ms !== undefined && { ended_at_ms }),
  }
}

const names = unsafeCast<SettingName[]>(Object.keys(settingKeys))

const shownValue = (session: SessionRecord, name: SettingName, caller: Caller | undefined): Json | undefined => {
  if (name === 'persona') return session.persona === undefined ? undefined : summaryOf(session.persona)
  if (name === 'reply_targets') return session.reply_targets?.map((handle) => shownHandle(handle, caller))
  return session[name]
}

export const metadataOf = (session: SessionRecord, caller?: Caller): { [key: string]: Json } =>
  Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const value = shownValue(session, name, caller)
      return value === undefined ? [] : [[settingKeys[name], value]]
    }),
  )

/**
 * A setting as the journal keeps it. An address may hold a credential, which must not outlive the setting: its digest
 * stands for it.
 */
export const noteOf = (session: SessionRecord, name: SettingName): SessionNote => {
  const key = settingKeys[name]
  const value = metadataOf(session)[key]
  if (value === undefined) return { change: 'cleared', key }
  if (name === 'persona' && session.persona !== undefined)
    return {
      change: 'set',
      key,
      value: { ...summaryOf(session.persona), soul_sha256: session.persona.soul_sha256 },
    }
  if (name !== 'reply_targets') return { change: 'set', key, value }
  return {
    change: 'set',
    key,
    value: (session.reply_targets ?? []).map(({ plugin, address }) => ({ plugin, address_sha256: digest(address) })),
  }
}
