import test from 'ava'
import { QuestionSettlers, type QuestionSettlement } from '../../../../plugins/execution/questions/contract.js'
import { Runs, SubmitInputRequest } from '../../../../plugins/execution/runs/contract.js'
import { parse } from '../../../../core/base/parse.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { eventsOf } from '../../../support/answers.js'
import { openSession, until } from '../../../support/runs.js'
import { testPlugin } from '../../../support/plugins.js'

/** Settles the questions of scheduled runs by ending them as answered elsewhere, and keeps what it was given. */
const elsewhere = (seen: [string, QuestionSettlement][], hold: { runs: Runs | undefined }) =>
  testPlugin('elsewhere', {
    needs: { runs: Runs },
    register(ctx, { runs }) {
      hold.runs = runs
      const settle =
        (how: string) =>
        async (settlement: QuestionSettlement): Promise<void> => {
          seen.push([how, settlement])
          await runs.answer({
            run_id: settlement.run.run_id,
            resolution: settlement.resolution,
            result: { output: { how }, is_error: false },
            receipt: settlement.receipt,
          })
        }
      ctx.contribute(QuestionSettlers, {
        kind: 'scheduled_input',
        asker: () => ({ requester_session_id: 'child', requester_run_id: 'run_child', parent_project_ids: ['p1'] }),
        answer: settle('answer'),
        cancel: settle('cancel'),
        expire: settle('expire'),
      })
    },
  })

const ask =
  '/tool ask_user_question ' +
  '{"questions":[{"question":"Now?","options":[{"label":"Yes"},{"label":"No"}]}]MORE}\n---\n/say Went on.'

test('questions-20: a settler decides what the end of a question does for its kind of runs, and says who asks', async (t) => {
  const seen: [string, QuestionSettlement][] = []
  const hold: { runs: Runs | undefined } = { runs: undefined }
  const daemon = await startTestDaemon(t, { plugins: [elsewhere(seen, hold)] })
  const waits = async (session_id: string, more = ''): Promise<any> => {
    await openSession(daemon, session_id)
    const input = parse(SubmitInputRequest, { content: ask.replace('MORE', more) })
    if (!input.ok) throw new Error('the input is not one')
    const run = await hold.runs?.submit({ session_id, input: input.value, kind: 'scheduled_input' })
    return until(daemon, run?.run_id ?? '', 'waiting_for_user_question')
  }
  const answered = await waits('s1')
  t.like((await daemon.request('GET', '/v1/questions')).body, [
    {
      run_kind: 'scheduled_input',
      requester_session_id: 'child',
      requester_run_id: 'run_child',
      parent_project_ids: ['p1'],
    },
  ])
  const [request_id] = answered.pending_question_ids
  await daemon.request('POST', `/v1/runs/${answered.run_id}/questions`, {
    idempotency_key: 'k',
    resolution: { request_id, declined: true },
  })
  const cancelled = await waits('s2')
  await daemon.request('POST', `/v1/runs/${cancelled.run_id}/questions/${cancelled.pending_question_ids[0]}/cancel`, {
    justification: 'no need',
  })
  const expired = await waits('s3', ',"expires_after_ms":2000')
  for (const { run_id } of [answered, cancelled, expired])
    t.is((await until(daemon, run_id, 'completed')).outputs[0].content, 'Went on.', 'no run was cancelled')
  t.deepEqual(
    seen.map(
      ([
        how,
        {
          resolution: { decided_by, declined, justification },
        },
      ]) => [how, decided_by, declined, justification],
    ),
    [
      ['answer', 'operator', true, undefined],
      ['cancel', 'cancel', true, 'no need'],
      ['expire', 'timeout', true, undefined],
    ],
  )
  t.is(seen[0]?.[1].receipt?.key, 'k')
  t.is((await eventsOf(daemon, cancelled.run_id, 'user_question_resolved')).length, 1)
})
