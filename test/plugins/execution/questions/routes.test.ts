import test from 'ava'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { codeOf, eventTypes, openSession, submit, until } from '../../../support/runs.js'

const start = async (t: any): Promise<TestDaemon> => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  return daemon
}

const two = {
  questions: [
    {
      header: 'Colour',
      question: 'Which colour?',
      options: [{ label: 'Red' }, { label: 'Blue', description: 'like the sea' }],
    },
    {
      header: 'Sizes',
      question: 'Which sizes?',
      options: [{ label: 'S' }, { label: 'M' }, { label: 'L' }],
      multi_select: true,
    },
  ],
}

/** A run that waits for an answer. */
const asking = async (daemon: TestDaemon, input: object = two): Promise<any> => {
  const run = await submit(daemon, 's1', `/tool ask_user_question ${JSON.stringify(input)}\n---\n/say Thanks.`)
  return until(daemon, run.run_id, 'waiting_for_user_question')
}

test('questions-7: a question is listed, answered, and its answer is the result of the call', async (t) => {
  const daemon = await start(t)
  const run = await asking(daemon)
  const [request_id] = run.pending_question_ids
  const list = (await daemon.request('GET', '/v1/questions')).body
  t.like(list, [
    {
      session_id: 's1',
      run_id: run.run_id,
      run_kind: 'input',
      request: {
        id: request_id,
        questions: [{ id: 'q1', options: [{ id: 'o1', label: 'Red' }, { id: 'o2' }] }, { multi_select: true }],
      },
    },
  ])
  t.is((await daemon.request('GET', '/v1/sessions/s1/questions')).body.length, 1)
  t.is((await daemon.request('GET', '/v1/questions?session_id=other')).body.length, 0)
  t.like((await daemon.request('GET', '/v1/questions?page=true')).body.pagination, {
    total_count: 1,
    order: 'session_id_asc,request_id_asc',
  })
  t.like((await daemon.request('GET', '/v1/sessions/s1')).body.snapshot, {
    agent: { status: 'waiting_for_user_input' },
    pending_questions: [{ id: request_id }],
  })
  const answers = [
    { question_id: 'q1', selected_option_ids: ['o2'] },
    { question_id: 'q2', selected_option_ids: ['o1', 'o3'], freeform_answer: 'and XL' },
  ]
  const { status, body } = await daemon.request('POST', '/v1/sessions/s1/questions', {
    resolution: { request_id, answers },
  })
  t.is(status, 200)
  t.is(body.snapshot.last_assistant_message, 'Thanks.')
  t.deepEqual(await eventTypes(daemon, run.run_id), [
    'accepted',
    'queued',
    'started',
    'waiting_for_user_question',
    'user_question_resolved',
    'output',
    'completed',
  ])
  const journal = (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.journal
  t.deepEqual(journal.find((entry: any) => entry.type === 'outcome').entry.output, {
    answers: [
      { question: 'Which colour?', selected: ['Blue'] },
      { question: 'Which sizes?', selected: ['S', 'L'], freeform_answer: 'and XL' },
    ],
  })
  t.deepEqual((await daemon.request('GET', '/v1/questions')).body, [])
})

test('each wrong answer has its code and changes nothing', async (t) => {
  const daemon = await start(t)
  const run = await asking(daemon)
  const [request_id] = run.pending_question_ids
  const good = [
    { question_id: 'q1', selected_option_ids: ['o1'] },
    { question_id: 'q2', selected_option_ids: ['o1'] },
  ]
  const cases: [string, object][] = [
    ['question_request_mismatch', { request_id: 'question_gone', answers: good }],
    [
      'question_option_not_found',
      { request_id, answers: [{ question_id: 'q1', selected_option_ids: ['o9'] }, good[1]] },
    ],
    ['question_answer_missing', { request_id, answers: [good[0]] }],
    ['question_answer_missing', { request_id }],
    ['question_duplicate_answer', { request_id, answers: [good[0], good[0], good[1]] }],
    [
      'question_duplicate_option',
      { request_id, answers: [good[0], { question_id: 'q2', selected_option_ids: ['o1', 'o1'] }] },
    ],
    ['question_declined_with_answers', { request_id, answers: good, declined: true }],
    [
      'question_single_select_violation',
      { request_id, answers: [{ question_id: 'q1', selected_option_ids: ['o1', 'o2'] }, good[1]] },
    ],
    [
      'question_answer_empty',
      { request_id, answers: [{ question_id: 'q1', selected_option_ids: [], freeform_answer: '  ' }, good[1]] },
    ],
    ['question_unknown_answer', { request_id, answers: [...good, { question_id: 'q9', selected_option_ids: ['o1'] }] }],
  ]
  for (const [code, resolution] of cases) {
    for (const at of [`/v1/runs/${run.run_id}/questions`, '/v1/sessions/s1/questions']) {
      const answer = await daemon.request('POST', at, { resolution })
      t.deepEqual(codeOf(answer), [400, code], JSON.stringify(resolution))
      t.is(answer.body.domain, 'questions')
    }
  }
  const gone = await daemon.request('POST', `/v1/runs/${run.run_id}/questions/question_gone/cancel`)
  t.deepEqual([...codeOf(gone), gone.body.errors[0].path], [400, 'question_request_mismatch', 'path.request_id'])
  const other = await daemon.request('POST', `/v1/runs/${run.run_id}/questions`, {
    resolution: { request_id: 'question_gone', declined: true },
  })
  t.deepEqual(
    [...codeOf(other), other.body.errors[0].path],
    [400, 'question_request_mismatch', 'body.resolution.request_id'],
  )
  t.deepEqual((await daemon.request('GET', `/v1/runs/${run.run_id}`)).body, run)
  t.is(
    (await daemon.request('POST', `/v1/runs/${run.run_id}/questions`, { resolution: { request_id, answers: good } }))
      .status,
    202,
  )
  await until(daemon, run.run_id, 'completed')
  t.deepEqual(
    codeOf(
      await daemon.request('POST', `/v1/runs/${run.run_id}/questions`, { resolution: { request_id, answers: good } }),
    ),
    [409, 'question_state_conflict'],
  )
  t.deepEqual(
    codeOf(await daemon.request('POST', '/v1/sessions/s1/questions', { resolution: { request_id, answers: good } })),
    [409, 'question_state_conflict'],
  )
  t.deepEqual(codeOf(await daemon.request('POST', `/v1/runs/${run.run_id}/questions/${request_id}/cancel`)), [
    409,
    'question_state_conflict',
  ])
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/runs/none/questions', { resolution: { request_id } })), [
    404,
    'run_not_found',
  ])
})

