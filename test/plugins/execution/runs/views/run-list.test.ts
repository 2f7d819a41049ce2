import test from 'ava'
import { listDeliveries } from '../../../../../plugins/execution/deliveries/delivery-list.js'
import { listRuns } from '../../../../../plugins/execution/runs/views/run-list.js'
import type { RunRecord, RunStatus } from '../../../../../plugins/execution/runs/contract.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { codeOf, openSession } from '../../../../support/runs.js'
import { createRandom } from '../../../../faults/random.js'
import { openRunStore, runRecord, stillClock } from '../../../../support/run-store.js'

const show = { view: ({ run_id }: any): any => run_id, now: Date.now }

test('runs-19: runs by activity come in pages as well: open ones first, then those that changed last', async (t) => {
  const { store } = await openRunStore(t)
  const ended = { finished_at_ms: 1 }
  await store.state.commit((tx) => {
    for (let at = 0; at < 7; at += 1)
      tx.insert(store.runs, runRecord(`r${at}`, `s${at}`, 'completed', { ...ended, updated_at_ms: 50 - (at % 3) }))
    tx.insert(store.runs, runRecord('r8', 's8', 'running', { updated_at_ms: 2 }))
  })
  const plain: any = await listRuns(store, { priority_active: true }, show)
  t.deepEqual(plain, ['r8', 'r6', 'r3', 'r0', 'r4', 'r1', 'r5', 'r2'])
  const walked: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page: any = await listRuns(store, { priority_active: true, page: true, limit: 3, cursor }, show)
    t.like(page.pagination, { total_count: 8, order: 'open_first' })
    walked.push(...page.items)
    cursor = page.pagination.next_cursor
  }
  t.deepEqual(walked, plain)
})

test('runs-19: an open question of another session is among the open runs of its session', async (t) => {
  const { store } = await openRunStore(t)
  const beside = runRecord('r1', 's1', 'waiting_for_user_question', { kind: 'parent_clarification' })
  await store.state.commit((tx) => void tx.insert(store.runs, beside))
  t.deepEqual(await listRuns(store, { priority_active: true, session_id: 's1' }, show), ['r1'])
})

test('runs-19, http-14: pages by activity visit every run once, however many are open or have ended', async (t) => {
  const { store } = await openRunStore(t)
  const statusOf = (at: number): RunStatus =>
    at < 600 ? 'queued' : at % 50 === 0 ? 'running' : at % 3 === 0 ? 'failed' : 'completed'
  const runs = Array.from({ length: 1_500 }, (_, at) =>
    runRecord(`r${String(at).padStart(5, '0')}`, `s${at % 4}`, statusOf(at), {
      finished_at_ms: 1,
      updated_at_ms: 1_000 + ((at * 7) % 311),
    }),
  )
  for (let at = 0; at < runs.length; at += 100)
    await store.state.commit((tx) => runs.slice(at, at + 100).forEach((run) => tx.insert(store.runs, run)))
  const isOpen = ({ status }: RunRecord): boolean => status === 'queued' || status === 'running'
  const rank = (run: RunRecord): string => (isOpen(run) ? `1${run.run_id}` : `0${run.updated_at_ms}${run.run_id}`)
  const ordered = runs.toSorted((a, b) => (rank(a) < rank(b) ? 1 : -1))
  const walk = async (query: object): Promise<string[]> => {
    const walked: string[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: any = await listRuns(store, { priority_active: true, page: true, limit: 90, cursor, ...query }, show)
      walked.push(...page.items)
      cursor = page.pagination.next_cursor
      if (cursor === undefined) t.is(page.pagination.total_count, walked.length)
    }
    return walked
  }
  const expected = (fits: (run: RunRecord) => boolean): string[] => ordered.filter(fits).map(({ run_id }) => run_id)
  t.deepEqual(
    await walk({}),
    expected(() => true),
  )
  t.deepEqual(
    await walk({ session_id: 's2' }),
    expected(({ session_id }) => session_id === 's2'),
  )
  for (const status of ['queued', 'completed'] as const)
    t.deepEqual(
      await walk({ status }),
      expected((run) => run.status === status),
    )
  t.deepEqual(
    await walk({ session_id: 's1', status: 'failed' }),
    expected(({ session_id, status }) => session_id === 's1' && status === 'failed'),
  )
})

test('runs-19, http-14: a walk visits every run that is there all the time once, whatever becomes of it meanwhile', async (t) => {
  const clock = stillClock()
  const { store } = await openRunStore(t, { clock })
  const { below } = createRandom(19)
  const open = new Map<string, RunRecord>()
  let made = 0
  const submit = (): RunRecord => {
    made += 1
    return runRecord(`r${String(made).padStart(5, '0')}`, `s${made % 2}`, 'queued', { updated_at_ms: clock.at })
  }
  /** Some come, some begin, some end, several of them in the same millisecond. */
  const goOn = (steps: number): Promise<void> =>
    store.state.commit((tx) => {
      for (let n = 0; n < steps; n += 1) {
        clock.at += below(2)
        const run = [...open.values()][below(open.size + 10)] ?? submit()
        const next = run.status === 'queued' ? 'running' : 'completed'
        const status = open.has(run.run_id) ? next : 'queued'
        const changes = { updated_at_ms: clock.at, ...(status === 'completed' && { finished_at_ms: clock.at }) }
        const changed = runRecord(run.run_id, run.session_id, status, changes)
        tx.put(store.runs, changed)
        if (status === 'completed') open.delete(run.run_id)
        else open.set(run.run_id, changed)
      }
    })
  for (let round = 0; round < 30; round += 1) {
    await goOn(40)
    const pageOf = async (limit: number, cursor: string): Promise<any> => {
      const query = { priority_active: true, page: true, limit, cursor, ...(round % 3 === 0 && { session_id: 's1' }) }
      return listRuns(store, query, { ...show, now: clock.now })
    }
    const { items: before } = await pageOf(100, '')
    const walked: string[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page = await pageOf(1 + below(12), cursor)
      walked.push(...page.items)
      cursor = page.pagination.next_cursor
      await goOn(below(8))
    }
    t.deepEqual(walked.slice(0, before.length), before, `round ${round}`)
    t.is(new Set(walked).size, walked.length)
  }
})

test('runs by activity: others are served while very many open runs are looked at, and one that ends meanwhile is shown once', async (t) => {
  const { store } = await openRunStore(t)
  const count = 3_000
  const run = (at: number, status: RunStatus): RunRecord =>
    runRecord(`r${String(at).padStart(5, '0')}`, 's1', status, { finished_at_ms: 1, updated_at_ms: 1_000 + at })
  for (let at = 0; at < count; at += 1_000)
    await store.state.commit((tx) => {
      for (let of = at; of < at + 1_000; of += 1) tx.insert(store.runs, run(of, 'queued'))
    })
  let served = 0
  const serve = (): void => {
    served += 1
    if (served === 2)
      void store.state.commit((tx) => {
        for (const at of [count - 1, 0]) tx.put(store.runs, { ...run(at, 'completed'), updated_at_ms: Date.now() })
      })
    turn = setImmediate(serve)
  }
  let turn = setImmediate(serve)
  const page: any = await listRuns(store, { priority_active: true, page: true, limit: 90 }, show)
  clearImmediate(turn)
  t.true(served >= 4, `others were served ${served} times`)
  t.deepEqual(
    page.items,
    Array.from({ length: 90 }, (_, at) => `r${String(count - 1 - at).padStart(5, '0')}`),
  )
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
