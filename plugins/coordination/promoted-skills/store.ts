/** Where promoted skills are kept, and what they were before. */
import type { Collection, CollectionSpec, State, Tx } from '../../../core/plugin.js'
import { promotedErrors } from './errors.js'
import { isLive, SkillRecord, SkillSnapshot } from './record.js'

/** Those that are not revoked. */
export const mostLive = 500
/** Of one skill; that of the last time that it was active is kept beside. */
export const mostSnapshots = 50

const ofLearning = ({ source_learning_id }: Pick<SkillRecord, 'source_learning_id'>) => [
  { collection: 'learnings', id: source_learning_id },
]

/** Whatever a group is made of counts as one of its functions: who changes it raises the version. */
const skillCollection: CollectionSpec<SkillRecord> = {
  name: 'promoted_skills',
  version: 1,
  id: ({ skill_name }) => skill_name,
  indexes: {
    all: { group: () => 'all' },
    status: { group: ({ status }) => status },
    source: { group: ({ source_learning_id }) => source_learning_id },
    live: { group: (record) => (isLive(record) ? 'all' : undefined) },
    promoted: { group: (record) => (isLive(record) ? record.source_learning_id : undefined) },
  },
  // Active ones are looked at before every call of a model.
  settled: ({ status }) => status !== 'active',
  schema: SkillRecord,
  references: ofLearning,
}

const snapshotId = ({ skill_name, number }: Pick<SkillSnapshot, 'skill_name' | 'number'>): string =>
  `${skill_name}/${String(number).padStart(12, '0')}`

const historyCollection: CollectionSpec<SkillSnapshot> = {
  name: 'promoted_skill_history',
  version: 1,
  id: snapshotId,
  indexes: {
    skill: { group: ({ skill_name }) => skill_name },
    active: { group: ({ skill_name, status }) => (status === 'active' ? skill_name : undefined) },
  },
  settled: () => true,
  removed: 'forgotten',
  schema: SkillSnapshot,
  references: ofLearning,
}

export interface SkillStore {
  readonly skills: Collection<SkillRecord>
  find(skill_name: string): SkillRecord | undefined
  /** Throws `promoted_skill_not_found`. */
  get(skill_name: string): SkillRecord
  /** The one of a learning that is not revoked. */
  ofLearning(learning_id: string): SkillRecord | undefined
  active(): readonly SkillRecord[]
  isFull(): boolean
  put(tx: Tx, record: SkillRecord): SkillRecord
  /** Keeps what a skill is now, before it becomes something else. */
  remember(tx: Tx, record: SkillRecord): void
  /** What a skill was when it was active the last time. */
  lastActive(skill_name: string): SkillSnapshot | undefined
}

export const declareSkills = (state: State): SkillStore => {
  const skills = state.collection(skillCollection)
  const history = state.collection(historyCollection)
  const find = (skill_name: string): SkillRecord | undefined => skills.find(skill_name)
  const newest = (index: 'skill' | 'active', group: string): string | undefined =>
    history.page({ index, group, limit: 1, order: 'desc' })[0]
  const trim = (tx: Tx, skill_name: string): void => {
    const kept = newest('active', skill_name)
    const over = history.count('skill', skill_name) - mostSnapshots - (kept === undefined ? 0 : 1)
    if (over <= 0) return
    for (const id of history.page({ index: 'skill', group: skill_name, limit: over + 1 }).filter((id) => id !== kept))
      tx.remove(history, id, 'newer ones are kept')
  }
  return {
    skills,
    find,
    get(skill_name) {
      const record = find(skill_name)
      if (record === undefined) throw promotedErrors.promoted_skill_not_found({ details: { skill_name } })
      return record
    },
    ofLearning: (group) => skills.list({ index: 'promoted', group, limit: 1 })[0],
    active: () => skills.list({ index: 'status', group: 'active', limit: mostLive, skip: () => {} }),
    isFull: () => skills.count('live', 'all') >= mostLive,
    put(tx, record) {
      tx.put(skills, record)
      return record
    },
    remember(tx, before) {
      const { lifecycle_events: _, ...record } = before
      const { skill_name } = record
      const last = newest('skill', skill_name)
      const number = last === undefined ? 1 : Number(last.slice(last.lastIndexOf('/') + 1)) + 1
      tx.insert(history, { ...record, number })
      trim(tx, skill_name)
    },
    lastActive(skill_name) {
      const id = newest('active', skill_name)
      return id === undefined ? undefined : history.find(id)
    },
  }
}
