/**
 * docs/rules/approvals.md: rules that can be seen from outside, against a daemon in this process, of whose root a kill leaves the files as they are.
 */
import { digest } from '../../core/plugin.js'
import test from 'ava'
import { eventsOf, inputOf, shareAsking, startAsking, type AskingDaemon } from '../support/answers.js'
import type { Answer } from '../support/daemon.js'
import { codeOf, eventTypes, openSession, submit, until } from '../support/runs.js'

const shared = shareAsking(test)

const allow = (request_id: string) => ({ request_id, behavior: 'allow' })
const deny = (request_id: string) => ({ request_id, behavior: 'deny' })

/** Every way to send a decision on a run of a session. */
const waysOf = (run: any): readonly string[] => [
  `/v1/runs/${run.run_id}/approvals`,
  `/v1/sessions/${run.session_id}/approvals`,
  `/v1/sessions/${run.session_id}/approval-runs`,
]

const decide = (
  daemon: AskingDaemon,
  run: any,
  resolutions: readonly object[],
  headers: Record<string, string> = {},
): Promise<Answer> => daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, { resolutions }, headers)

const outcomes = async (daemon: AskingDaemon, session_id: string): Promise<any[]> =>
  (await daemon.request('GET', `/v1/sessions/${session_id}/events`)).body.session.journal.flatMap(
    ({ type, entry }: any) => (type === 'outcome' ? [entry] : []),
  )

test.serial(
  'approvals-3: POST /v1/sessions/{session_id}/approvals: decides, and answers with the SessionView when ' +
    'the run has come to rest',
  async (t) => {
    const daemon = shared()
    const run = await daemon.asks('1-1', 'a')
    const answer = await daemon.request('POST', '/v1/sessions/1-1/approvals', {
      resolutions: [allow(run.pending_approval_ids[0])],
    })
    t.is(answer.status, 200)
    t.like(answer.body, {
      session_id: '1-1',
      snapshot: { agent: { status: 'completed' }, pending_approvals: [], last_assistant_message: 'Went on.' },
    })
    t.deepEqual(daemon.effects('1-1'), ['a'])
  },
)

test.serial(
  'approvals-4: POST /v1/sessions/{session_id}/approval-runs and /v1/runs/{run_id}/approvals: answer 202 ' +
    'with the detached RunView',
  async (t) => {
    const daemon = shared()
    for (const way of [0, 2]) {
      const run = await daemon.asks('2-1', 'a', 'b')
      const [a, b] = run.pending_approval_ids
      const first = await daemon.request('POST', waysOf(run)[way] ?? '', { resolutions: [allow(a)] })
      t.is(first.status, 202)
      t.like(first.body, { run_id: run.run_id, status: 'waiting_for_approval', pending_approval_ids: [b] })
      const second = await daemon.request('POST', waysOf(run)[way] ?? '', { resolutions: [deny(b)] })
      t.is(second.status, 202)
      t.is(second.body.run_id, run.run_id)
      await until(daemon, run.run_id, 'completed')
    }
    t.deepEqual(daemon.effects('2-1'), ['a', 'a'])
  },
)

test.serial(
  'approvals-1: GET /v1/approvals: open requests of all sessions or one, as an array and in pages',
  async (t) => {
    const daemon = await startAsking(t)
    const runs = [await daemon.asks('s1', 'a', 'b'), await daemon.asks('s2', 'c')]
    const all = (await daemon.request('GET', '/v1/approvals')).body
    t.deepEqual(
      all.map(({ session_id, request }: any) => [session_id, request.id]),
      runs.flatMap((run) => run.pending_approval_ids.map((id: string) => [run.session_id, id])),
    )
    t.like(all[2], {
      session_id: 's2',
      agent_id: runs[1].agent_id,
      run_id: runs[1].run_id,
      run_kind: 'input',
      request: { tool_name: 'bash', input: inputOf('s2', 'c') },
    })
    t.deepEqual((await daemon.request('GET', '/v1/approvals?session_id=s2')).body, [all[2]])
    const page = (await daemon.request('GET', '/v1/approvals?page=true&limit=2')).body
    t.deepEqual(page.items, all.slice(0, 2))
    t.like(page.pagination, { limit: 2, total_count: 3, has_more: true, order: 'session_id_asc,request_id_asc' })
    t.deepEqual((await daemon.request('GET', `/v1/approvals?cursor=${page.pagination.next_cursor}`)).body.items, [
      all[2],
    ])
  },
)

