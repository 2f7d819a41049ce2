/** Permission rules that hooks gave to sessions: on the disk before they count, in force until the session ends. */
import {
  array,
  enums,
  object,
  optional,
  string,
  tellFailure,
  type Collection,
  type CollectionSpec,
  type Events,
  type Infer,
  type Log,
  type State,
} from '../../../../core/plugin.js'
import { SessionStateChanged, type Sessions } from '../../../execution/sessions/contract.js'
import type { PermissionRule } from '../../../execution/tools/contract.js'

/** What a hook may give: nothing beyond its session. */
export const PermissionUpdate = object({
  scope: enums(['session']),
  tool_name_pattern: string({ min: 1, max: 200 }),
  behavior: enums(['allow', 'deny', 'ask']),
  reason: optional(string({ max: 1_000 })),
})
export type PermissionUpdate = Infer<typeof PermissionUpdate>

const SessionPermissions = object({ session_id: string(), rules: array(PermissionUpdate) })
type SessionPermissions = Infer<typeof SessionPermissions>

const sessionPermissions: CollectionSpec<SessionPermissions> = {
  name: 'session_permissions',
  version: 1,
  id: ({ session_id }) => session_id,
  indexes: {},
  settled: () => true,
  removed: 'forgotten',
  schema: SessionPermissions,
  references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
}

/** Of one session. */
const mostRules = 200

/**
 * Where there is no room the oldest that allow fall: a person is asked then. Undefined if that is not enough: without
 * one that denies or asks, something would pass.
 */
const fitting = (updates: readonly PermissionUpdate[], kept: readonly PermissionUpdate[]) => {
  const over = Math.max(0, updates.length + kept.length - mostRules)
  const staying = kept.filter(({ behavior }) => behavior === 'allow').length - over
  let allowing = 0
  const stays = ({ behavior }: PermissionUpdate): boolean => behavior !== 'allow' || (allowing += 1) <= staying
  return staying < 0 ? undefined : [...updates, ...kept.filter(stays)]
}

export interface HookPermissions {
  readonly collection: Collection<SessionPermissions>
  /** The newest first: of equally exact ones that one counts. */
  rules(session_id: string): readonly PermissionRule[]
  /**
   * Resolves when they are on the disk and count: one takes the place of an earlier one with its pattern. False if
   * there is no room: then nothing has changed.
   */
  add(session_id: string, updates: readonly PermissionUpdate[]): Promise<boolean>
  clear(session_id: string): Promise<void>
}

const none: readonly PermissionRule[] = []

export const declarePermissions = (state: State): HookPermissions => {
  const collection = state.collection(sessionPermissions)
  const rules = (session_id: string): readonly PermissionUpdate[] => collection.find(session_id)?.rules ?? []
  return {
    collection,
    rules: (session_id) =>
      collection.has(session_id)
        ? rules(session_id).map((rule): PermissionRule => ({ ...rule, origin: 'hook_update' }))
        : none,
    add: (session_id, updates) =>
      state.commit((tx) => {
        const patterns = new Set(updates.map(({ tool_name_pattern }) => tool_name_pattern))
        const kept = rules(session_id).filter(({ tool_name_pattern }) => !patterns.has(tool_name_pattern))
        const fit = fitting(updates, kept)
        if (fit !== undefined) tx.put(collection, { session_id, rules: fit })
        return fit !== undefined
      }),
    async clear(session_id) {
      if (collection.has(session_id))
        await state.commit((tx) => {
          if (collection.has(session_id)) tx.remove(collection, session_id, 'its session has ended')
        })
    },
  }
}

interface ForgetParts {
  readonly permissions: HookPermissions
  readonly sessions: () => Sessions | undefined
  readonly events: Events
  readonly state: State
  readonly log: Log
}

/** Rules end with their session; gives what ends the watch. */
export const forgetEnded = ({ permissions, sessions, events, state, log }: ForgetParts): (() => void) =>
  events.on(SessionStateChanged, ({ session_id }) => {
    if (!permissions.collection.has(session_id) || sessions()?.find(session_id)?.ended_at_ms === undefined) return
    permissions
      .clear(session_id)
      .catch((error: unknown) => tellFailure({ log, state }, 'rules of an ended session stay', { session_id, error }))
  })
