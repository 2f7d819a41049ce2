/** Creating a session, and using one again (sessions-1 to sessions-3). */
import {
  defineRoute,
  doc,
  jsonReply,
  object,
  optional,
  string,
  type Ids,
  type Route,
  type Tx,
  canonical,
  unsafeCast,
} from '../../../core/plugin.js'
import type { Interception } from '../interception/contract.js'
import { withSetting, type SettingParts } from './change.js'
import {
  CapabilityScope,
  CredentialScope,
  SessionView,
  sessionErrors,
  type SessionRecord,
  type SettingName,
  type WantedSession,
  isSessionId,
} from './contract.js'
import { noteChange, noteOf } from './record/journal.js'
import { settingKeys } from './settings/settings.js'
import { putSession } from './record/store.js'
import { checkedScope, rebound } from './rules.js'

const CreateSession = object({
  session_id: optional(doc(string({ max: 200 }), 'Chosen by the caller, or made by the daemon.')),
  thread_id: optional(doc(string({ min: 1, max: 200 }), 'The thread of this session at the provider.')),
  persona_id: optional(doc(string({ min: 1, max: 200 }), 'Bound as the persona is now.')),
  capability_scope: optional(doc(CapabilityScope, 'What the session may see and call at most.')),
  credential_scope: optional(doc(CredentialScope, 'Which credentials the session may use at most.')),
})

/** Problems of `openSession`. */
const openProblems = [
  sessionErrors.invalid_session_id,
  sessionErrors.session_conflict,
  sessionErrors.blank_scope_entry,
  sessionErrors.persona_not_found,
  sessionErrors.persona_unbindable,
]

/** What is asked of a session, its scopes as they are stored. */
interface Draft extends Pick<SessionRecord, 'thread_id' | 'capability_scope' | 'credential_scope'> {
  readonly session_id: string
  readonly persona_id?: string
  readonly settings?: WantedSession['settings']
}

export interface OpenParts extends SettingParts {
  readonly ids: Ids
  readonly interception: () => Interception | undefined
}

export const createRoute = ({ sessions, state, ids }: Pick<OpenParts, 'sessions' | 'state' | 'ids'>): Route =>
  defineRoute({
    id: 'sessions.create',
    method: 'POST',
    path: '/v1/sessions',
    summary: 'Creates a session, or uses the one that has this id; an ended one is opened again.',
    access: 'admin',
    body: CreateSession,
    bodyOptional: true,
    reply: jsonReply(SessionView, 201),
    problems: openProblems,
    durability: 'A',
    example: { body: { session_id: 'first' } },
    handler: async ({ body: { session_id = ids.make('session'), ...wanted }, caller }) => {
      await state.commit((tx) => sessions.open(tx, { session_id, ...wanted }))
      return sessions.view(sessions.get(session_id), caller)
    },
  })

/** Creates a session in a commit, or opens the one that has this id if it has ended. */
export const openSession = (parts: OpenParts, tx: Tx, wanted: WantedSession): void => {
  const draft = draftOf(wanted)
  const known = parts.sessions.find(draft.session_id)
  if (known === undefined) create(parts, tx, draft)
  else reuse(parts, tx, { known, draft, wanted })
  if (known === undefined || known.ended_at_ms !== undefined)
    tx.after(() => tellStarted(parts, draft.session_id, known))
}

const draftOf = ({ session_id, thread_id, persona_id, settings, ...scopes }: WantedSession): Draft => {
  checkId(session_id)
  const capability_scope =
    scopes.capability_scope === undefined ? undefined : checkedScope(scopes.capability_scope, 'body.capability_scope')
  const credential_scope =
    scopes.credential_scope === undefined ? undefined : checkedScope(scopes.credential_scope, 'body.credential_scope')
  return {
    session_id,
    ...(thread_id !== undefined && { thread_id }),
    ...(persona_id !== undefined && { persona_id }),
    ...(settings !== undefined && { settings }),
    ...(capability_scope !== undefined && { capability_scope }),
    ...(credential_scope !== undefined && { credential_scope }),
  }
}

const tellStarted = (
  { sessions, interception }: OpenParts,
  session_id: string,
  known: SessionRecord | undefined,
): void => {
  const source = known === undefined ? 'created' : 'opened'
  const { agent_id } = sessions.get(session_id)
  interception()?.tell({ event: 'session_start', subject: source, session_id, agent_id, payload: { source } })
}

const checkId = (session_id: string): void => {
  if (isSessionId(session_id)) return
  throw sessionErrors.invalid_session_id({
    errors: [
      {
        path: 'body.session_id',
        rule: 'must not be empty, "." or "..", and must hold no slash, backslash or control character',
      },
    ],
  })
}

const settingNames = unsafeCast<readonly SettingName[]>(Object.keys(settingKeys))

const create = (
  { sessions, ids, personas, activity }: OpenParts,
  tx: Tx,
  { persona_id, settings, ...draft }: Draft,
): void => {
  const bare: SessionRecord = { agent_id: ids.make('agent'), created_at_ms: tx.now, ...settings, ...draft }
  const session =
    persona_id === undefined
      ? bare
      : withSetting(bare, 'persona', rebound(undefined, personas.freeze(tx, persona_id), tx.now))
  putSession({ collection: sessions.collection, personas }, tx, session)
  const set = settingNames.filter((name) => session[name] !== undefined)
  const { session_id } = session
  for (const name of set)
    noteChange({ journal: sessions.journal, activity }, tx, { session_id, note: noteOf(session, name) })
}

interface Reuse {
  readonly known: SessionRecord
  readonly draft: Draft
  readonly wanted: WantedSession
}

const reuse = ({ sessions, personas, activity }: OpenParts, tx: Tx, { known, draft, wanted }: Reuse): void => {
  checkReuse(known, { draft, wanted })
  const joins = draft.thread_id !== undefined && known.thread_id === undefined
  if (known.ended_at_ms === undefined && !joins) return
  const { ended_at_ms, end_reason: _, ...kept } = known
  const next = { ...kept, ...(draft.thread_id !== undefined && { thread_id: draft.thread_id }) }
  putSession({ collection: sessions.collection, personas }, tx, next)
  if (ended_at_ms === undefined) return
  const { session_id } = known
  noteChange({ journal: sessions.journal, activity }, tx, { session_id, note: { change: 'opened' } })
  sessions.announce(tx, session_id)
}

/**
 * What a request says must be what is stored: a session is never widened, narrowed or bound anew by being created
 * again.
 */
const checkReuse = (known: SessionRecord, { draft, wanted }: Omit<Reuse, 'known'>): void => {
  const same = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)
  const differs = {
    thread_id: known.thread_id !== undefined && wanted.thread_id !== undefined && known.thread_id !== wanted.thread_id,
    persona_id: wanted.persona_id !== undefined && known.persona?.persona_id !== wanted.persona_id,
    capability_scope: wanted.capability_scope !== undefined && !same(known.capability_scope, draft.capability_scope),
    credential_scope: wanted.credential_scope !== undefined && !same(known.credential_scope, draft.credential_scope),
  }
  const [field] = Object.entries(differs).flatMap(([name, other]) => (other ? [name] : []))
  if (field === undefined) return
  throw sessionErrors.session_conflict({
    details: { session_id: known.session_id, field },
    errors: [{ path: `body.${field}`, rule: 'must equal the stored one' }],
  })
}
