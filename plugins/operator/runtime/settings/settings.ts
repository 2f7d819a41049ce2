/** The settings in force, and how they change. */
import { isDeepStrictEqual } from 'node:util'
import {
  unsafeCast,
  type AnyStruct,
  type Infer,
  type Json,
  type JsonObject,
  type ListChange,
  type State,
} from '../../../../core/plugin.js'
import { isSealed } from '../../secrets/contract.js'
import { whoDid, type Interception } from '../../../execution/interception/contract.js'
import { shownMembers, type RuntimeSetting, type Settings, type Wish } from './setting.js'
import { settingErrors } from './errors.js'
import { faultOf, type Unfit } from './unfit.js'
import { isOfFile, type Revision, type Revisions } from './revisions.js'

export interface SettingsParts {
  readonly state: State
  readonly revisions: Revisions
  readonly settings: () => readonly RuntimeSetting[]
  readonly interception: () => Interception | undefined
  /** Aborts when the daemon begins to stop. */
  readonly leaving: AbortSignal
  /** Called when a change holds, in the order of changes; gives what `GET /v1/runtime` answers then. */
  readonly onHeld: () => JsonObject
}

export interface SettingsStore extends Omit<Settings, 'view'> {
  /**
   * Makes the values of a kept revision hold again: those before the last change of a setting when none is named, and
   * what the configuration says for 0. Files stay as they are. Resolves and throws as `change` does, and throws
   * `runtime_revision_not_found`.
   */
  rollback(target: number | undefined, wish: Wish): Promise<JsonObject>
  /** Makes a revision of what a saved file changed, which is in force already: nobody is asked. */
  note(change: ListChange): Promise<void>
  /** Settings whose kept value does not fit any more: the last one holds that does. */
  unfit(): readonly Unfit[]
}

interface Held {
  readonly revision: number
  readonly values: JsonObject
  readonly unfit: readonly Unfit[]
}

/** What of a revision says what holds. */
type Kept = Pick<Revision, 'revision' | 'setting' | 'source' | 'values'>

/** A change before it is made: the next revision, and what hooks are asked about. */
interface Draft {
  readonly record: Omit<Revision, 'revision' | 'updated_at_ms' | 'source' | 'held'>
  readonly asked: JsonObject
}

export const createSettings = (parts: SettingsParts): SettingsStore => {
  const { state, revisions, settings, onHeld } = parts
  let held: Held | undefined
  // Taken from the state when it is first asked for: every setting is known then.
  const now = (): Held => (held ??= restored(settings(), revisions.list()))
  const after = (before: Held, record: Kept): Held => {
    // What an entry of the file was needed for may not hold any more, or again.
    if (isOfFile(record) || record.setting === 'rollback')
      return restored(settings(), [record, ...revisions.list(record.revision)])
    return changed(before, record)
  }
  /** What will hold when the commits under way are on the disk. */
  const latest = (): Held => {
    const before = now()
    const coming = revisions.list().filter(({ revision }) => revision > before.revision)
    return coming.toReversed().reduce(after, before)
  }
  const add = async (draft: () => Omit<Revision, 'revision' | 'updated_at_ms' | 'held'>): Promise<JsonObject> => {
    let view: JsonObject = {}
    await state.commit((tx) => {
      const [before, next] = [now(), draft()]
      const instead = heldInstead(after(latest(), { ...next, revision: (revisions.newest?.revision ?? 0) + 1 }))
      const record = revisions.add(tx, { ...next, ...(instead !== undefined && { held: instead }) })
      tx.after(() => {
        held = after(held ?? before, record)
        view = onHeld()
      })
    })
    return view
  }
  const commit = async ({ expected_revision, skip_hooks }: Wish, draft: () => Draft): Promise<JsonObject> => {
    const drafted = (): Draft => {
      expectRevision(revisions.newest?.revision ?? 0, expected_revision)
      return draft()
    }
    const { asked } = drafted()
    if (skip_hooks !== true) await mayChange(parts, asked)
    return add(() => ({ ...drafted().record, source: 'api' }))
  }
  return {
    get revision() {
      return now().revision
    },
    get: (setting) => valueIn(now().values, setting),
    change: (setting, next, wish) =>
      commit(wish, () => {
        const value = next(valueIn(latest().values, setting))
        setting.check?.(value)
        // Of every other setting what was kept stays, also where it cannot hold at present.
        const values = { ...revisions.newest?.values, [setting.name]: unsafeCast<Json>(value) }
        return {
          record: { setting: setting.name, values },
          asked: { setting: setting.name, ...shownMembers(setting, value) },
        }
      }),
    rollback: (target, wish) =>
      commit(wish, () => {
        const revision = target ?? beforeLastChange(revisions)
        const values = valuesAt(revisions, revision)
        checkChanges(settings(), { from: revisions.newest?.values ?? {}, to: { revision, values } })
        const files_kept = filesSince(revisions, revision)
        const kept = files_kept.length > 0 && { files_kept }
        return {
          record: { setting: 'rollback', values, rollback_of_revision: revision, ...kept },
          asked: { setting: 'rollback', target_revision: revision },
        }
      }),
    async note({ file, entries }) {
      const setting = `config/${file}.toml`
      const changes = entries.map(({ members, ...entry }) => ({ ...entry, members: [...members] }))
      await add(() => ({ setting, source: 'file', entries: changes, values: revisions.newest?.values ?? {} }))
    },
    unfit: () => now().unfit,
    isLocked: ({ name }) =>
      now().unfit.some((one) => one.setting.name === name) && isSealed(revisions.newest?.values[name]),
  }
}

