/** What `GET /v1/runtime` answers: a member for each setting and each section. */
import {
  isPluginFailed,
  lazy,
  object,
  optional,
  type AnyStruct,
  type Json,
  type JsonObject,
  type Log,
  type StructOf,
} from '../../../core/plugin.js'
import { uncollected, type RuntimeSection, type RuntimeSetting, type Settings } from './contract.js'
import { shownMembers } from './settings/setting.js'

/** Members for each setting, as readers see it. */
export const settingSections = (settings: readonly RuntimeSetting[], get: Settings['get']): readonly RuntimeSection[] =>
  settings.flatMap((setting) =>
    Object.entries(setting.shown?.fields ?? { [setting.name]: setting.schema }).map(([name, schema]) => ({
      name,
      schema,
      collect: () => shownMembers(setting, get(setting))[name] ?? null,
    })),
  )

/** Members are known only when every plugin has registered. */
export const runtimeView = (sections: () => readonly RuntimeSection[]): StructOf<JsonObject> =>
  lazy('RuntimeSettingsView', () =>
    object<Record<string, AnyStruct>>(
      Object.fromEntries(sections().map(({ name, schema }) => [name, optional(schema)])),
    ),
  )

/** A section that throws is left out and told, and takes no other with it. */
export const collectSections = (sections: readonly RuntimeSection[], log: Log): JsonObject => {
  const members: Record<string, Json | undefined> = {}
  for (const { name, collect } of sections) {
    try {
      const collected = collect()
      if (collected !== uncollected) members[name] = collected
    } catch (error) {
      if (!isPluginFailed(error)) log.error('a section of the runtime failed', { section: name, error })
    }
  }
  return members
}
