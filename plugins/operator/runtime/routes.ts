import {
  array,
  defineRoute,
  doc,
  integer,
  jsonReply,
  named,
  object,
  open,
  optional,
  string,
  timestamp,
  type JsonObject,
  type Route,
} from '../../../core/plugin.js'
import type { RuntimeSetting, Settings } from './contract.js'
import { settingErrors } from './settings/errors.js'
import { historyLimit, type Revision, type Revisions } from './settings/revisions.js'
import { expectedRevision } from './settings/setting-route.js'
import type { SettingsStore } from './settings/settings.js'
import { shownMembers } from './settings/setting.js'

const RevisionView = named(
  'RuntimeRevision',
  open({
    revision: doc(integer({ min: 1 }), 'Grows by one with each change.'),
    updated_at_ms: timestamp(),
    setting: doc(string(), 'What changed, or `rollback`.'),
    rollback_of_revision: optional(doc(integer({ min: 1 }), 'The revision that a rollback took the place of.')),
  }),
)

/** Of what operators never set the configuration of now is in force, whichever revision holds. */
const revisionView = (settings: readonly RuntimeSetting[], { values, ...revision }: Revision) => ({
  ...Object.assign({}, ...settings.map((setting) => shownMembers(setting, values[setting.name] ?? setting.initial()))),
  ...revision,
})

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
    summary: `The current revision of the settings and up to ${historyLimit} before it, the newest first.`,
    access: 'admin',
    reply: jsonReply(object({ revisions: array(RevisionView) })),
    handler: () => ({ revisions: revisions.list().map((one) => revisionView(settings(), one)) }),
  }),
  defineRoute({
    id: 'runtime.rollback',
    method: 'POST',
    path: '/v1/runtime/rollback',
    summary: 'Makes the settings of an earlier revision hold again, as a new revision.',
    access: 'admin',
    body: object({
      target_revision: optional(
        doc(integer({ min: 0 }), 'That before the current one when absent; 0 is what the configuration says.'),
      ),
      ...expectedRevision,
    }),
    bodyOptional: true,
    reply: jsonReply(view.schema),
    problems: [
      settingErrors.runtime_revision_conflict,
      settingErrors.runtime_change_blocked,
      settingErrors.runtime_revision_not_found,
    ],
    durability: 'A',
    example: { body: { target_revision: 0 } },
    handler: async ({ body: { target_revision, expected_revision, skip_hooks } }): Promise<JsonObject> => {
      await store.rollback(target_revision, { expected_revision, skip_hooks })
      return view.collect()
    },
  }),
]
