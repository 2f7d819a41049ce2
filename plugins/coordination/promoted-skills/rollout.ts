/** Records what a run has shown of a skill. */
import { doc, enums, object, optional, string, type Infer, type State, type Tx } from '../../../core/plugin.js'
import type { Runs } from '../../execution/runs/contract.js'
import { promotedErrors } from './errors.js'
import {
  beganAt,
  isLive,
  mostVerifiers,
  rolloutKinds,
  withEvent,
  withEvidence,
  type RolloutKind,
  type SkillRecord,
} from './record.js'
import { isVerified } from './steps.js'
import type { SkillStore } from './store.js'

/** The result of a run. */
export const RolloutBody = object({
  kind: enums(rolloutKinds),
  run_id: string({ min: 1, max: 200 }),
  expected_output_contains: doc(string({ max: 4_000 }), 'What the last output of the run must have; case counts.'),
  definition_fingerprint: optional(doc(string({ max: 200 }), 'Refused if the skill says something else by now.')),
})
export type RolloutWish = Infer<typeof RolloutBody>

type Run = ReturnType<Runs['get']>

export interface RolloutParts {
  readonly store: SkillStore
  readonly runs: Pick<Runs, 'get' | 'texts'>
  readonly state: State
  /** Only runs count whose request had the instructions. */
  readonly toldOnly: boolean
}

export type RecordRollout = (skill_name: string, wish: RolloutWish) => Promise<SkillRecord>

export const createRollout =
  ({ store, runs, state, toldOnly }: RolloutParts): RecordRollout =>
  async (skill_name, { kind, run_id, expected_output_contains, definition_fingerprint = '' }) => {
    const marker = expected_output_contains.trim()
    if (marker === '') {
      const errors = [{ path: 'body.expected_output_contains', rule: 'must not be blank' }]
      throw promotedErrors.invalid_rollout({ errors })
    }
    return state.commit((tx) => {
      const run = runs.get(run_id)
      const record = store.get(skill_name)
      checkTarget(record, kind, definition_fingerprint.trim())
      if (hasCounted(record, { kind, run_id })) return record
      if (kind === 'canary' && !isVerified(record)) throw promotedErrors.rollout_unverified({ details: { skill_name } })
      checkTime(record, run)
      const isTold = isToldBy(runs.texts(run).request, record)
      if (toldOnly && !isTold) throw promotedErrors.rollout_run_untold({ details: { run_id, skill_name } })
      const lack = lackOf(run, runs, marker)
      checkResult(record, { kind, run, lack })
      return store.put(tx, withResult(record, { kind, run, lack, isTold, tx }))
    })
  }

const checkTarget = ({ skill_name, status, ...record }: SkillRecord, kind: RolloutKind, given: string): void => {
  if (!isLive({ status })) throw promotedErrors.promoted_skill_revoked({ details: { skill_name } })
  if (kind === 'canary' && status !== 'canary')
    throw promotedErrors.rollout_not_canary({ details: { skill_name, status } })
  const { definition_fingerprint: fingerprint } = record
  if (given !== '' && given !== fingerprint)
    throw promotedErrors.rollout_fingerprint_mismatch({ details: { skill_name, fingerprint } })
}

/** True for the same result again; as another result it must not look as if it counted. */
const hasCounted = (
  { skill_name, verifier_run_ids, lifecycle_events = [] }: SkillRecord,
  { kind, run_id }: Pick<RolloutWish, 'kind' | 'run_id'>,
): boolean => {
  if (verifier_run_ids?.includes(run_id) !== true) return false
  const counted = lifecycle_events.findLast((event) => event.run_id === run_id)?.rollout_kind ?? kind
  if (counted !== kind) throw promotedErrors.rollout_run_counted({ details: { skill_name, run_id, kind: counted } })
  return true
}

const checkTime = (record: SkillRecord, { run_id, submitted_at_ms }: Run): void => {
  if (submitted_at_ms >= beganAt(record)) return
  throw promotedErrors.rollout_run_early({ details: { run_id, skill_name: record.skill_name } })
}

const variable = /\$\{(?:SERVICE_SKILL_ARGS|ARGUMENTS|SERVICE_SKILL_DIR)\}|\$ARGUMENTS\b/u

/** The request has the instructions; what is put into them where a skill is used may be anything. */
const isToldBy = (request: string, { instructions }: SkillRecord): boolean =>
  instructions.split(variable).every((part) => request.includes(part.trim()))

const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'interrupted', 'cancelled'])

/** What a run lacks to be a success; undefined if it is one. */
const lackOf = (run: Run, runs: Pick<Runs, 'texts'>, marker: string): string | undefined => {
  if (run.status !== 'completed') return `it is ${run.status}`
  const { outcome } = runs.texts(run)
  return outcome?.includes(marker) === true ? undefined : 'its last output does not have the expected words'
}

interface Result {
  readonly kind: RolloutKind
  readonly run: Run
  readonly lack: string | undefined
}

/** A run that goes on has shown nothing yet, neither good nor bad. */
const checkResult = ({ skill_name, verifier_run_ids = [] }: SkillRecord, { kind, run, lack }: Result): void => {
  if (lack !== undefined && (kind === 'verification' || !ended.has(run.status)))
    throw promotedErrors.rollout_failed({ details: { run_id: run.run_id, rule: lack } })
  if (verifier_run_ids.length >= mostVerifiers)
    throw promotedErrors.rollout_results_full({ details: { skill_name, most: mostVerifiers } })
}

interface Shown extends Result {
  readonly isTold: boolean
  readonly tx: Pick<Tx, 'now'>
}

const withResult = (record: SkillRecord, { kind, run, lack, isTold, tx }: Shown): SkillRecord => {
  const { definition_fingerprint } = record
  const { run_id, session_id } = run
  const isSuccess = lack === undefined
  const note =
    `${kind} ${isSuccess ? 'success' : 'failure'} in session ${session_id.slice(0, 200)}, ` +
    `fingerprint ${definition_fingerprint}, at ${tx.now}, ${isTold ? '' : 'not '}told the instructions`
  const shown = withEvidence(record, { run_id, note })
  const counted: SkillRecord = {
    ...shown,
    verifier_run_ids: [...(record.verifier_run_ids ?? []), run_id],
    ...(isSuccess && { successful_run_count: record.successful_run_count + 1 }),
    ...(kind === 'verification' && {
      verification_status: 'verified',
      real_daemon_verified: true,
      distinct_session_count: Math.max(record.distinct_session_count, 1),
    }),
    ...(kind === 'canary' && isSuccess && { canary_success_count: record.canary_success_count + 1 }),
    ...(kind === 'canary' && !isSuccess && { canary_failure_count: record.canary_failure_count + 1 }),
  }
  const reason = lack ?? (isTold ? undefined : 'its request did not have the instructions')
  return withEvent(counted, {
    event: 'rollout_result',
    recorded_at_ms: tx.now,
    rollout_kind: kind,
    run_id,
    session_id,
    success: isSuccess,
    definition_fingerprint,
    ...(reason !== undefined && { reason }),
  })
}