test.serial(
  'approvals-2: Approval request: id, tool_call_id, tool_name, input, scope and reason, with the digest of ' +
    'the input; on the run, the session and the event',
  async (t) => {
    const daemon = shared()
    const run = await daemon.asks('4-1', 'a')
    const [request] = run.pending_approvals
    t.deepEqual(Object.keys(request).sort(), [
      'created_at_ms',
      'grant_rule',
      'id',
      'input',
      'input_digest',
      'reason',
      'scope',
      'tool_call_id',
      'tool_name',
    ])
    t.like(request, {
      id: run.pending_approval_ids[0],
      tool_name: 'bash',
      input: inputOf('4-1', 'a'),
      input_digest: digest(inputOf('4-1', 'a')),
      scope: 'session',
      reason: 'bash asks before it runs.',
    })
    t.is(run.request.approval_count, 1)
    t.deepEqual(await eventsOf(daemon, run.run_id, 'waiting_for_approval'), [
      { type: 'waiting_for_approval', request_ids: [request.id], requests: [request] },
    ])
    t.deepEqual((await daemon.request('GET', '/v1/sessions/4-1')).body.snapshot.pending_approvals, [request])
  },
)

test.serial(
  'approvals-7: ApprovalResolution: updated_input replaces the input if it fits the tool, and is on the ' +
    'event with its own digest',
  async (t) => {
    const daemon = shared()
    const run = await daemon.asks('5-1', 'a')
    const [request_id] = run.pending_approval_ids
    const wrong = await decide(daemon, run, [{ ...allow(request_id), updated_input: { command: 7 } }])
    t.deepEqual(
      [...codeOf(wrong), wrong.body.errors[0].path],
      [400, 'approval_updated_input_invalid', 'body.resolutions.0.updated_input.command'],
    )
    t.deepEqual(codeOf(await decide(daemon, run, [{ ...deny(request_id), updated_input: inputOf('5-1', 'b') }])), [
      400,
      'approval_updated_input_invalid',
    ])
    t.is(
      (
        await decide(daemon, run, [
          { ...allow(request_id), updated_input: inputOf('5-1', 'b'), justification: 'b is safer' },
        ])
      ).status,
      202,
    )
    await until(daemon, run.run_id, 'completed')
    t.deepEqual(daemon.effects('5-1'), ['b'])
    t.deepEqual(await eventsOf(daemon, run.run_id, 'approval_resolved'), [
      {
        type: 'approval_resolved',
        resolutions: [
          {
            request_id,
            behavior: 'allow',
            updated_input: inputOf('5-1', 'b'),
            justification: 'b is safer',
            decided_by: 'operator',
            input_digest: digest(inputOf('5-1', 'b')),
          },
        ],
      },
    ])
    const intent = (await daemon.request('GET', '/v1/sessions/5-1/events')).body.session.journal.find(
      ({ type }: any) => type === 'intent',
    ).entry
    t.is(intent.input_digest, digest(inputOf('5-1', 'b')))
  },
)

test.serial(
  'approvals-8: ApprovalResolution: a denial is told to the model with its reason, and the call is never made',
  async (t) => {
    const daemon = shared()
    const run = await daemon.asks('6-1', 'a')
    await decide(daemon, run, [{ ...deny(run.pending_approval_ids[0]), reason: 'too dear', justification: 'policy 7' }])
    t.is((await until(daemon, run.run_id, 'completed')).outputs[0].content, 'Went on.')
    t.like((await outcomes(daemon, '6-1'))[0], {
      state: 'refused',
      output: { error: { code: 'call_denied_by_operator', reason: 'too dear' } },
    })
    t.like((await eventsOf(daemon, run.run_id, 'approval_resolved'))[0].resolutions[0], {
      behavior: 'deny',
      reason: 'too dear',
      justification: 'policy 7',
      decided_by: 'operator',
    })
    t.deepEqual(daemon.effects('6-1'), [])
  },
)

