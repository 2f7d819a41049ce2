/** What personas and the sessions bound to them name by digest, each kept once: souls, and lists of default skills. */
import {
  array,
  fault,
  object,
  string,
  type Collection,
  type CollectionSpec,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import { FrozenSkill } from '../../operator/skills/contract.js'

interface ByDigest {
  readonly sha256: string
}
interface SoulRecord extends ByDigest {
  readonly text: string
}
interface SkillsRecord extends ByDigest {
  readonly skills: readonly FrozenSkill[]
}

export const soulCollection: CollectionSpec<SoulRecord> = {
  name: 'souls',
  version: 1,
  id: ({ sha256 }) => sha256,
  indexes: {},
  settled: () => true,
  removed: 'forgotten',
  schema: object({ sha256: string(), text: string() }),
}

export const skillsCollection: CollectionSpec<SkillsRecord> = {
  name: 'default_skills',
  version: 1,
  id: ({ sha256 }) => sha256,
  indexes: { all: { group: () => 'all' } },
  settled: () => true,
  removed: 'forgotten',
  schema: object({ sha256: string(), skills: array(FrozenSkill) }),
}

export interface Kept<R extends ByDigest> {
  readonly collection: Collection<R>
  /** What a record names. */
  get(sha256: string): R
  /** Keeps it in the commit of a record that names it; returns its digest. */
  keep(tx: Tx, record: R): string
  /** A record of this commit named it until now: it goes unless another one does. */
  letGo(tx: Tx, sha256: string): void
}

export type Souls = Kept<SoulRecord>
export type SkillLists = Kept<SkillsRecord>

export const declareKept = <R extends ByDigest>(
  state: State,
  spec: CollectionSpec<R>,
  isNamed: (sha256: string) => boolean,
): Kept<R> => {
  const kept = state.collection(spec)
  return {
    collection: kept,
    get(sha256) {
      const record = kept.find(sha256)
      if (record === undefined) throw fault(`${sha256} of ${spec.name} is named and not kept`)
      return record
    },
    keep(tx, record) {
      if (!kept.has(record.sha256)) tx.insert(kept, record)
      return record.sha256
    },
    letGo(tx, sha256) {
      if (!isNamed(sha256)) tx.remove(kept, sha256, 'nobody names it')
    },
  }
}
