/**
 * docs/rules/questions.md: rules that can be seen from outside, against a daemon in this process, of whose root a kill leaves the files as they are.
 */
import test from 'ava'
import { eventsOf, shareAsking, startAsking, twoQuestions, type AskingDaemon } from '../support/answers.js'
import type { Answer } from '../support/daemon.js'
import { codeOf, eventTypes, openSession, submit, until } from '../support/runs.js'

const shared = shareAsking(test)

const answers = [
  { question_id: 'q1', selected_option_ids: ['o2'] },
  { question_id: 'q2', selected_option_ids: ['o1', 'o3'], freeform_answer: 'and XL' },
]

/** Both ways to send an answer to the request that a run waits for. */
const waysOf = (run: any): readonly string[] => [
  `/v1/runs/${run.run_id}/questions`,
  `/v1/sessions/${run.session_id}/questions`,
]
const reply = (
  daemon: AskingDaemon,
  run: any,
  resolution: object,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  daemon.request(
    'POST',
    `/v1/runs/${run.run_id}/questions`,
    { resolution: { request_id: run.pending_question_ids?.[0], ...resolution } },
    headers,
  )
const cancelPath = (run: any, request_id: string = run.pending_question_ids[0]): string =>
  `/v1/runs/${run.run_id}/questions/${request_id}/cancel`

const outcome = async (daemon: AskingDaemon, session_id: string): Promise<any> =>
  (await daemon.request('GET', `/v1/sessions/${session_id}/events`)).body.session.journal.find(
    ({ type }: any) => type === 'outcome',
  ).entry

test.serial(
  'questions-1: GET /v1/questions and GET /v1/sessions/{session_id}/questions: PendingQuestionView, as an ' +
    'array and in pages, of all sessions or one',
  async (t) => {
    const daemon = await startAsking(t)
    const runs = [await daemon.wonders('s1'), await daemon.wonders('s2'), await daemon.wonders('s3')]
    const views = runs.map(({ session_id, agent_id, run_id, pending_questions: [request] }) => ({
      session_id,
      agent_id,
      run_id,
      run_kind: 'input',
      request,
    }))
    t.deepEqual((await daemon.request('GET', '/v1/questions')).body, views)
    t.deepEqual((await daemon.request('GET', '/v1/questions?session_id=s2')).body, [views[1]])
    t.deepEqual((await daemon.request('GET', '/v1/sessions/s2/questions')).body, [views[1]])
    t.deepEqual((await daemon.request('GET', '/v1/questions?limit=1')).body, [views[0]])
    const page = (await daemon.request('GET', '/v1/questions?page=true&limit=2')).body
    t.deepEqual(page.items, views.slice(0, 2))
    t.like(page.pagination, { limit: 2, total_count: 3, has_more: true, order: 'session_id_asc,request_id_asc' })
    t.deepEqual((await daemon.request('GET', `/v1/questions?cursor=${page.pagination.next_cursor}`)).body, {
      items: [views[2]],
      pagination: { limit: 50, total_count: 3, has_more: false, order: 'session_id_asc,request_id_asc' },
    })
    t.like((await daemon.request('GET', '/v1/sessions/s2/questions?page=true')).body, {
      items: [{ run_id: runs[1].run_id }],
      pagination: { total_count: 1 },
    })
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/none/questions')), [404, 'session_not_found'])
  },
)

test.serial(
  'questions-2: UserQuestionRequest: id, tool_call_id, questions, created_at_ms; each question with id, ' +
    'header, question, options, multi_select',
  async (t) => {
    const daemon = shared()
    const run = await daemon.wonders('shape')
    const [request] = run.pending_questions
    t.deepEqual(Object.keys(request).sort(), ['created_at_ms', 'id', 'questions', 'tool_call_id'])
    t.deepEqual(request.questions, [
      {
        id: 'q1',
        header: 'Colour',
        question: 'Which colour?',
        options: [
          { id: 'o1', label: 'Red' },
          { id: 'o2', label: 'Blue', description: 'like the sea', preview: '#00f' },
        ],
        multi_select: false,
      },
      {
        id: 'q2',
        header: 'Sizes',
        question: 'Which sizes?',
        options: [
          { id: 'o1', label: 'S' },
          { id: 'o2', label: 'M' },
          { id: 'o3', label: 'L' },
        ],
        multi_select: true,
      },
    ])
    t.is(run.request.question_count, 1)
    t.deepEqual(await eventsOf(daemon, run.run_id, 'waiting_for_user_question'), [
      { type: 'waiting_for_user_question', request_ids: [request.id], requests: [request] },
    ])
    t.like((await daemon.request('GET', '/v1/sessions/shape')).body.snapshot, {
      agent: { status: 'waiting_for_user_input' },
      pending_questions: [{ id: request.id }],
    })
  },
)

test.serial(
  'questions-3: UserQuestionRequest: a tool may set expires_at_ms, or expires_after_ms from its creation, ' +
    'but not both and not the past',
  async (t) => {
    const daemon = shared()
    const absolute = await daemon.wonders('at', { ...twoQuestions, expires_at_ms: 9_000_000_000_000 })
    t.is(absolute.pending_questions[0].expires_at_ms, 9_000_000_000_000)
    const [{ created_at_ms, expires_at_ms }] = (
      await daemon.wonders('after', { ...twoQuestions, expires_after_ms: 3_600_000 })
    ).pending_questions
    t.true(Math.abs(expires_at_ms - created_at_ms - 3_600_000) < 10_000)
    for (const [session, wrong, code] of [
      ['both', { expires_at_ms: 9_000_000_000_000, expires_after_ms: 1000 }, 'question_expiry_ambiguous'],
      ['past', { expires_at_ms: 1 }, 'question_expiry_past'],
    ] as const) {
      await openSession(daemon, session)
      await until(
        daemon,
        (await submit(daemon, session, `/tool ask_user_question ${JSON.stringify({ ...twoQuestions, ...wrong })}`))
          .run_id,
        'completed',
      )
      t.is((await outcome(daemon, session)).output.error.code, code)
    }
  },
)

test.serial(
  'questions-4: POST /v1/sessions/{session_id}/questions: answers, and gives the SessionView when the run ' +
    'has come to rest',
  async (t) => {
    const daemon = shared()
    const run = await daemon.wonders('inline')
    const answer = await daemon.request('POST', '/v1/sessions/inline/questions', {
      resolution: { request_id: run.pending_question_ids[0], answers, declined: false, justification: 'because' },
    })
    t.is(answer.status, 200)
    t.like(answer.body, {
      session_id: 'inline',
      snapshot: { agent: { status: 'completed' }, last_assistant_message: 'Thanks.' },
    })
    t.deepEqual((await outcome(daemon, 'inline')).output, {
      answers: [
        { question: 'Which colour?', selected: ['Blue'] },
        { question: 'Which sizes?', selected: ['S', 'L'], freeform_answer: 'and XL' },
      ],
    })
    t.deepEqual(await eventsOf(daemon, run.run_id, 'user_question_resolved'), [
      {
        type: 'user_question_resolved',
        resolution: {
          request_id: run.pending_question_ids[0],
          answers,
          declined: false,
          justification: 'because',
          decided_by: 'operator',
        },
      },
    ])
  },
)

test.serial('questions-5: POST /v1/runs/{run_id}/questions: answers 202 with the detached RunView', async (t) => {
  const daemon = shared()
  const run = await daemon.wonders('detached')
  const answer = await reply(daemon, run, { answers })
  t.deepEqual([answer.status, answer.body.run_id], [202, run.run_id])
  t.is((await until(daemon, run.run_id, 'completed')).outputs[0].content, 'Thanks.')
  t.deepEqual(await eventTypes(daemon, run.run_id), [
    'accepted',
    'queued',
    'started',
    'waiting_for_user_question',
    'user_question_resolved',
    'output',
    'completed',
  ])
})

test.serial(
  'questions-8: UserQuestionResolution: a declined one has no answers; the model is told and the run goes on',
  async (t) => {
    const daemon = shared()
    const run = await daemon.wonders('declined')
    t.is((await reply(daemon, run, { declined: true, justification: 'not now' })).status, 202)
    await until(daemon, run.run_id, 'completed')
    t.like(await outcome(daemon, 'declined'), { state: 'failed', output: { declined: true, justification: 'not now' } })
    t.like((await eventsOf(daemon, run.run_id, 'user_question_resolved'))[0].resolution, {
      declined: true,
      answers: [],
      decided_by: 'operator',
    })
  },
)

test.serial(
  'questions-10: POST /v1/runs/{run_id}/questions/{request_id}/cancel: cancels the waiting run if the id ' +
    'matches; a stale id is refused and the run keeps waiting',
  async (t) => {
    const daemon = shared()
    const run = await daemon.wonders('cancel')
    const stale = await daemon.request('POST', cancelPath(run, 'question_gone'), { justification: 'x' })
    t.deepEqual(
      [...codeOf(stale), stale.body.domain, stale.body.errors[0].path],
      [400, 'question_request_mismatch', 'questions', 'path.request_id'],
    )
    t.deepEqual((await daemon.request('GET', `/v1/runs/${run.run_id}`)).body, run)
    const cancelled = await daemon.request('POST', cancelPath(run), { justification: 'no need' })
    t.is(cancelled.status, 200)
    t.like(cancelled.body, { run_id: run.run_id, status: 'cancelled' })
    t.like((await eventsOf(daemon, run.run_id, 'user_question_resolved'))[0].resolution, {
      declined: true,
      decided_by: 'cancel',
      justification: 'no need',
    })
    t.is(
      (await daemon.request('POST', cancelPath(await daemon.wonders('cancel')))).body.status,
      'cancelled',
      'the body may be left out',
    )
  },
)

test.serial(
  'questions-14: a key in the body or the header gives the same run for the same payload, through kill -9, ' +
    'and idempotency_conflict for another',
  async (t) => {
    const first = await startAsking(t)
    const runs = []
    for (const [at, session] of ['s1', 's2'].entries()) {
      const run = await first.wonders(session)
      const [request_id] = run.pending_question_ids
      const way = waysOf(run)[at] ?? ''
      const done = await first.request('POST', way, { idempotency_key: 'k', resolution: { request_id, answers } })
      t.is(done.status, at === 0 ? 202 : 200)
      await until(first, run.run_id, 'completed')
      const same = await first.request('POST', way, { resolution: { request_id, answers } }, { 'idempotency-key': 'k' })
      t.deepEqual([same.status, same.body.run_id ?? run.run_id], [done.status, run.run_id])
      const other = await first.request(
        'POST',
        way,
        { resolution: { request_id, declined: true } },
        { 'idempotency-key': 'k' },
      )
      t.deepEqual([...codeOf(other), other.body.domain], [409, 'idempotency_conflict', 'idempotency'])
      runs.push(run)
    }
    const cancelled = await first.wonders('s3')
    t.is(
      (await first.request('POST', cancelPath(cancelled), { justification: 'a' }, { 'idempotency-key': 'k' })).body
        .status,
      'cancelled',
    )
    const second = await first.again()
    t.is((await reply(second, runs[0], { answers }, { 'idempotency-key': 'k' })).body.run_id, runs[0].run_id)
    t.is(
      (await second.request('POST', cancelPath(cancelled), { idempotency_key: 'k', justification: 'a' })).body.status,
      'cancelled',
    )
    t.deepEqual(
      codeOf(await second.request('POST', cancelPath(cancelled), { idempotency_key: 'k', justification: 'b' })),
      [409, 'idempotency_conflict'],
    )
    for (const run of runs) t.is((await eventsOf(second, run.run_id, 'user_question_resolved')).length, 1)
  },
)

test.serial('questions-15: header and body must agree, and a key must not be empty', async (t) => {
  const daemon = shared()
  const run = await daemon.wonders('keys')
  const [request_id] = run.pending_question_ids
  for (const [way, body] of [
    ...waysOf(run).map((path) => [path, { resolution: { request_id, answers } }] as const),
    [cancelPath(run), {}] as const,
  ]) {
    const answer = await daemon.request('POST', way, { ...body, idempotency_key: 'k' }, { 'idempotency-key': 'other' })
    t.deepEqual([...codeOf(answer), answer.body.domain], [400, 'invalid_idempotency_key', 'idempotency'])
    t.deepEqual(codeOf(await daemon.request('POST', way, { ...body, idempotency_key: ' ' })), [
      400,
      'invalid_idempotency_key',
    ])
  }
  t.is((await daemon.request('GET', `/v1/runs/${run.run_id}`)).body.status, 'waiting_for_user_question')
})

test.serial(
  'questions-16: of fifty equal answers at once all get the run, of fifty different ones the first counts',
  async (t) => {
    const daemon = shared()
    const same = await daemon.wonders('equal')
    const equal = await Promise.all(
      Array.from({ length: 50 }, () => reply(daemon, same, { answers }, { 'idempotency-key': 'k' })),
    )
    t.true(equal.every(({ status, body }) => status === 202 && body.run_id === same.run_id))
    const mixed = await daemon.wonders('different')
    const different = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        reply(daemon, mixed, { answers, justification: `${at}` }, { 'idempotency-key': 'k' }),
      ),
    )
    t.is(different.filter(({ status }) => status === 202).length, 1)
    t.true(different.every(({ status, body }) => status === 202 || body.code === 'idempotency_conflict'))
    for (const run of [same, mixed]) {
      await until(daemon, run.run_id, 'completed')
      t.is((await eventsOf(daemon, run.run_id, 'user_question_resolved')).length, 1)
    }
  },
)

