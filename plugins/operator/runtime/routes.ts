import {
  array,
  defineRoute,
  doc,
  integer,
  isPluginFailed,
  jsonReply,
  named,
  object,
  open,
  optional,
  string,
  timestamp,
  unsafeCast,
  type Infer,
  type Json,
  type JsonObject,
  type Route,
} from '../../../core/plugin.js'
import { secretErrors } from '../secrets/contract.js'
import type { RuntimeSetting, Settings } from './contract.js'
import { settingErrors } from './settings/errors.js'
import { EntryChanges, historyLimit, type Revision, type Revisions } from './settings/revisions.js'
import { expectedRevision } from './settings/setting-route.js'
import type { SettingsStore } from './settings/settings.js'
import { shownMembers } from './settings/setting.js'
import { fits } from './settings/unfit.js'

const RevisionView = named(
  'RuntimeRevision',
  open({
    revision: doc(integer({ min: 1 }), 'Grows by one with each change.'),
    updated_at_ms: timestamp(),
    setting: doc(string(), 'What changed: a setting, a file such as `config/mcp.toml`, or `rollback`.'),
    source: doc(string(), 'Who asked for the change: `api`, or `file` of a file that was saved.'),
    entries: optional(doc(EntryChanges, 'What a saved file changed, without its values.')),
    rollback_of_revision: optional(
      doc(integer({ min: 0 }), 'The revision whose settings a rollback made hold again; 0 is the configuration.'),
    ),
    files_kept: optional(
      doc(array(string()), 'Files that changed since what a rollback made hold: it leaves them as they are.'),
    ),
    unfit: optional(doc(array(string()), 'Settings whose kept value could not hold: what held in its place is shown.')),
  }),
)

type Shown = Pick<RuntimeParts, 'settings' | 'store'>

/**
 * What held when it was made; of the current one what holds. Of what operators never set the configuration of now is
 * in force, whichever revision holds. A value that has not the form of its setting any more is not shown: what in it
 * is secret cannot be told.
 */
const revisionView = ({ settings, store }: Shown, { values, held = {}, ...revision }: Revision) => {
  const isCurrent = revision.revision === store.revision
  const valueOf = (setting: RuntimeSetting): Json =>
    unsafeCast(isCurrent ? store.get(setting) : ({ ...values, ...held }[setting.name] ?? setting.initial()))
  const unfit = isCurrent ? store.unfit().map(({ setting }) => setting.name) : Object.keys(held)
  const members = settings().map((setting) => membersOf(setting, () => valueOf(setting)))
  return Object.assign({}, ...members, { source: 'api', ...(unfit.length > 0 && { unfit }) }, revision)
}

const membersOf = (setting: RuntimeSetting, valueOf: () => Json): JsonObject => {
  try {
    const value = valueOf()
    return fits(setting, value) ? shownMembers(setting, value) : {}
  } catch (error) {
    if (isPluginFailed(error)) return {}
    throw error
  }
}

const RevisionList = object({
  revisions: array(RevisionView),
  next_before_revision: optional(
    doc(integer({ min: 1 }), 'There are older ones: `before_revision` of the request that lists them.'),
  ),
})

/** Values may be long, such as prompts: a list ends where its entries have this many bytes together. */
const listBytes = 1_048_576

const listRevisions = (
  { revisions, ...shownBy }: Shown & Pick<RuntimeParts, 'revisions'>,
  before: number | undefined,
): Infer<typeof RevisionList> => {
  const kept = revisions.list(before)
  const shown: Infer<typeof RevisionView>[] = []
  let bytes = 0
  for (const revision of kept.slice(0, historyLimit)) {
    const view = revisionView(shownBy, revision)
    bytes += Buffer.byteLength(JSON.stringify(view))
    if (shown.length > 0 && bytes > listBytes) break
    shown.push(view)
  }
  return { revisions: shown, ...(shown.length < kept.length && { next_before_revision: shown.at(-1)?.revision }) }
}

export interface RuntimeParts {
  readonly view: Settings['view']
  readonly revisions: Revisions
  readonly settings: () => readonly RuntimeSetting[]
  readonly store: SettingsStore
}

export const runtimeRoutes = ({ view, revisions, settings, store }: RuntimeParts): readonly Route[] => [
  defineRoute({
    id: 'runtime.get',
    method: 'GET',
    path: '/v1/runtime',
    summary: 'How the daemon is set up: model routes, settings, limits and roots.',
    access: 'read',
    reply: jsonReply(view.schema),
    handler: (): JsonObject => view.collect(),
  }),
  defineRoute({
    id: 'runtime.revisions',
    method: 'GET',
    path: '/v1/runtime/revisions',
    summary: `Revisions of the settings, the newest first: up to ${historyLimit}, fewer if they are long.`,
    access: 'admin',
    query: object({
      before_revision: optional(doc(integer({ min: 1 }), 'Only older ones than this.')),
    }),
    reply: jsonReply(RevisionList),
    handler: ({ query }) => listRevisions({ revisions, settings, store }, query.before_revision),
  }),
  defineRoute({
    id: 'runtime.rollback',
    method: 'POST',
    path: '/v1/runtime/rollback',
    summary: 'Makes the settings of an earlier revision hold again, as a new revision; files stay as they are.',
    access: 'admin',
    body: object({
      target_revision: optional(
        doc(
          integer({ min: 0 }),
          'That before the last change of a setting when absent; 0 is what the configuration says.',
        ),
      ),
      ...expectedRevision,
    }),
    bodyOptional: true,
    reply: jsonReply(view.schema),
    problems: [
      settingErrors.runtime_revision_conflict,
      settingErrors.runtime_change_blocked,
      settingErrors.runtime_revision_not_found,
      settingErrors.runtime_revision_unfit,
      secretErrors.secrets_key_unusable,
    ],
    durability: 'A',
    example: { body: { target_revision: 0 } },
    handler: ({ body: { target_revision, expected_revision, skip_hooks } }): Promise<JsonObject> =>
      store.rollback(target_revision, { expected_revision, skip_hooks }),
  }),
]
