/** The files of active skills follow their records, one change after the other, and the catalogue follows the files. */
import { dirname } from 'node:path'
import {
  realFolder,
  sentence,
  type Clock,
  type FollowedFolders,
  type Log,
  type Warning,
  thrownText,
} from '../../../core/plugin.js'
import type { SkillCatalogue } from '../../operator/skills/contract.js'
import { promotedErrors } from './errors.js'
import { filesOf } from './files.js'
import type { SkillRecord } from './record.js'
import type { SkillStore } from './store.js'

/** Between two attempts, milliseconds. */
const pauseMs = 30_000

export interface MountParts {
  readonly store: SkillStore
  readonly folders: () => FollowedFolders
  readonly catalogue: () => SkillCatalogue | undefined
  readonly clock: Clock
  readonly log: Log
}

export interface Mounts {
  /** The folder of skills, with every link resolved. */
  root(): string
  /**
   * Resolves when the files of skills of these learnings are as the records say and the catalogue has looked. Never
   * rejects: what fails is told, and tried again.
   */
  follow(...learning_ids: readonly string[]): Promise<void>
  /** Throws `promoted_skill_files` where the files of one of these are not as the records say. */
  check(...records: readonly SkillRecord[]): void
  /** Resolves when all that was asked for until now is done. */
  settled(): Promise<void>
  /** The same for all skills, and removes what is of none. */
  repair(): Promise<void>
  warnings(): readonly Warning[]
  /** Ends the attempts; resolves when nothing is written any more. */
  end(): Promise<void>
}

const refuseFailed = (store: SkillStore, { skill_name, ...record }: SkillRecord, why: string | undefined): void => {
  const status = store.find(skill_name)?.status ?? record.status
  if (why !== undefined) throw promotedErrors.promoted_skill_files({ details: { skill_name, status, why } })
}

export const createMounts = ({ store, folders, catalogue, clock, log }: MountParts): Mounts => {
  const given = (): string => dirname(folders().path)
  let root: string | undefined
  let tail: Promise<void> = Promise.resolve()
  let [isOver, cancel] = [false, (): void => {}]
  /** Learnings whose files are not as they should be, with what went wrong. */
  const failed = new Map<string, string>()

  const activeOf = (learning_id: string): SkillRecord | undefined => {
    const record = store.ofLearning(learning_id)
    return record?.status === 'active' ? record : undefined
  }
  const settle = async (learning_id: string): Promise<boolean> => {
    try {
      const record = activeOf(learning_id)
      const isChanged =
        record === undefined ? await folders().remove(learning_id) : await folders().keep(learning_id, filesOf(record))
      failed.delete(learning_id)
      return isChanged
    } catch (error) {
      const isTold = failed.get(learning_id) === thrownText(error)
      failed.set(learning_id, thrownText(error))
      if (!isTold) log.error('the files of a promoted skill are not as its record says', { learning_id, error })
      return false
    }
  }
  const look = async (): Promise<void> => {
    root = realFolder(given())?.path
    await catalogue()?.look()
  }
  const work = async (learning_ids: readonly string[]): Promise<void> => {
    for (const learning_id of learning_ids) await settle(learning_id)
    await look()
    cancel()
    if (failed.size > 0 && !isOver) cancel = clock.after(pauseMs, () => void follow(...failed.keys()))
  }
  const enqueue = (job: () => Promise<void>): Promise<void> => {
    tail = tail.then(job).catch((error: unknown) => log.error('promoted skills could not be looked at', { error }))
    return tail
  }
  const follow = (...learning_ids: readonly string[]): Promise<void> => enqueue(() => work(learning_ids))
  return {
    root: () => (root ??= realFolder(given())?.path) ?? given(),
    follow,
    check: (...records) => {
      for (const record of records) refuseFailed(store, record, failed.get(record.source_learning_id))
    },
    settled: () => tail,
    repair: () =>
      enqueue(async () => {
        const names = await folders()
          .names()
          .catch((error: unknown) => {
            log.error('the folder of promoted skills cannot be looked at', { folder: folders().path, error })
            return []
          })
        const wanted = new Set(store.active().map(({ source_learning_id }) => source_learning_id))
        const foreign = names.filter((name) => !wanted.has(name))
        if (foreign.length > 0)
          log.warn('what is of no active promoted skill is removed', {
            folder: folders().path,
            names: foreign.slice(0, 20),
          })
        await work([...foreign, ...wanted])
      }),
    warnings: () =>
      [...failed].slice(0, 10).map(([learning_id, why]) => ({
        severity: 'error',
        code: 'promoted_skill_files',
        related_id: learning_id,
        message: sentence(`The files of the promoted skill of ${learning_id} are not as its record says: ${why}`),
        action: `See whether ${folders().path} can be written; it is tried again every 30 seconds.`,
      })),
    async end() {
      isOver = true
      cancel()
      await tail
    },
  }
}
