import test from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { pendingApprovals } from '../../../../plugins/execution/approvals/pending.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

test('requests of all sessions are listed by session and id, page by page or whole, until they are answered', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [effectTools(createWorld())] })
  const get = async (query: string): Promise<any> => (await daemon.request('GET', `/v1/approvals${query}`)).body
  t.deepEqual(await get(''), [])
  const open: any[] = []
  for (const session of ['b', 'a-1', 'a', 'quiet']) {
    await openSession(daemon, session)
    if (session === 'quiet') continue
    const run = await until(
      daemon,
      (await submit(daemon, session, '/tool mcp__pay {"what":"x"}\n/tool mcp__pay {"what":"y"}')).run_id,
      'waiting_for_approval',
    )
    for (const request of run.pending_approvals)
      open.push({ session_id: session, agent_id: run.agent_id, run_id: run.run_id, run_kind: 'input', request })
  }
  const key = ({ session_id, request }: any): string => `${session_id}:${request.id}`
  const sorted = open.toSorted((x, y) => (key(x) < key(y) ? -1 : 1))
  t.deepEqual(await get(''), sorted)
  t.deepEqual(await get('?limit=4'), sorted.slice(0, 4))
  t.deepEqual(
    await get('?session_id=a'),
    sorted.filter(({ session_id }) => session_id === 'a'),
  )
  t.deepEqual([await get('?session_id=quiet'), await get('?session_id=nobody')], [[], []])
  const walked: any[] = []
  let cursor: string | undefined = ''
  while (cursor !== undefined) {
    const { items, pagination }: any = await get(`?limit=4&cursor=${cursor}`)
    t.like(pagination, { limit: 4, total_count: 6, order: 'session_id_asc,request_id_asc' })
    walked.push(...items)
    cursor = pagination.next_cursor
  }
  t.deepEqual(walked, sorted)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/approvals?limit=0')), [400, 'invalid_limit'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/approvals?cursor=%7C')), [400, 'invalid_cursor'])
  const [first] = sorted
  await daemon.request('POST', `/v1/runs/${first.run_id}/approvals`, {
    resolutions: [{ request_id: first.request.id, behavior: 'deny' }],
  })
  t.deepEqual(await get(''), sorted.slice(1))
})

test('one session whose requests cannot be read does not hide those of the others', (t) => {
  const waiting = ['a', 'b', 'c'].map((session_id) => ({ session_id, run_id: session_id, pending: ['r'] }))
  const requests = ({ session_id }: any) => {
    if (session_id === 'a') throw new Error('the page is damaged')
    return session_id === 'b' ? [] : [{ id: 'r' }]
  }
  const runs: any = { waiting: () => waiting, openApprovals: requests, openQuestions: requests }
  const named: string[] = []
  const skip = (id: string): void => void named.push(id)
  t.deepEqual(unsafeCast<object[]>(pendingApprovals(runs, undefined, { skip })).length, 1)
  t.like(pendingApprovals(runs, undefined, { skip, page: true }), { items: [{ session_id: 'c' }] })
  t.deepEqual(named, ['a:r', 'b:r', 'a:r', 'b:r'])
})