test.serial(
  'approvals-10: a key in the body or the header gives the same run for the same payload, through kill -9, ' +
    'and idempotency_conflict for another',
  async (t) => {
    const first = await startAsking(t)
    for (const [at, session] of ['s1', 's2', 's3'].entries()) {
      const run = await first.asks(session, session)
      const [request_id] = run.pending_approval_ids
      const way = waysOf(run)[at] ?? ''
      const done = await first.request('POST', way, { idempotency_key: 'k', resolutions: [allow(request_id)] })
      t.true([200, 202].includes(done.status))
      await until(first, run.run_id, 'completed')
      const same = await first.request('POST', way, { resolutions: [allow(request_id)] }, { 'idempotency-key': 'k' })
      t.is(same.status, done.status)
      t.is(same.body.run_id ?? run.run_id, run.run_id)
      const other = await first.request('POST', way, { resolutions: [deny(request_id)] }, { 'idempotency-key': 'k' })
      t.deepEqual([...codeOf(other), other.body.domain], [409, 'idempotency_conflict', 'idempotency'])
    }
    const second = await first.again()
    const [run] = (await second.request('GET', '/v1/runs?session_id=s1')).body
    const [event] = await eventsOf(second, run.run_id, 'waiting_for_approval')
    const again = await second.request('POST', `/v1/runs/${run.run_id}/approvals`, {
      idempotency_key: 'k',
      resolutions: [allow(event.request_ids[0])],
    })
    t.deepEqual([again.status, again.body.run_id, again.body.status], [202, run.run_id, 'completed'])
    t.deepEqual(
      ['s1', 's2', 's3'].flatMap((session) => second.effects(session)),
      ['s1', 's2', 's3'],
    )
  },
)

test.serial('approvals-11: header and body must agree, and a key must not be empty', async (t) => {
  const daemon = shared()
  const run = await daemon.asks('8-1', 'a')
  const [request_id] = run.pending_approval_ids
  for (const way of waysOf(run)) {
    for (const [key, header] of [
      ['k', 'other'],
      [' ', undefined],
      ['', undefined],
    ] as const) {
      const answer = await daemon.request(
        'POST',
        way,
        { idempotency_key: key, resolutions: [allow(request_id)] },
        header === undefined ? {} : { 'idempotency-key': header },
      )
      t.deepEqual([...codeOf(answer), answer.body.domain], [400, 'invalid_idempotency_key', 'idempotency'])
    }
  }
  t.is(
    (
      await daemon.request(
        'POST',
        waysOf(run)[0] ?? '',
        { idempotency_key: 'k', resolutions: [allow(request_id)] },
        { 'idempotency-key': 'k' },
      )
    ).status,
    202,
  )
})

test.serial(
  'approvals-12: of fifty equal decisions at once all are answered with the run, of fifty different ones ' +
    'the first counts',
  async (t) => {
    const daemon = shared()
    const same = await daemon.asks('9-1', 'a')
    const equal = await Promise.all(
      Array.from({ length: 50 }, () =>
        decide(daemon, same, [allow(same.pending_approval_ids[0])], { 'idempotency-key': 'k' }),
      ),
    )
    t.true(equal.every(({ status, body }) => status === 202 && body.run_id === same.run_id))
    await until(daemon, same.run_id, 'completed')
    const mixed = await daemon.asks('9-2', 'b')
    const different = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        decide(daemon, mixed, [{ ...(at % 2 === 0 ? allow : deny)(mixed.pending_approval_ids[0]), reason: `${at}` }], {
          'idempotency-key': 'k',
        }),
      ),
    )
    t.is(different.filter(({ status }) => status === 202).length, 1)
    t.true(different.every(({ status, body }) => status === 202 || body.code === 'idempotency_conflict'))
    await until(daemon, mixed.run_id, 'completed')
    t.is((await eventsOf(daemon, mixed.run_id, 'approval_resolved')).length, 1)
    t.is(daemon.effects('9-1').filter((word) => word === 'a').length, 1)
    t.true(daemon.effects('9-2').filter((word) => word === 'b').length <= 1)
  },
)