test('a declined question is told to the model and the run goes on', async (t) => {
  const daemon = await start(t)
  const run = await asking(daemon)
  const [request_id] = run.pending_question_ids
  await daemon.request('POST', `/v1/runs/${run.run_id}/questions`, {
    resolution: { request_id, answers: [], declined: true, justification: 'not now' },
  })
  t.is((await until(daemon, run.run_id, 'completed')).outputs[0].content, 'Thanks.')
  const journal = (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.journal
  t.deepEqual(journal.find((entry: any) => entry.type === 'outcome').entry.output, {
    declined: true,
    justification: 'not now',
  })
})

test('cancelling a question cancels its run, once per key', async (t) => {
  const daemon = await start(t)
  const run = await asking(daemon)
  const at = `/v1/runs/${run.run_id}/questions/${run.pending_question_ids[0]}/cancel`
  const cancelled = await daemon.request('POST', at, { justification: 'no need' }, { 'idempotency-key': 'k' })
  t.is(cancelled.status, 200)
  t.is(cancelled.body.status, 'cancelled')
  t.is(
    (await daemon.request('POST', at, { justification: 'no need' }, { 'idempotency-key': 'k' })).body.status,
    'cancelled',
  )
  t.deepEqual(codeOf(await daemon.request('POST', at, { justification: 'other' }, { 'idempotency-key': 'k' })), [
    409,
    'idempotency_conflict',
  ])
  const events = (await daemon.request('GET', `/v1/runs/${run.run_id}/events`)).body
  t.like(events.at(-2).event, {
    type: 'user_question_resolved',
    resolution: { decided_by: 'cancel', justification: 'no need' },
  })
})

test('an expired question cancels its run, also across a restart, and says so to a late answer', async (t) => {
  const first = await start(t)
  const soon = await asking(first, { ...two, expires_after_ms: 2500 })
  const ended = await until(first, soon.run_id, 'cancelled')
  t.regex(ended.error, /^question_expired: /u)
  t.deepEqual(
    codeOf(
      await first.request('POST', `/v1/runs/${soon.run_id}/questions`, {
        resolution: { request_id: soon.pending_question_ids[0], declined: true },
      }),
    ),
    [409, 'question_expired'],
  )
  const events = (await first.request('GET', `/v1/runs/${soon.run_id}/events`)).body
  t.is(events.at(-2).event.resolution.decided_by, 'timeout')
  const later = await asking(first, { ...two, expires_after_ms: 2500 })
  await first.stop()
  const second = await startTestDaemon(t, { root: first.root })
  t.regex((await until(second, later.run_id, 'cancelled')).error, /^question_expired: /u)
})

test('fifty answers at once have one effect', async (t) => {
  const daemon = await start(t)
  const run = await asking(daemon)
  const [request_id] = run.pending_question_ids
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      daemon.request('POST', `/v1/runs/${run.run_id}/questions`, {
        resolution: {
          request_id,
          answers: [
            { question_id: 'q1', selected_option_ids: [at % 2 === 0 ? 'o1' : 'o2'] },
            { question_id: 'q2', selected_option_ids: ['o1'] },
          ],
        },
      }),
    ),
  )
  t.is(answers.filter(({ status }) => status === 202).length, 1)
  t.true(answers.every(({ status, body }) => status === 202 || body.code === 'question_state_conflict'))
  await until(daemon, run.run_id, 'completed')
  t.is((await eventTypes(daemon, run.run_id)).filter((type) => type === 'user_question_resolved').length, 1)
})

test('questions-19: a question with a wrong shape is an error that the model can correct', async (t) => {
  const daemon = await start(t)
  const run = await submit(
    daemon,
    's1',
    `/tool ask_user_question {"questions":[]}\n/tool ask_user_question ${JSON.stringify({ ...two, expires_at_ms: 1 })}`,
  )
  t.is((await until(daemon, run.run_id, 'completed')).status, 'completed')
})
