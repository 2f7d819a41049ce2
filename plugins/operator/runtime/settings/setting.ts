/** What operators change while the daemon runs: one setting, and the service that knows what is in force. */
import {
  answerOf,
  definePoint,
  defineToken,
  hasMembers,
  isStruct,
  jsonObject,
  refusing,
  refusingByThrow,
  string,
  taken,
  unsafeCast,
  withAnswers,
  type AnyStruct,
  type Infer,
  type Json,
  type JsonObject,
  type Point,
  type ProblemFactory,
  type StructOf,
  type Token,
} from '../../../../core/plugin.js'

/** How a setting is changed: by `POST /v1/runtime/<path>`, a route that is made of this. */
export interface SettingChange<S extends AnyStruct = AnyStruct, B extends Fields = Fields> {
  /** Such as `permission-mode`. */
  readonly path: string
  readonly summary: string
  /** The members of the body, beside `expected_revision`. */
  readonly fields: B
  /** The value that a body asks for, where this one is in force. Throws a Problem for one that cannot be. */
  value(body: Asked<B>, now: Infer<S>): Infer<S>
  /** The problem of a body that does not fit; `bad_request` when absent. */
  readonly invalid?: ProblemFactory
  /** What `value` and `check` throw, beside it. */
  readonly problems?: readonly ProblemFactory[]
  readonly example: JsonObject
}
type Fields = Record<string, AnyStruct>
/** A body of these members. */
export type Asked<B extends Fields> = { readonly [K in keyof B]: Infer<B[K]> }

/** One thing that can be changed while the daemon runs; everyone reads it with `Settings.get` at each use. */
export interface RuntimeSetting<S extends AnyStruct = AnyStruct, B extends Fields = Fields> {
  /** Such as `permission_mode`: its member in `GET /v1/runtime`, in revisions, and in what is kept. */
  readonly name: string
  readonly schema: S
  /**
   * What holds while no operator has said otherwise: what the configuration says. At a start it must fit `schema`, else
   * the plugin is charged.
   */
  initial(): Infer<S>
  /**
   * Throws a Problem for a value that fits the schema and cannot hold, and returns nothing: anything else that it
   * returns is charged, and refuses as well. Must do no I/O.
   */
  check?(value: Infer<S>): undefined
  /** The members that readers see in place of one with its name and value, such as a value without its secrets. */
  readonly shown?: { readonly fields: Fields; of(value: Infer<S>): JsonObject }
  /**
   * True for one that may hold secrets: it is kept encrypted, and `setBy` is not asked. What of it is secret nobody
   * else knows: what its functions throw is told as it is, so it must not say the value.
   */
  readonly secret?: boolean
  /** The command line that sets one with secrets to nothing: the way out where the key of secrets is lost. */
  readonly emptiedBy?: string
  /** The command line that sets it to a value; undefined where none can. */
  setBy?(value: Infer<S>): string | undefined
  readonly change: SettingChange<S, B>
}
/** Checks a setting's types and returns it. */
export const defineSetting = <S extends AnyStruct, B extends Fields>(
  setting: RuntimeSetting<S, B>,
): RuntimeSetting<S, B> => setting

/** A value as readers see it, by member. */
export const shownMembers = ({ name, shown }: RuntimeSetting, value: unknown): JsonObject =>
  shown === undefined ? { [name]: unsafeCast<Json>(value) } : shown.of(value)

const lacking = hasMembers<RuntimeSetting>('a setting', {
  name: 'id',
  schema: 'object',
  initial: 'function',
  change: 'object',
})
const lackingChange = hasMembers<SettingChange>('the change of a setting', {
  path: 'text',
  fields: 'object',
  value: 'function',
})
const lackingShown = hasMembers<NonNullable<RuntimeSetting['shown']>>('what is shown of a setting', {
  fields: 'object',
  of: 'function',
})
/** The OpenAPI document has the schema and the fields of every setting. */
const settingFault = (setting: RuntimeSetting): string | undefined => {
  const { schema, change, shown } = setting
  const reason = lacking(setting) ?? lackingChange(change) ?? (shown === undefined ? undefined : lackingShown(shown))
  if (reason !== undefined) return reason
  const structs = [schema, ...Object.values(change.fields), ...Object.values(shown?.fields ?? {})]
  return structs.every(isStruct) ? undefined : 'the schema and the fields of a setting must be structs'
}

const value = refusing<unknown>((given, _, setting) => taken(unsafeCast<RuntimeSetting>(setting).schema, given))

/** Every setting of the daemon, by name. Contributing one adds its route and its member in `GET /v1/runtime`. */
export const RuntimeSettings: Point<RuntimeSetting> = withAnswers(
  definePoint<RuntimeSetting>('runtime-settings@1', (setting) => setting.name, settingFault),
  {
    initial: value,
    check: refusingByThrow,
    setBy: answerOf(string(), undefined),
    shown: { of: refusing((shown) => taken(jsonObject(), shown)) },
    change: { value },
  },
)

/** A change that somebody asks for. */
export interface Wish {
  /** The revision that the asker has seen; any when absent. */
  readonly expected_revision?: number | undefined
  /** True to ask no interceptor: the way out when one of them refuses everything. */
  readonly skip_hooks?: boolean | undefined
}

/** The settings in force. What holds is durable: a change that waits for the disk does not hold yet. */
export interface Settings {
  /** The revision that holds; 0 while nothing was ever changed. */
  readonly revision: number
  get<S extends AnyStruct>(setting: Pick<RuntimeSetting<S>, 'name' | 'initial'>): Infer<S>
  /**
   * Resolves when the change is on disk and holds, with what `GET /v1/runtime` answered at its revision. `next` gives
   * the value in place of the one that it is given, the latest; it may be called more than once. Throws
   * `runtime_revision_conflict`, `runtime_change_blocked` and what the setting's check throws; hooks are asked only
   * about what nothing else refuses.
   */
  change<S extends AnyStruct>(
    setting: RuntimeSetting<S>,
    next: (now: Infer<S>) => Infer<S>,
    wish: Wish,
  ): Promise<JsonObject>
  /** True while what was kept of it cannot be decrypted, so that nobody knows what should hold. */
  isLocked(setting: Pick<RuntimeSetting, 'name'>): boolean
  /** What `GET /v1/runtime` answers, and its struct. */
  readonly view: { readonly schema: StructOf<JsonObject>; collect(): JsonObject }
}
export const Settings: Token<Settings> = defineToken<Settings>('settings@1')
