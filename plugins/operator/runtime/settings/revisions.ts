/** The revisions of the settings: the current one and those before it, each whole. */
import {
  array,
  doc,
  enums,
  integer,
  jsonObject,
  object,
  optional,
  string,
  timeKey,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type JsonObject,
  type State,
  type Tx,
} from '../../../../core/plugin.js'
import { isSealed, type SealKeeper } from '../../secrets/contract.js'
import type { Sealing } from './sealing.js'

/** Revisions that are kept beside the current one. */
export const historyLimit = 64
/** Revisions of one saved file that are kept beside those: whoever saves it often pushes nothing else out. */
const fileLimit = 16

/** What a saved file changed, without its values. */
export const EntryChanges = array(
  object({
    name: doc(string(), 'Of the entry.'),
    change: enums(['added', 'changed', 'moved', 'removed']),
    members: doc(array(string()), 'Names of its members that differ; of an added one, all.'),
  }),
)

/**
 * One revision. `setting` is what changed: a setting, a file such as `config/mcp.toml`, or `rollback`; `source` who
 * asked, `api` or `file`; `values` has what operators changed, by setting: of every other one the configuration is in
 * force. `held` has what held in place of values that could not when the revision was made, null for the
 * configuration. `files_kept` of a rollback are the files that changed since what it made hold: they stay as they are.
 */
export const Revision = object({
  revision: integer({ min: 1 }),
  updated_at_ms: timestamp(),
  setting: string(),
  source: optional(string()),
  rollback_of_revision: optional(integer({ min: 0 })),
  files_kept: optional(array(string())),
  entries: optional(EntryChanges),
  values: jsonObject(),
  held: optional(jsonObject()),
})
export type Revision = Infer<typeof Revision>

const group = 'all'

const revisionCollection: CollectionSpec<Revision> = {
  name: 'runtime_revisions',
  version: 1,
  id: ({ revision }) => String(revision),
  indexes: { newest: { group: () => group, sort: ({ revision }) => timeKey(revision) } },
  removed: 'forgotten',
  bounded: { revisions: `the newest one and ${historyLimit} of settings before it, beside ${fileLimit} of each file` },
  schema: Revision,
}

/** True of a revision that a saved file made: its settings are those of the one before. */
export const isOfFile = ({ source }: Pick<Revision, 'source'>): boolean => source === 'file'

/** Of these, the newest first, those that are one too many of what `draft` is: of settings, or of one file. */
const fallen = (kept: readonly Revision[], draft: Pick<Revision, 'setting' | 'source'>): readonly Revision[] =>
  isOfFile(draft)
    ? kept.filter((one) => isOfFile(one) && one.setting === draft.setting).slice(fileLimit - 1)
    : kept.filter((one) => !isOfFile(one)).slice(historyLimit)

export interface Revisions extends Omit<SealKeeper, 'id'> {
  /** All that are kept, the newest first; those below `before`, all when absent. */
  list(before?: number): readonly Revision[]
  readonly newest: Revision | undefined
  find(revision: number): Revision | undefined
  /** Adds the next one and lets the oldest of its kind go. */
  add(tx: Tx, draft: Omit<Revision, 'revision' | 'updated_at_ms'>): Revision
}

export const declareRevisions = (state: State, sealing: Sealing): Revisions => {
  const collection: Collection<Revision> = state.collection(revisionCollection)
  const opened = new WeakMap<Revision, Revision>()
  const sealed = (record: Revision, how: (values: JsonObject) => JsonObject): Revision => ({
    ...record,
    values: how(record.values),
    ...(record.held !== undefined && { held: how(record.held) }),
  })
  const open = (record: Revision): Revision => {
    const known = opened.get(record) ?? sealed(record, sealing.open)
    opened.set(record, known)
    return known
  }
  const list = (limit: number, before?: number): Revision[] =>
    collection.list({
      index: 'newest',
      group,
      limit,
      order: 'desc',
      ...(before !== undefined && { beyond: timeKey(before) }),
    })
  const newest = (): Revision | undefined => list(1).map(open)[0]
  const all = (before?: number): Revision[] => list(Math.max(1, collection.count('newest', group)), before)
  return {
    list: (before) => all(before).map(open),
    get newest() {
      return newest()
    },
    find(revision) {
      const record = collection.find(String(revision))
      return record === undefined ? undefined : open(record)
    },
    add(tx, draft) {
      const before = newest()
      const record: Revision = {
        ...draft,
        revision: (before?.revision ?? 0) + 1,
        updated_at_ms: Math.max(tx.now, before?.updated_at_ms ?? 0),
      }
      for (const { revision } of fallen(all(), draft)) tx.remove(collection, String(revision), 'its place is needed')
      tx.insert(collection, sealed(record, sealing.seal))
      return record
    },
    has: () => all().some(({ values, held = {} }) => [values, held].flatMap(Object.values).some(isSealed)),
    async sealAnew() {
      for (const { revision } of all().filter(({ values, held = {} }) => sealing.isOld(values) || sealing.isOld(held)))
        await state.commit((tx) => {
          const record = collection.find(String(revision))
          if (record !== undefined) tx.put(collection, sealed(open(record), sealing.seal))
        })
    },
  }
}
