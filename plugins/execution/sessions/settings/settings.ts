/**
 * What a session is set up with (sessions-9). Lists are stored trimmed, sorted and without
 * repetition; `*` stands alone.
 */
import {
  array,
  boolean,
  defaulted,
  defineToken,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Token,
  type Tx,
} from '../../../../core/plugin.js'
import { ReplyHandle } from '../../deliveries/contract.js'
import { GenerationSettings } from '../../models/contract.js'

const names = () => defaulted(array(string({ max: 400 }), { max: 1000 }), [])

/** What is visible or callable. An empty allow list restricts nothing; a deny list is applied after it. */
export const CapabilityScope = named(
  'CapabilityScope',
  object({
    skill_allow: names(),
    skill_deny: names(),
    mcp_server_allow: names(),
    mcp_server_deny: names(),
    mcp_tool_allow: names(),
    mcp_tool_deny: names(),
  }),
)
/** The value form of `CapabilityScope`. */
export type CapabilityScope = Infer<typeof CapabilityScope>

/** Which auth-backed routes, connector credentials and credentialed MCP surfaces can resolve. */
export const CredentialScope = named(
  'CredentialScope',
  object({
    route_allow: names(),
    route_deny: names(),
    connector_allow: names(),
    connector_deny: names(),
    connector_credential_allow: names(),
    connector_credential_deny: names(),
    mcp_server_allow: names(),
    mcp_server_deny: names(),
  }),
)
/** The value form of `CredentialScope`. */
export type CredentialScope = Infer<typeof CredentialScope>

/** The model that runs of a session use unless they say otherwise. */
export const SessionRoutePolicy = named(
  'SessionRoutePolicy',
  object({
    provider: optional(doc(string({ min: 1, max: 200 }), 'Preferred route id.')),
    generation: optional(GenerationSettings),
  }),
)
/** The value form of `SessionRoutePolicy`. */
export type SessionRoutePolicy = Infer<typeof SessionRoutePolicy>

const toolNames = () =>
  defaulted(
    array(
      string({
        min: 1,
        max: 200,
        pattern: '^[^*\\s]*\\*?$',
        told: 'must be the name of a tool, or its beginning with a * behind it',
      }),
      { max: 1000 },
    ),
    [],
  )

/** Which tools a session has turned off (sessions-32). */
export const ToolOverrides = named(
  'ToolOverrides',
  object({
    enable: doc(toolNames(), 'Names, or beginnings with a trailing star, that stay on where a wider one is off.'),
    disable: doc(toolNames(), 'Names, or beginnings with a trailing star, that are neither shown nor called.'),
  }),
)
/** The value form of `ToolOverrides`. */
export type ToolOverrides = Infer<typeof ToolOverrides>

/** Where runs work: in the workspace, which all share, or each in a git worktree of its own (worktrees-1). */
export const Isolation = enums(['shared', 'worktree'])
/** The value form of `Isolation`. */
export type Isolation = Infer<typeof Isolation>

/** Whether and how the model may contact the operator. */
export const OperatorContact = named(
  'OperatorContact',
  object({
    enabled: defaulted(boolean(), false),
    display_name: optional(doc(string({ max: 200 }), 'Shown to the model.')),
    communication_style: optional(doc(string({ max: 2000 }), 'Shown to the model.')),
    allow_notify: defaulted(boolean(), true),
    allow_questions: defaulted(boolean(), true),
  }),
)
/** The value form of `OperatorContact`. */
export type OperatorContact = Infer<typeof OperatorContact>