test.serial(
  'approvals-9: an invalid, duplicate or stale id rejects the whole batch, and nothing of it is recorded, ' +
    'also after kill -9',
  async (t) => {
    const first = await startAsking(t)
    const run = await first.asks('s1', 'a', 'b')
    const foreign = await first.asks('s2', 'c')
    const [a, b] = run.pending_approval_ids
    const batches: [string, object[]][] = [
      ['approval_batch_empty', []],
      ['approval_duplicate_resolution', [allow(a), allow(b), deny(a)]],
      ['approval_request_not_pending', [allow(a), allow(b), allow('approval_gone')]],
      ['approval_request_not_pending', [allow(a), allow(foreign.pending_approval_ids[0])]],
    ]
    for (const way of waysOf(run)) {
      for (const [code, resolutions] of batches) {
        const answer = await first.request('POST', way, { resolutions })
        t.deepEqual([...codeOf(answer), answer.body.domain], [400, code, 'approvals'], way)
      }
    }
    const second = await first.again()
    t.deepEqual((await second.request('GET', `/v1/runs/${run.run_id}`)).body.pending_approval_ids, [a, b])
    t.deepEqual(await eventsOf(second, run.run_id, 'approval_resolved'), [])
    t.deepEqual(second.effects('s1'), [])
  },
)

test.serial(
  'approvals-5: session-scoped decisions act on the run that waits now, run-scoped ones on exactly one',
  async (t) => {
    const daemon = shared()
    const run = await daemon.asks('11-1', 'a')
    const queued = await submit(daemon, '11-1', 'behind it')
    const stale = await daemon.request('POST', `/v1/runs/${queued.run_id}/approvals`, {
      resolutions: [allow(run.pending_approval_ids[0])],
    })
    t.deepEqual(codeOf(stale), [409, 'approval_state_conflict'])
    const answer = await daemon.request('POST', '/v1/sessions/11-1/approval-runs', {
      resolutions: [allow(run.pending_approval_ids[0])],
    })
    t.is(answer.body.run_id, run.run_id)
    await until(daemon, queued.run_id, 'completed')
    t.deepEqual(daemon.effects('11-1'), ['a'])
  },
)

