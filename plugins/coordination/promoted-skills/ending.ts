/** Ends a promoted skill, and brings back what it was when it was active. */
import type { State, Tx } from '../../../core/plugin.js'
import type { LearningUser } from '../learnings/contract.js'
import { lackOf, type RefuseSecret } from './checked.js'
import { promotedErrors } from './errors.js'
import type { Mounts } from './mounts.js'
import { checkLearning, checkName, type PromoteParts } from './promote.js'
import { isLive, withEvent, withEvidence, type SkillRecord } from './record.js'
import { mostLive, type SkillStore } from './store.js'

export interface EndingParts extends Pick<PromoteParts, 'store' | 'learnings' | 'catalogue'> {
  readonly mounts: Pick<Mounts, 'follow' | 'check' | 'root' | 'settled'>
  readonly refuseSecret: RefuseSecret
  readonly state: State
}

export interface Endings {
  revoke(skill_name: string, reason: string | undefined): Promise<SkillRecord>
  rollback(skill_name: string, reason: string | undefined): Promise<SkillRecord>
  /** Somebody who is told in the commit in which a learning ends. */
  readonly user: LearningUser
}

const said = (reason: string | undefined): string | undefined => reason?.trim() || undefined

export const createEndings = (parts: EndingParts): Endings => {
  const { store, mounts, refuseSecret, state } = parts
  return {
    async revoke(skill_name, reason) {
      refuseSecret(reason, 'body.reason')
      const record = await state.commit((tx) =>
        revoked(store, tx, { before: store.get(skill_name), reason: said(reason) }),
      )
      await mounts.follow(record.source_learning_id)
      mounts.check(record)
      return record
    },
    async rollback(skill_name, reason) {
      refuseSecret(reason, 'body.reason')
      const { before, after } = await state.commit((tx) => restored(parts, tx, { skill_name, reason: said(reason) }))
      await mounts.follow(...new Set([before.source_learning_id, after.source_learning_id]))
      mounts.check(before, after)
      return after
    },
    user: {
      id: 'promoted-skills',
      ended(tx, { learning_id }, why) {
        const record = store.ofLearning(learning_id)
        if (record === undefined) return
        revoked(store, tx, { before: record, reason: `its learning ${learning_id} is ${why}` })
        tx.after(() => void mounts.follow(learning_id))
      },
      settled: mounts.settled,
    },
  }
}

interface Revocation {
  readonly before: SkillRecord
  readonly reason: string | undefined
}

const revoked = (store: SkillStore, tx: Tx, { before, reason }: Revocation): SkillRecord => {
  if (!isLive(before)) return before
  store.remember(tx, before)
  const record: SkillRecord = {
    ...before,
    status: 'revoked',
    revoked_at_ms: Math.max(tx.now, before.promoted_at_ms),
    ...(reason !== undefined && { revoked_reason: reason }),
  }
  const { status: from_status, definition_fingerprint } = before
  const event = { event: 'revoke' as const, recorded_at_ms: tx.now, from_status, definition_fingerprint }
  return store.put(tx, withEvent(record, { ...event, ...(reason !== undefined && { reason }) }))
}

interface Rollback {
  readonly skill_name: string
  readonly reason: string | undefined
}
interface Restored {
  readonly before: SkillRecord
  readonly after: SkillRecord
}

const restored = (parts: EndingParts, tx: Tx, { skill_name, reason }: Rollback): Restored => {
  const { store } = parts
  const before = store.get(skill_name)
  const snapshot = store.lastActive(skill_name)
  checkSource(parts, tx, { skill_name, learning_id: (snapshot ?? before).source_learning_id })
  if (snapshot === undefined) throw promotedErrors.rollback_impossible({ details: { skill_name } })
  checkLearning(parts, skill_name, snapshot.source_learning_id)
  checkName(parts, skill_name)
  if (!isLive(before) && store.isFull()) throw promotedErrors.promoted_skills_full({ details: { most: mostLive } })
  store.remember(tx, before)
  const { number: _, revoked_at_ms: _at, revoked_reason: _why, ...kept } = snapshot
  const back: SkillRecord = {
    ...kept,
    status: 'active',
    ...(before.lifecycle_events !== undefined && { lifecycle_events: before.lifecycle_events }),
  }
  const note = `rolled back at ${tx.now}${reason === undefined ? '' : `: ${reason}`}`
  const event = {
    event: 'rollback' as const,
    recorded_at_ms: tx.now,
    from_status: before.status,
    definition_fingerprint: back.definition_fingerprint,
    ...(reason !== undefined && { reason }),
  }
  return { before, after: store.put(tx, withEvent(withEvidence(back, { note: note.slice(0, 400) }), event)) }
}

/** Where it was never active, the learning that it is of now counts. */
const checkSource = (
  { learnings }: Pick<EndingParts, 'learnings'>,
  tx: Pick<Tx, 'now'>,
  { skill_name, learning_id }: { readonly skill_name: string; readonly learning_id: string },
): void => {
  const learning = learnings.learnings.find(learning_id)
  const rule = learning === undefined ? 'it is gone' : lackOf(learning, tx.now)
  if (rule !== undefined) throw promotedErrors.rollback_source_ended({ details: { skill_name, learning_id, rule } })
}
