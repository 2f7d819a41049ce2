/** What a session shows of its settings. Pure. */
import { object, unsafeCast, type Caller, type Infer, type Json } from '../../../../core/plugin.js'
import { shownHandle } from './addresses.js'
import { effectiveCapabilityScope, effectiveCredentialScope } from './effective.js'
import { settingFields, settingKeys, type SessionPersona, type SessionSettings, type SettingName } from './settings.js'

const ShownSettings = object(settingFields)
type ShownSettings = Infer<typeof ShownSettings>
/** A session, as far as its settings are shown. */
type Shown = SessionSettings & { readonly ended_at_ms?: number }

export const personaSummary = ({
  persona_id,
  persona_version,
  display_name,
  bound_at_ms,
}: SessionPersona): SessionPersona => ({
  persona_id,
  persona_version,
  display_name,
  bound_at_ms,
})

/** Members that are empty are left out. */
export const shownSettings = (session: Shown, caller?: Caller): ShownSettings => {
  const {
    route_policy,
    capability_scope,
    credential_scope,
    persona,
    reply_targets = [],
    operator,
    tool_overrides,
    isolation,
    ended_at_ms,
  } = session
  const effective = { capability: effectiveCapabilityScope(session), credential: effectiveCredentialScope(session) }
  return {
    ...(route_policy !== undefined && { route_policy }),
    ...(capability_scope !== undefined && { capability_scope }),
    ...(effective.capability !== undefined && { effective_capability_scope: effective.capability }),
    ...(credential_scope !== undefined && { credential_scope }),
    ...(effective.credential !== undefined && { effective_credential_scope: effective.credential }),
    ...(persona !== undefined && { persona: personaSummary(persona) }),
    ...(reply_targets.length > 0 && {
      reply_targets: reply_targets.map((handle) => shownHandle(handle, caller)),
    }),
    ...(operator !== undefined && { operator }),
    ...(tool_overrides !== undefined && { tool_overrides }),
    ...(isolation !== undefined && { isolation }),
    ...(ended_at_ms !== undefined && { ended_at_ms }),
  }
}

const names = unsafeCast<SettingName[]>(Object.keys(settingKeys))

const shownValue = (session: SessionSettings, name: SettingName, caller: Caller | undefined): Json | undefined => {
  if (name === 'persona') return session.persona === undefined ? undefined : personaSummary(session.persona)
  if (name === 'reply_targets') return session.reply_targets?.map((handle) => shownHandle(handle, caller))
  return session[name]
}

export const metadataOf = (session: SessionSettings, caller?: Caller): { [key: string]: Json } =>
  Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const value = shownValue(session, name, caller)
      return value === undefined ? [] : [[settingKeys[name], value]]
    }),
  )
