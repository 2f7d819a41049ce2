/** How the daemon is set up now, and what of it operators change while it runs (runtime-3, runtime-26). */
import {
  defineEvent,
  definePoint,
  hasMembers,
  isStruct,
  jsonObject,
  object,
  plainCopy,
  withAnswers,
  type AnyStruct,
  type EventSpec,
  type Json,
  type JsonObject,
  type Point,
} from '../../../core/plugin.js'

/** One member of `GET /v1/runtime`. */
export interface RuntimeSection {
  /** The member's name, such as `routes`. */
  readonly name: string
  readonly schema: AnyStruct
  /**
   * Must be fast and must not do I/O. If it throws, the member is left out and its plugin is charged; so is it where
   * that of a third-party plugin returns what is no plain JSON of 256 KiB at most.
   */
  readonly collect: () => Json
}
/** What stands for a section that failed, and was charged. */
export const uncollected: Json = Object.freeze({})
const mostSectionBytes = 256 * 1024
const isSection = hasMembers<RuntimeSection>('a section of the runtime', { name: 'id', collect: 'function' })
/** The OpenAPI document has the schema of every section. */
const sectionFault = (section: RuntimeSection): string | undefined =>
  isSection(section) ??
  (isStruct(section.schema) ? undefined : 'the schema of a section of the runtime must be a struct')
/** Members of `GET /v1/runtime` by name, contributed by the plugins that own them. */
export const RuntimeSections: Point<RuntimeSection> = withAnswers(
  definePoint<RuntimeSection>('runtime-sections@1', (section) => section.name, sectionFault),
  { collect: { take: (collected: unknown) => plainCopy(collected, mostSectionBytes), otherwise: uncollected } },
)

/** What can be changed while the daemon runs, and what of it is in force (runtime-26 to runtime-29). */
export { defineSetting, RuntimeSettings, Settings } from './settings/setting.js'
/** The commands that show a group of values, and set some of them. */
export { groupCommands } from './settings/group-commands.js'
/** The command that sets one whole, from a file or standard input. */
export { setWholeCommand } from './settings/setting-command.js'
/** Their shapes. */
export type { RuntimeSetting, SettingChange, Wish } from './settings/setting.js'

/** Published after a change of a setting, on the unfiltered stream only (events-16). */
export const runtimeUpdated: EventSpec<{ runtime: JsonObject }> = defineEvent({
  name: 'runtime_updated',
  summary: 'A setting has changed; `runtime` is what `GET /v1/runtime` answers now.',
  data: object({ runtime: jsonObject() }),
})