/** Throws `runtime_revision_conflict`. */
const expectRevision = (revision: number, expected: number | undefined): void => {
  if (expected !== undefined && expected !== revision)
    throw settingErrors.runtime_revision_conflict({
      details: { revision, expected_revision: expected },
      members: { revision },
    })
}

const valueIn = <S extends AnyStruct>(
  values: JsonObject,
  { name, initial }: Pick<RuntimeSetting<S>, 'name' | 'initial'>,
): Infer<S> => {
  const value = values[name]
  return value === undefined ? initial() : unsafeCast<Infer<S>>(value)
}

/** Throws `runtime_change_blocked`, and `daemon_draining` where a stop cut off who was asked. */
const mayChange = async (parts: Pick<SettingsParts, 'interception' | 'leaving'>, asked: JsonObject): Promise<void> => {
  const { leaving } = parts
  const interception = parts.interception()
  if (interception?.wants('config_change') !== true) return
  leaving.throwIfAborted()
  const subject = String(asked['setting'])
  const ruling = await interception.ask({ event: 'config_change', subject, payload: asked }, leaving)
  leaving.throwIfAborted()
  if (ruling.block !== undefined)
    throw settingErrors.runtime_change_blocked({ details: { who: whoDid(ruling, 'block'), reason: ruling.block } })
}

/** What stood before the last change of a setting; where a file made it and it fell, the settings that held then. */
const beforeLastChange = (revisions: Revisions): number => {
  const [last, previous] = revisions.list().filter((record) => !isOfFile(record))
  const before = (last?.revision ?? 0) - 1
  return before <= 0 || revisions.find(before) !== undefined ? before : (previous?.revision ?? 0)
}

const filesSince = (revisions: Revisions, target: number): string[] => [
  ...new Set(
    revisions.list().flatMap((record) => (record.revision > target && isOfFile(record) ? [record.setting] : [])),
  ),
]

/** Throws `runtime_revision_not_found`. */
const valuesAt = ({ newest, find }: Revisions, target: number): JsonObject => {
  const values = target === 0 ? {} : find(target)?.values
  if (newest !== undefined && values !== undefined) return values
  const isFirst = newest === undefined || target < 0
  const reason = isFirst ? 'no setting was changed yet' : `there is no revision ${target}`
  throw settingErrors.runtime_revision_not_found({ details: { reason } })
}

/** A change from what is kept to what a revision has. */
interface Return {
  readonly from: JsonObject
  readonly to: Pick<Revision, 'revision' | 'values'>
}

/** Throws `runtime_revision_unfit`. What stays as it is is not judged. */
const checkChanges = (settings: readonly RuntimeSetting[], { from, to: { revision, values } }: Return): void => {
  for (const setting of settings) {
    const value = values[setting.name]
    if (value === undefined || isDeepStrictEqual(value, from[setting.name])) continue
    const reason = faultOf(setting, value)
    if (reason !== undefined)
      throw settingErrors.runtime_revision_unfit({ details: { revision, setting: setting.name, reason } })
  }
}

/**
 * The values of the first of these, the newest. In place of one that cannot hold any more stands the next that can, or
 * none. What belongs to no setting is kept for the plugin that may come back.
 */
const goodOf = (settings: readonly RuntimeSetting[], from: readonly JsonObject[]): JsonObject => {
  const [newest = {}] = from
  const values: Record<string, Json | undefined> = { ...newest }
  for (const setting of settings) {
    const { name } = setting
    if (newest[name] === undefined) continue
    const good = from
      .map((one) => one[name])
      .find((value) => value !== undefined && faultOf(setting, value) === undefined)
    if (good === undefined) delete values[name]
    else values[name] = good
  }
  return values
}

/** What holds in place of values that cannot. */
const heldInstead = ({ unfit, values }: Held): JsonObject | undefined =>
  unfit.length === 0
    ? undefined
    : Object.fromEntries(unfit.map(({ setting: { name } }) => [name, values[name] ?? null]))

const restored = (settings: readonly RuntimeSetting[], kept: readonly Pick<Kept, 'revision' | 'values'>[]): Held => {
  const values = goodOf(
    settings,
    kept.map((one) => one.values),
  )
  const [newest] = kept
  const unfit = settings.flatMap((setting) => {
    const value = newest?.values[setting.name]
    return value === undefined || value === values[setting.name]
      ? []
      : [{ setting, value, why: faultOf(setting, value) }]
  })
  return { revision: newest?.revision ?? 0, values, unfit }
}

/** What holds after the change of one setting. */
const changed = ({ values, unfit }: Held, { revision, setting, values: kept }: Kept): Held => ({
  revision,
  values: { ...values, [setting]: kept[setting] },
  unfit: unfit.filter((one) => one.setting.name !== setting),
})
