/** One verdict for every open run that an earlier life of the daemon left (runs-40 to runs-43). */
import type { RepairStep } from '../../../../core/plugin.js'
import { closeRequests } from '../record/requests.js'
import type { RunRecord, StopRequest } from '../record/run-record.js'
import type { RunEvent } from '../../sessions/contract.js'
import { editRun } from './run-changes.js'
import type { ChangeContext } from './run-engine.js'
import { isTerminal, requeue } from '../record/machine.js'
import { isBeside } from '../record/store.js'

/** Kinds that the daemon itself made and can make again. */
const replayable: ReadonlySet<string> = new Set([
  'scheduled_input',
  'observation_materialization',
  'scheduled_observation_materialization',
  'mailbox_delivery',
  'channel_delivery',
])

export type Verdict = { readonly run_id: string } & (
  | { readonly type: 'resume'; readonly released: boolean }
  | { readonly type: 'requeue' }
  | { readonly type: 'stop'; readonly stop: StopRequest }
  | { readonly type: 'interrupt'; readonly error: string }
)

const several = 'several_active_runs: another run of this session holds its slot.'
const quarantined = (times: number): string =>
  `crash_loop_quarantined: the daemon died ${times} times while this run was executing, so it is not tried again.`

/** What becomes of each open run. Runs that wait or are queued stay as they are. */
export const judgeRuns = ({ store }: ChangeContext, max_unclean_boots: number): Verdict[] => {
  const { generation } = store.state.health
  const open = openRuns(store.runs)
  const keepers = slotHolders(open)
  return open.flatMap((run): Verdict[] => {
    if (keepers.get(run.session_id) !== run.run_id) {
      return [
        replayable.has(run.kind)
          ? { run_id: run.run_id, type: 'requeue' }
          : { run_id: run.run_id, type: 'interrupt', error: several },
      ]
    }
    if (run.status !== 'running' && run.stopping !== undefined)
      return [{ run_id: run.run_id, type: 'stop', stop: run.stopping }]
    if (run.status !== 'running' || run.owner === generation) return []
    const boots = (run.unclean_boots ?? 0) + (run.released === true ? 0 : 1)
    return [
      boots >= max_unclean_boots
        ? { run_id: run.run_id, type: 'interrupt', error: quarantined(boots) }
        : { run_id: run.run_id, type: 'resume', released: run.released === true },
    ]
  })
}

const openRuns = (runs: ChangeContext['store']['runs']): RunRecord[] =>
  ['waiting_for_approval', 'waiting_for_user_question', 'running']
    .flatMap((status) => runs.ids('status', status).flatMap((id) => runs.find(id) ?? []))
    .filter((run) => !isBeside(run))

/** The first waiting run of a session keeps its slot; without one, the first that was running. */
const slotHolders = (open: readonly RunRecord[]): Map<string, string> => {
  const holders = new Map<string, RunRecord>()
  for (const run of open) {
    const holder = holders.get(run.session_id)
    const better =
      holder === undefined || (holder.status === 'running') === (run.status === 'running')
        ? run.run_id < (holder?.run_id ?? '~')
        : holder.status === 'running'
    if (better) holders.set(run.session_id, run)
  }
  return new Map([...holders].map(([session_id, run]) => [session_id, run.run_id]))
}

export const runRepair = (context: ChangeContext, max_unclean_boots: number): RepairStep<Verdict> => ({
  id: 'runs.restart',
  check: () => judgeRuns(context, max_unclean_boots),
  isExpected: (verdict) => verdict.type === 'resume' && verdict.released,
  fix: (verdicts) =>
    context.store.state.commit((tx) => {
      for (const verdict of verdicts) {
        const run = context.store.runs.find(verdict.run_id)
        if (run !== undefined && !isTerminal(run))
          applyVerdict(context, editRun(context, tx, run), { verdict, now: tx.now })
      }
    }),
})

const applyVerdict = (
  { store }: ChangeContext,
  edit: ReturnType<typeof editRun>,
  { verdict, now }: { verdict: Verdict; now: number },
): void => {
  const { generation } = store.state.health
  switch (verdict.type) {
    case 'resume': {
      const { released, ...run } = edit.run
      const unclean_boots = (run.unclean_boots ?? 0) + 1
      const reason = released === true ? 'clean_stop' : 'unclean_stop'
      edit.note({ type: 'recovery', verdict: 'resumed', reason, generation })
      edit.amend(() => ({ ...run, owner: generation, ...(released !== true && { unclean_boots }) }))
      break
    }
    case 'requeue':
      edit.note({ type: 'recovery', verdict: 'requeued', reason: 'several_active_runs', generation })
      closeRequests(store, edit, { decided_by: 'recovery' })
      edit.amend((run) => requeue(run, now))
      break
    case 'stop': {
      const {
        stop: { kind, reason: error },
      } = verdict
      const to = kind === 'cancel' ? 'cancelled' : 'interrupted'
      edit.step({ to, error }, { type: to, ...(error !== undefined && { error }) })
      break
    }
    case 'interrupt': {
      const event: RunEvent = { type: 'interrupted', error: verdict.error }
      edit.note({ type: 'recovery', verdict: 'interrupted', reason: verdict.error, generation })
      if (edit.run.released !== true) edit.amend((run) => ({ ...run, unclean_boots: (run.unclean_boots ?? 0) + 1 }))
      edit.step({ to: 'interrupted', error: verdict.error }, event, { decided_by: 'recovery' })
    }
  }
  edit.save()
}
