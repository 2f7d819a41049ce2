import test from 'ava'
import { listDeliveries } from '../../../../plugins/execution/deliveries/delivery-list.js'
import { listRuns } from '../../../../plugins/execution/runs/run-list.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession } from '../../../support/runs.js'
import { openRunStore, runRecord } from '../../../support/run-store.js'

test('runs-19: runs by activity come in pages as well: open ones first, then those that changed last', async (t) => {
  const { store } = await openRunStore(t)
  const ended = { finished_at_ms: 1 }
  await store.state.commit((tx) => {
    for (let at = 0; at < 7; at += 1)
      tx.insert(store.runs, runRecord(`r${at}`, `s${at}`, 'completed', { ...ended, updated_at_ms: 50 - (at % 3) }))
    tx.insert(store.runs, runRecord('r8', 's8', 'running', { updated_at_ms: 2 }))
  })
  const view = ({ run_id }: any): any => run_id
  const plain: any = listRuns(store, { priority_active: true }, { view })
  t.deepEqual(plain, ['r8', 'r6', 'r3', 'r0', 'r4', 'r1', 'r5', 'r2'])
  const walked: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page: any = listRuns(store, { priority_active: true, page: true, limit: 3, cursor }, { view })
    t.like(page.pagination, { total_count: 8, order: 'activity' })
    walked.push(...page.items)
    cursor = page.pagination.next_cursor
  }
  t.deepEqual(walked, plain)
})

test('limits of session events are clamped or named, and dead letters take a status', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const events = (query: string) => daemon.request('GET', `/v1/sessions/s1/events?${query}`)
  t.is((await events('limit=1000000')).status, 200)
  t.deepEqual(codeOf(await events('limit=0')), [400, 'invalid_limit'])
  for (const status of ['dead_lettered', 'delivered'])
    t.deepEqual((await daemon.request('GET', `/v1/deliveries/dead-letter?status=${status}`)).body, [])
})

test('a status beside dead letters narrows them, and never shows others', (t) => {
  const groups: string[] = []
  const store: any = { deliveries: { count: () => 0, list: ({ group }: any) => (groups.push(group), []) } }
  for (const status of ['delivered', 'dead_lettered', undefined] as const)
    listDeliveries(store, { status, only: 'dead_lettered', limit: 5 }, () => {})
  t.deepEqual([...new Set(groups)], ['dead_lettered'])
})
