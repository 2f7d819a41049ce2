/** One change of one setting: checked and written in the same commit, with its entry in the journal. */
import { unsafeCast, type State, type Caller, canonical } from '../../../core/plugin.js'
import type {
  PersonaSource,
  SessionActivity,
  SessionRecord,
  Sessions,
  SessionView,
  SettingChange,
  SettingName,
} from './contract.js'
import { noteChange, noteOf } from './record/journal.js'
import { putSession } from './record/store.js'

export interface SettingParts {
  readonly sessions: Sessions
  readonly personas: PersonaSource
  readonly state: State
  readonly activity: () => SessionActivity | undefined
}

/** A run reads its route when it is accepted, so that the policy can change beside it. */
const changesWhileBusy: ReadonlySet<SettingName> = new Set(['route_policy'])

/** A session with one setting replaced, or without it. */
export const withSetting = <N extends SettingName>(
  session: SessionRecord,
  name: N,
  value: SessionRecord[N] | undefined,
): SessionRecord => {
  const { [name]: _, ...rest } = session
  return unsafeCast<SessionRecord>(value === undefined ? rest : { ...rest, [name]: value })
}

/** A change that changes nothing leaves no entry. */
export const changeSetting = async <N extends SettingName>(
  { sessions, personas, state, activity }: SettingParts,
  session_id: string,
  { name, next }: SettingChange<N>,
): Promise<void> => {
  sessions.get(session_id)
  await state.commit((tx) => {
    const before = sessions.get(session_id)
    if (!changesWhileBusy.has(name)) sessions.requireIdle(session_id)
    const value = next(before, tx)
    if (canonical(value) === canonical(before[name])) return
    const after = withSetting(before, name, value)
    putSession({ collection: sessions.collection, personas }, tx, after)
    noteChange({ journal: sessions.journal, activity }, tx, { session_id, note: noteOf(after, name) })
  })
}

export const changedView = async <N extends SettingName>(
  sessions: Sessions,
  { params: { session_id }, caller }: { readonly params: { readonly session_id: string }; readonly caller: Caller },
  change: SettingChange<N>,
): Promise<SessionView> => {
  await sessions.change(session_id, change)
  return sessions.view(sessions.get(session_id), caller)
}
