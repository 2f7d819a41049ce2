/** The settings in force, and how they change. */
import {
  parse,
  unsafeCast,
  type AnyStruct,
  type Infer,
  type Json,
  type JsonObject,
  type State,
  type Warning,
} from '../../../../core/plugin.js'
import type { Interception } from '../../../execution/interception/contract.js'
import { shownMembers, type RuntimeSetting, type Settings, type Wish } from './setting.js'
import { settingErrors } from './errors.js'
import type { Revision, Revisions } from './revisions.js'

export interface SettingsParts {
  readonly state: State
  readonly revisions: Revisions
  readonly settings: () => readonly RuntimeSetting[]
  readonly interception: () => Interception | undefined
  /** Called when a change holds, in the order of changes. */
  readonly onHeld: () => void
}

export interface SettingsStore extends Omit<Settings, 'view'> {
  /**
   * Makes the values of an earlier revision hold again: that before the current one when none is named, and what the
   * configuration says for 0. Throws `runtime_revision_not_found` and what the settings' checks throw.
   */
  rollback(target: number | undefined, wish: Wish): Promise<void>
  /** Settings whose kept value does not fit any more: the last one holds that does. */
  unfit(): readonly string[]
}

interface Held {
  readonly revision: number
  readonly values: JsonObject
  readonly unfit: readonly string[]
}

/** Whoever is asked has a limit of its own. */
const never = new AbortController().signal

export const createSettings = ({ state, revisions, settings, interception, onHeld }: SettingsParts): SettingsStore => {
  let held: Held | undefined
  // Taken from the state when it is first asked for: every setting is known then.
  const now = (): Held => (held ??= restored(settings(), revisions.list()))
  const commit = async (
    { expected_revision, skip_hooks }: Wish,
    asked: JsonObject,
    draft: () => Pick<Revision, 'setting' | 'values' | 'rollback_of_revision'>,
  ): Promise<void> => {
    const { unfit: before } = now()
    await mayChange(interception(), skip_hooks === true ? undefined : asked)
    await state.commit((tx) => {
      const revision = revisions.newest?.revision ?? 0
      if (expected_revision !== undefined && expected_revision !== revision)
        throw settingErrors.runtime_revision_conflict({
          details: { revision, expected_revision },
          members: { revision },
        })
      const record = revisions.add(tx, draft())
      const unfit = (held?.unfit ?? before).filter((name) => record.setting !== name && record.setting !== 'rollback')
      tx.after(() => {
        held = { revision: record.revision, values: record.values, unfit }
        onHeld()
      })
    })
  }
  /** What the newest revision says, as far as it holds: those of a commit under way too. */
  const latest = (): JsonObject => {
    const { newest } = revisions
    return newest === undefined || newest.revision === now().revision ? now().values : newest.values
  }
  return {
    get revision() {
      return now().revision
    },
    get: (setting) => valueIn(now().values, setting),
    change: async (setting, next, wish) => {
      const asked = { setting: setting.name, ...shownMembers(setting, next(valueIn(now().values, setting))) }
      await commit(wish, asked, () => {
        const values = latest()
        const value = next(valueIn(values, setting))
        setting.check?.(value)
        return { setting: setting.name, values: { ...values, [setting.name]: unsafeCast<Json>(value) } }
      })
    },
    rollback: (target, wish) =>
      commit(wish, { setting: 'rollback', target_revision: target ?? null }, () => {
        const { newest } = revisions
        const values = checked(settings(), valuesAt(revisions, target ?? (newest?.revision ?? 0) - 1))
        return { setting: 'rollback', values, ...(newest !== undefined && { rollback_of_revision: newest.revision }) }
      }),
    unfit: () => now().unfit,
  }
}

const valueIn = <S extends AnyStruct>(
  values: JsonObject,
  { name, initial }: Pick<RuntimeSetting<S>, 'name' | 'initial'>,
): Infer<S> => {
  const value = values[name]
  return value === undefined ? initial() : unsafeCast<Infer<S>>(value)
}

/** Throws `runtime_change_blocked`. A change that nobody asked for is asked about by nobody. */
const mayChange = async (interception: Interception | undefined, asked: JsonObject | undefined): Promise<void> => {
  if (asked === undefined || interception?.wants('config_change') !== true) return
  const subject = String(asked['setting'])
  const { block, by } = await interception.ask({ event: 'config_change', subject, payload: asked }, never)
  if (block !== undefined)
    throw settingErrors.runtime_change_blocked({ details: { hook: by.at(-1) ?? '', reason: block } })
}

/** Throws `runtime_revision_not_found`. */
const valuesAt = ({ newest, find }: Revisions, target: number): JsonObject => {
  const values = target === 0 ? {} : find(target)?.values
  if (newest === undefined || target >= newest.revision || values === undefined)
    throw settingErrors.runtime_revision_not_found({ details: { revision: target } })
  return values
}

/** Without what no longer has the form of its setting. Throws what the settings' checks throw. */
const checked = (settings: readonly RuntimeSetting[], kept: JsonObject): JsonObject => {
  const values: Record<string, Json | undefined> = { ...kept }
  for (const { name, schema, check } of settings) {
    const value = values[name]
    if (value === undefined) continue
    if (parse(schema, value).ok) check?.(value)
    else delete values[name]
  }
  return values
}

const holds = ({ schema, check }: RuntimeSetting, value: Json): boolean => {
  if (!parse(schema, value).ok) return false
  try {
    check?.(value)
    return true
  } catch {
    return false
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
    const good = from.map((one) => one[name]).find((value) => value !== undefined && holds(setting, value))
    if (good === undefined) delete values[name]
    else values[name] = good
  }
  return values
}

const restored = (settings: readonly RuntimeSetting[], kept: readonly Revision[]): Held => {
  const values = goodOf(
    settings,
    kept.map((one) => one.values),
  )
  const [newest] = kept
  const unfit = settings.flatMap(({ name }) => (newest?.values[name] === values[name] ? [] : [name]))
  return { revision: newest?.revision ?? 0, values, unfit }
}

/** Warnings for settings whose kept value does not fit any more. */
export const unfitWarnings = (names: readonly string[]): readonly Warning[] =>
  names.map((name) => ({
    severity: 'warning',
    code: 'setting_unfit',
    message: `What was kept of the setting ${name} cannot hold any more; the last value that can is in force.`,
    action: 'Look at GET /v1/runtime/revisions, and set it again.',
    related_id: name,
  }))
