/**
 * What becomes of several runs of one session that hold its slot, which only damage or an
 * older program can leave.
 */
import test from 'ava'
import { createClock } from '../../core/base/clock.js'
import { createIds } from '../../core/base/ids.js'
import { unsafeCast } from '../../core/base/schema.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { openState } from '../../core/state/store/root.js'
import type { RunKind, RunRecord } from '../../plugins/execution/runs/contract.js'
import { declareStore } from '../../plugins/execution/runs/record/store.js'
import { sessionJournal, type RunEvent } from '../../plugins/execution/sessions/record/journal.js'
import { spawnTestDaemon, startTestDaemon } from '../support/daemon.js'
import { eventTypes, openSession, submit, until } from '../support/runs.js'

const quiet = (): void => {}

/** A run that waits for an answer, as the journal and the record of a daemon would say it. */
const addWaiting = async (
  root: string,
  runs: readonly { run_id: string; kind: RunKind; like: any }[],
): Promise<void> => {
  const clock = createClock()
  const opened = await openState({
    root,
    disk: createDisk(),
    clock,
    ids: createIds(clock),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    publish: quiet,
    generation: 2,
  })
  const store = declareStore(opened.state, { journal: opened.state.stream(sessionJournal) })
  await opened.load()
  await opened.state.commit((tx) => {
    for (const {
      run_id,
      kind,
      like: { session_id, agent_id },
    } of runs) {
      const requests = [{ id: `question_${run_id}`, tool_call_id: 'c', questions: [], created_at_ms: tx.now }]
      const add = (event: RunEvent): number =>
        tx.append(store.journal, session_id, { run_id, at: tx.now, type: 'event', event })
      const first = add({ type: 'accepted', content: `again ${run_id}` })
      add({ type: 'queued', position: 1 })
      add({ type: 'started' })
      const waiting = add({ type: 'waiting_for_user_question', request_ids: requests.map(({ id }) => id), requests })
      const record: RunRecord = unsafeCast({
        run_id,
        session_id,
        agent_id,
        kind,
        status: 'waiting_for_user_question',
        submitted_at_ms: tx.now,
        updated_at_ms: tx.now,
        started_at_ms: tx.now,
        source_plugin: 'p',
        source_kind: 'k',
        actor_id: 'a',
        text_preview: '',
        provider: 'demo',
        model: 'demo',
        first,
        last: waiting,
        waiting,
        pending: requests.map(({ id }) => id),
        owner: 1,
      })
      tx.insert(store.runs, record)
    }
  })
  await opened.close()
}

test(
  'runs-41: of several waiting runs the first keeps the slot; those that the daemon can make again are ' +
    'queued, those of people are interrupted',
  async (t) => {
    const daemon = await spawnTestDaemon(t)
    await openSession(daemon)
    const like = await until(
      daemon,
      (await submit(daemon, 's1', '/ask Well? | A | B\n---\n/say Good.')).run_id,
      'waiting_for_user_question',
    )
    await daemon.kill('SIGKILL')
    const again: readonly RunKind[] = [
      'scheduled_input',
      'observation_materialization',
      'scheduled_observation_materialization',
      'mailbox_delivery',
    ]
    const beside: readonly RunKind[] = ['parent_clarification']
    const lost: readonly RunKind[] = ['input', 'approval_resume', 'user_question_resume']
    const runs = [...again, ...lost, ...beside].map((kind) => ({ kind, like, run_id: `run_zzz_${kind}` }))
    await addWaiting(daemon.root, runs)
    const second = await startTestDaemon(t, { root: daemon.root })
    const statusOf = async (run_id: string): Promise<string> =>
      (await second.request('GET', `/v1/runs/${run_id}`)).body.status
    t.is(await statusOf(like.run_id), 'waiting_for_user_question')
    for (const { run_id, kind } of runs)
      t.is(
        await statusOf(run_id),
        again.includes(kind) ? 'queued' : beside.includes(kind) ? 'waiting_for_user_question' : 'interrupted',
        kind,
      )
    t.regex((await second.request('GET', '/v1/runs/run_zzz_input')).body.error, /^several_active_runs: /u)
    t.deepEqual(
      (await second.request('GET', '/v1/questions')).body.map(({ run_id }: any) => run_id),
      [like.run_id, 'run_zzz_parent_clarification'],
    )
    const answers = [{ question_id: 'q1', selected_option_ids: ['o1'] }]
    await second.request('POST', `/v1/runs/${like.run_id}/questions`, {
      resolution: { request_id: like.pending_question_ids[0], answers },
    })
    for (const kind of again)
      t.is((await until(second, `run_zzz_${kind}`, 'completed')).outputs[0].content, `You said: again run_zzz_${kind}`)
    t.is((await eventTypes(second, 'run_zzz_input')).at(-1), 'interrupted')
  },
)