/** A persona as it was when a session was bound to it; never returned whole (personas-7 and personas-8). */
export type PersonaSnapshot = {
  readonly persona_id: string
  readonly persona_version: number
  readonly display_name: string
  /** Its text stands apart, where personas keep it. */
  readonly soul_sha256: string
  /** Only in records of earlier versions: the text itself, and the digest is nobody's yet. */
  readonly soul?: string
  /** Of its default skills with their instructions, which stand apart too; absent if it has none. */
  readonly default_skills_sha256?: string
  readonly capability_scope?: CapabilityScope
  readonly bound_at_ms: number
}
/** Where the personas are that sessions are bound to. */
export interface PersonaSource {
  /**
   * What a session freezes of a persona as it is now, in the commit that binds it. Throws `persona_not_found` (404),
   * and `persona_unbindable` (400) where its default skills are not there any more.
   */
  freeze(tx: Tx, persona_id: string): Omit<PersonaSnapshot, 'bound_at_ms' | 'soul'>
  /** Throws `persona_not_found` (404): for those who name a persona that sessions are to be bound to later. */
  require(persona_id: string): void
  /** The text of a digest that a record names. */
  soul(sha256: string): string
  /** Keeps the text of a record that names its digest from this commit on. */
  keepSoul(tx: Tx, text: string): void
  /** A session of this commit was bound to this until now: what no record names any more goes. */
  letGo(tx: Tx, snapshot: PersonaSnapshot): void
}
/** Where the personas are that sessions are bound to. */
export const PersonaSource: Token<PersonaSource> = defineToken<PersonaSource>('personas@1')

/** What a session tells of its persona (personas-10). */
export const SessionPersona = named(
  'SessionPersona',
  object({
    persona_id: doc(string(), 'Id of the persona.'),
    persona_version: integer({ min: 1 }),
    display_name: doc(string(), 'A name for people.'),
    bound_at_ms: timestamp(),
  }),
)
/** The value form of `SessionPersona`. */
export type SessionPersona = Infer<typeof SessionPersona>

/** The targets of a session (sessions-19). */
export const SessionReplyTargetsView = named('SessionReplyTargetsView', object({ reply_targets: array(ReplyHandle) }))

/** The settings of a session, as they are kept. */
export type SessionSettings = {
  /** The persona as it was when it was bound. */
  readonly persona?: PersonaSnapshot
  readonly capability_scope?: CapabilityScope
  readonly credential_scope?: CredentialScope
  readonly route_policy?: SessionRoutePolicy
  /** Empty after an explicit clear; absent while nobody set any. */
  readonly reply_targets?: readonly ReplyHandle[]
  readonly operator?: OperatorContact
  readonly tool_overrides?: ToolOverrides
  /** Of runs that do not say themselves; they share the workspace when absent. */
  readonly isolation?: Isolation
}

/** Settings of a session by their names in its journal and its `metadata` (sessions-28). */
export const settingKeys = {
  route_policy: 'session_route_policy',
  persona: 'session_persona_binding',
  capability_scope: 'session_capability_scope',
  credential_scope: 'session_credential_scope',
  reply_targets: 'session_reply_targets',
  operator: 'session_operator_config',
  tool_overrides: 'session_tool_overrides',
  isolation: 'session_isolation',
} as const
/** A setting, as the member of `SessionSettings` that holds it. */
export type SettingName = keyof typeof settingKeys

/** The settings that a session's views show; empty ones are left out (sessions-6). */
export const settingFields = {
  route_policy: optional(doc(SessionRoutePolicy, 'Which model routes the session uses.')),
  capability_scope: optional(doc(CapabilityScope, 'What the session may see and call at most.')),
  effective_capability_scope: optional(
    doc(CapabilityScope, 'The baseline of the persona, restricted by the scope of the session.'),
  ),
  credential_scope: optional(doc(CredentialScope, 'Which credentials the session may use at most.')),
  effective_credential_scope: optional(
    doc(
      CredentialScope,
      'With connector credentials denied where connectors are scoped and no credential is allowed by name.',
    ),
  ),
  persona: optional(doc(SessionPersona, 'The persona that the session speaks as.')),
  reply_targets: optional(doc(array(ReplyHandle), 'Where the outputs go.')),
  operator: optional(doc(OperatorContact, 'Whether and how the model may contact the operator.')),
  tool_overrides: optional(doc(ToolOverrides, 'Which tools the session has turned off.')),
  isolation: optional(doc(Isolation, 'Whether runs work in the workspace or each in a git worktree of its own.')),
  ended_at_ms: optional(doc(timestamp(), 'When the session was ended; absent while it is open.')),
}