test.serial(
  'approvals-16: POST /v1/runs/{run_id}/cancel still ends a run that waits, and its requests are closed in ' +
    'the name of the cancellation',
  async (t) => {
    const daemon = await startAsking(t)
    const run = await daemon.asks('s1', 'a', 'b')
    t.is((await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`)).body.status, 'cancelled')
    const [closed] = await eventsOf(daemon, run.run_id, 'approval_resolved')
    t.deepEqual(
      closed.resolutions.map(({ request_id, behavior, decided_by }: any) => [request_id, behavior, decided_by]),
      run.pending_approval_ids.map((id: string) => [id, 'deny', 'cancel']),
    )
    t.deepEqual((await daemon.request('GET', '/v1/approvals')).body, [])
    t.deepEqual(codeOf(await decide(daemon, run, [allow(run.pending_approval_ids[0])])), [
      409,
      'approval_state_conflict',
    ])
    t.deepEqual(daemon.effects('s1'), [])
  },
)

test.serial(
  'approvals-13: Code approval_state_conflict: nothing waits for approval, by run and by session',
  async (t) => {
    const daemon = shared()
    await openSession(daemon, '13-1')
    const { run_id } = await submit(daemon, '13-1', 'plain')
    await until(daemon, run_id, 'completed')
    for (const way of waysOf({ run_id, session_id: '13-1' })) {
      const answer = await daemon.request('POST', way, { resolutions: [allow('approval_1')] })
      t.deepEqual([...codeOf(answer), answer.body.domain], [409, 'approval_state_conflict', 'approvals'])
    }
    const asks = await daemon.wonders('13-2')
    t.deepEqual(codeOf(await decide(daemon, asks, [allow(asks.pending_question_ids[0])])), [
      409,
      'approval_state_conflict',
    ])
  },
)

test.serial('approvals-14: Codes run_not_found and session_not_found: unknown targets are named', async (t) => {
  const daemon = shared()
  const [byRun, bySession, detached] = await Promise.all(
    waysOf({ run_id: 'none', session_id: 'none' }).map((way) => daemon.request('POST', way, { resolutions: [] })),
  )
  t.deepEqual(
    [byRun, bySession, detached].map((answer) => answer?.body.code),
    ['run_not_found', 'session_not_found', 'session_not_found'],
  )
})

test.serial(
  'approvals-15: Three open approvals survive kill -9 with their ids, and each is resolved once, in any order',
  async (t) => {
    let daemon = await startAsking(t)
    const orders: Record<string, readonly number[]> = { s1: [0, 1, 2], s2: [2, 0, 1], s3: [1, 2, 0] }
    const runs = []
    for (const session of Object.keys(orders))
      runs.push(await daemon.asks(session, `${session}-0`, `${session}-1`, `${session}-2`))
    for (let round = 0; round < 3; round += 1) {
      daemon = await daemon.again()
      for (const run of runs) {
        const order = orders[run.session_id] ?? []
        const open = run.pending_approvals.filter((_: unknown, at: number) => !order.slice(0, round).includes(at))
        t.deepEqual((await daemon.request('GET', `/v1/runs/${run.run_id}`)).body.pending_approvals, open)
        const id = run.pending_approval_ids[order[round] ?? 0]
        t.is((await decide(daemon, run, [allow(id)])).status, 202)
        const twice = await decide(daemon, run, [deny(id)])
        t.true(['approval_request_not_pending', 'approval_state_conflict'].includes(twice.body.code), twice.body.code)
      }
    }
    for (const run of runs) await until(daemon, run.run_id, 'completed')
    for (const session of Object.keys(orders))
      t.deepEqual(
        daemon.effects(session).toSorted(),
        [0, 1, 2].map((at) => `${session}-${at}`),
      )
  },
)

test.serial(
  'approvals-12: Two clients that decide differently at once: exactly one effect, and the other is told',
  async (t) => {
    const daemon = shared()
    for (const session of ['16-1', '16-2', '16-3', '16-4']) {
      const run = await daemon.asks(session, session)
      const answers = await Promise.all(
        [allow, deny].map((behaviour) => decide(daemon, run, [behaviour(run.pending_approval_ids[0])])),
      )
      t.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 409])
      await until(daemon, run.run_id, 'completed')
      const [{ resolutions }, ...more] = await eventsOf(daemon, run.run_id, 'approval_resolved')
      t.deepEqual(more, [])
      t.is(daemon.effects(session).includes(session), resolutions[0].behavior === 'allow')
    }
  },
)

test.serial(
  'approvals-17: Expiry: what nobody decides is denied by time, also while the daemon is dead; the model is ' +
    'told and the run goes on',
  async (t) => {
    const first = await startAsking(t, { flags: ['--approval-expires-after-ms', '4000'] })
    const run = await first.asks('s1', 'a', 'b')
    for (const { created_at_ms, expires_at_ms } of run.pending_approvals) t.is(expires_at_ms - created_at_ms, 4000)
    const second = await first.again()
    t.is((await until(second, run.run_id, 'completed')).outputs[0].content, 'Went on.')
    t.deepEqual(await eventTypes(second, run.run_id), [
      'accepted',
      'queued',
      'started',
      'waiting_for_approval',
      'approval_resolved',
      'output',
      'completed',
    ])
    const [{ resolutions }] = await eventsOf(second, run.run_id, 'approval_resolved')
    t.deepEqual(
      resolutions.map(({ behavior, decided_by }: any) => [behavior, decided_by]),
      [
        ['deny', 'timeout'],
        ['deny', 'timeout'],
      ],
    )
    t.deepEqual(
      (await outcomes(second, 's1')).map(({ state, output }) => [state, output.error.code]),
      [
        ['refused', 'approval_expired'],
        ['refused', 'approval_expired'],
      ],
    )
    for (const way of waysOf(run)) {
      const late = await second.request('POST', way, { resolutions: [allow(run.pending_approval_ids[0])] })
      t.deepEqual([...codeOf(late), late.body.domain], [409, 'approval_expired', 'approvals'])
    }
    t.deepEqual(second.effects('s1'), [])
  },
)