test.serial(
  'questions-6: session-scoped answers act on the run that waits now, run-scoped ones on exactly one',
  async (t) => {
    const daemon = shared()
    const run = await daemon.wonders('scope')
    const queued = await submit(daemon, 'scope', 'behind it')
    const resolution = { request_id: run.pending_question_ids[0], answers }
    t.deepEqual(codeOf(await daemon.request('POST', `/v1/runs/${queued.run_id}/questions`, { resolution })), [
      409,
      'question_state_conflict',
    ])
    t.is((await daemon.request('POST', '/v1/sessions/scope/questions', { resolution })).status, 200)
    t.is((await until(daemon, queued.run_id, 'completed')).outputs[0].content, 'You said: behind it')
    t.is((await until(daemon, run.run_id, 'completed')).outputs[0].content, 'Thanks.')
  },
)

test.serial(
  'questions-18: POST /v1/runs/{run_id}/cancel still ends a run that waits, and its request is closed in ' +
    'the name of the cancellation',
  async (t) => {
    const daemon = shared()
    const run = await daemon.wonders('run-cancel')
    t.is((await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`)).body.status, 'cancelled')
    t.deepEqual(await eventsOf(daemon, run.run_id, 'user_question_resolved'), [
      {
        type: 'user_question_resolved',
        resolution: { request_id: run.pending_question_ids[0], answers: [], declined: true, decided_by: 'cancel' },
      },
    ])
    t.deepEqual((await daemon.request('GET', '/v1/sessions/run-cancel/questions')).body, [])
  },
)

const wrong: Readonly<Record<string, (good: readonly any[]) => object>> = {
  question_request_mismatch: (good) => ({ request_id: 'question_gone', answers: good }),
  question_option_not_found: ([, sizes]) => ({ answers: [{ question_id: 'q1', selected_option_ids: ['o9'] }, sizes] }),
  question_answer_missing: ([colour]) => ({ answers: [colour] }),
  question_duplicate_answer: ([colour, sizes]) => ({ answers: [colour, colour, sizes] }),
  question_duplicate_option: ([colour]) => ({
    answers: [colour, { question_id: 'q2', selected_option_ids: ['o1', 'o1'] }],
  }),
  question_declined_with_answers: (good) => ({ answers: good, declined: true }),
  question_single_select_violation: ([, sizes]) => ({
    answers: [{ question_id: 'q1', selected_option_ids: ['o1', 'o2'] }, sizes],
  }),
  question_answer_empty: ([, sizes]) => ({
    answers: [{ question_id: 'q1', selected_option_ids: [], freeform_answer: ' \n' }, sizes],
  }),
  question_unknown_answer: (good) => ({ answers: [...good, { question_id: 'q9', selected_option_ids: ['o1'] }] }),
}
for (const [code, make] of Object.entries(wrong)) {
  test.serial(`questions-9: Code ${code}: 400 by run and by session, and the run keeps waiting`, async (t) => {
    const daemon = shared()
    const run = await daemon.wonders(code)
    for (const way of waysOf(run)) {
      const answer = await daemon.request('POST', way, {
        resolution: { request_id: run.pending_question_ids[0], ...make(answers) },
      })
      t.deepEqual([...codeOf(answer), answer.body.domain], [400, code, 'questions'])
      t.regex(answer.body.errors[0].path, /^body\.resolution\./u)
    }
    t.deepEqual((await daemon.request('GET', `/v1/runs/${run.run_id}`)).body, run)
  })
}

test.serial(
  'questions-11: Code question_state_conflict: 409 when the run waits for nothing, by run, by session and ' +
    'for a cancellation',
  async (t) => {
    const daemon = shared()
    const run = await daemon.wonders('conflict')
    t.is((await reply(daemon, run, { answers })).status, 202)
    await until(daemon, run.run_id, 'completed')
    const resolution = { request_id: run.pending_question_ids[0], answers }
    for (const answer of [
      ...(await Promise.all(waysOf(run).map((way) => daemon.request('POST', way, { resolution })))),
      await daemon.request('POST', cancelPath(run)),
    ]) {
      t.deepEqual([...codeOf(answer), answer.body.domain], [409, 'question_state_conflict', 'questions'])
    }
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/runs/none/questions', { resolution })), [404, 'run_not_found'])
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/none/questions', { resolution })), [
      404,
      'session_not_found',
    ])
  },
)

test.serial(
  'questions-12: State: an expired question cancels its run, also while the daemon is dead; code ' +
    'question_expired: 409 for what comes later',
  async (t) => {
    const first = await startAsking(t)
    const alive = await first.wonders('s1', { ...twoQuestions, expires_after_ms: 4000 })
    t.regex((await until(first, alive.run_id, 'cancelled')).error, /^question_expired: /u)
    const dead = await first.wonders('s2', { ...twoQuestions, expires_after_ms: 4000 })
    const second = await first.again()
    await until(second, dead.run_id, 'cancelled')
    for (const run of [alive, dead]) {
      t.like((await eventsOf(second, run.run_id, 'user_question_resolved'))[0].resolution, {
        declined: true,
        decided_by: 'timeout',
      })
      const resolution = { request_id: run.pending_question_ids[0], answers }
      for (const late of [
        ...(await Promise.all(waysOf(run).map((way) => second.request('POST', way, { resolution })))),
        await second.request('POST', cancelPath(run)),
      ]) {
        t.deepEqual([...codeOf(late), late.body.domain], [409, 'question_expired', 'questions'])
      }
    }
  },
)

test.serial(
  'questions-17: State: a question that waits survives kill -9 with its id, its answer is durable, and two ' +
    'answers at once have one effect',
  async (t) => {
    const first = await startAsking(t)
    const run = await first.wonders('s1')
    const second = await first.again()
    t.deepEqual((await second.request('GET', `/v1/runs/${run.run_id}`)).body, run)
    const both = await Promise.all(
      ['o1', 'o2'].map((option) =>
        reply(second, run, { answers: [{ question_id: 'q1', selected_option_ids: [option] }, answers[1]] }),
      ),
    )
    t.deepEqual(both.map(({ status }) => status).toSorted(), [202, 409])
    const third = await second.again()
    await until(third, run.run_id, 'completed')
    const resolved = await eventsOf(third, run.run_id, 'user_question_resolved')
    t.deepEqual(
      resolved.map(({ resolution }) => resolution.answers[0].selected_option_ids),
      [[both[0]?.status === 202 ? 'o1' : 'o2']],
    )
  },
)
