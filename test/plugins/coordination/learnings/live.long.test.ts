import test from 'ava'
import type { Collection, PageQuery } from '../../../../core/plugin.js'
import { MemorySources } from '../../../../plugins/execution/memory/contract.js'
import type { Learning } from '../../../../plugins/coordination/learnings/contract.js'
import { createLive } from '../../../../plugins/coordination/learnings/live.js'
import { afterEnds } from '../../../../plugins/coordination/learnings/store.js'
import { createClock } from '../../../../core/base/clock.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { learningsLender, publish } from '../../../support/learnings.js'
import { testPlugin } from '../../../support/plugins.js'

const workspace = { kind: 'workspace', id: 'default' } as const
const session = { kind: 'session', id: 's1' } as const

/** A daemon, with what its learnings bring to memory, as ids. */
const watched = async (t: any, options: object = {}) => {
  const lent = learningsLender()
  let sources = () => [] as ReturnType<Parameters<typeof read>[0]>
  const reader = testPlugin('reader', {
    register(ctx) {
      sources = ctx.view(MemorySources) as any
    },
  })
  const daemon = await startTestDaemon(t, { ...options, plugins: [...lent.plugins, reader] })
  return { lent, daemon, brought: (...scopes: readonly any[]) => read(sources, scopes) }
}
const read = (sources: () => readonly any[], scopes: readonly any[]): readonly Learning[] =>
  sources()
    .filter(({ id }) => id === 'learnings')
    .flatMap((source) => source.learnings(scopes))
const ids = (learnings: readonly Learning[]): string[] => learnings.map(({ learning_id }) => learning_id)

test('learnings-25: memory is brought what holds, of its scopes, and each change of it', async (t) => {
  let now = 1_800_000_000_000
  const clock = { ...createClock(), now: () => now }
  const root = await freshRoot()
  const { daemon, brought, lent } = await watched(t, { clock, root })
  t.deepEqual(brought(workspace, session), [])
  const one = await publish(daemon, { content: 'One.' })
  const two = await publish(daemon, { content: 'Two.', scope: session, expires_at_ms: now + 100 })
  const three = await publish(daemon, { content: 'Three.' }, { publish_tier: 'provisional' })
  const other = await publish(daemon, { content: 'Other.', scope: { kind: 'session', id: 's2' } })
  t.deepEqual(brought(workspace), [one, three])
  t.deepEqual(brought(session, workspace), [two, one, three])
  t.is(brought(workspace)[0], brought(workspace)[0], 'the same objects again')
  now += 100
  t.deepEqual(brought(session), [])
  const { body: four } = await daemon.request('POST', `/v1/learnings/${one.learning_id}/supersede`, {
    content: 'Four.',
  })
  t.deepEqual(ids(brought(workspace)).toSorted(), [three.learning_id, four.learning_id].toSorted())
  await daemon.request('POST', `/v1/learnings/${three.learning_id}/revoke`)
  t.deepEqual(brought(workspace), [four])
  await t.throwsAsync(
    lent.commit((tx) => {
      tx.put(lent.learnings().learnings, { ...four, learning_id: 'undone' })
      throw new RangeError('undone')
    }),
  )
  t.deepEqual(brought(workspace), [four])
  await daemon.stop()
  const again = await watched(t, { clock, root })
  t.deepEqual(again.brought(workspace, session, { kind: 'session', id: 's2' }), [four, other])
})

const learning = (n: number, more: Partial<Learning> = {}): Learning => ({
  learning_id: `l${String(n).padStart(6, '0')}`,
  scope: workspace,
  kind: 'fact',
  sensitivity: 'scoped',
  content: `Number ${n}`,
  confidence: 80,
  source: {},
  created_at_ms: 1,
  published_at_ms: 1,
  status: 'active',
  publish_tier: 'active',
  verification_status: 'unverified',
  ...more,
})

test('learnings-25: what is over is not read, and a change is read alone', async (t) => {
  const { lent, daemon } = await watched(t)
  const { learnings } = lent.learnings()
  await lent.commit((tx) => {
    for (let n = 0; n < 300; n += 1) tx.put(learnings, learning(n, { expires_at_ms: 5 }))
    for (let n = 300; n < 600; n += 1) tx.put(learnings, learning(n, { status: 'revoked' }))
    for (let n = 600; n < 900; n += 1) tx.put(learnings, learning(n, { scope: session }))
    for (let n = 900; n < 910; n += 1) tx.put(learnings, learning(n))
  })
  t.is(learnings.count('live', 'workspace:default', afterEnds(10)), 10)
  const asked = { found: 0, listed: 0, undone: 0 }
  const counting: Collection<Learning> = {
    ...learnings,
    find(id: string) {
      asked.found += 1
      return learnings.find(id)
    },
    list(query: PageQuery) {
      const found = learnings.list(query)
      asked.listed += found.length
      return found
    },
  }
  const health: any = {
    get undone() {
      return asked.undone
    },
  }
  const live = createLive({ learnings: counting, health, clock: { now: () => 10 }, skip: () => t.fail() })
  t.is(live.of([workspace]).length, 10)
  t.deepEqual(asked, { found: 0, listed: 10, undone: 0 })
  t.is(live.of([workspace]).length, 10)
  t.deepEqual(asked, { found: 0, listed: 10, undone: 0 })
  const changed = learning(900, { content: 'Changed' })
  await lent.commit((tx) => tx.put(learnings, changed))
  live.changed(changed)
  t.true(live.of([workspace]).some(({ content }) => content === 'Changed'))
  t.deepEqual(asked, { found: 1, listed: 10, undone: 0 })
  asked.undone = 1
  t.is(live.of([workspace]).length, 10)
  t.deepEqual(asked, { found: 1, listed: 20, undone: 1 })
  for (let n = 0; n < 6_000; n += 1) live.changed(learning(n))
  t.is(live.of([workspace]).length, 10)
  t.deepEqual(asked, { found: 1, listed: 30, undone: 1 }, 'after many changes the scope is read anew')
  t.is((await daemon.request('GET', '/readyz')).status, 200)
})

test('learnings-25: what is kept of scopes is bounded, the oldest goes first', async (t) => {
  const { lent } = await watched(t)
  const { learnings } = lent.learnings()
  const scopes = Array.from({ length: 5 }, (_, n) => ({ kind: 'session', id: `big${n}` }) as const)
  await lent.commit((tx) => {
    scopes.forEach((scope, at) => {
      for (let n = 0; n < 5_000; n += 1) tx.put(learnings, learning(at * 5_000 + n, { scope }))
    })
  })
  let listed = 0
  const counting: Collection<Learning> = {
    ...learnings,
    list(query: PageQuery) {
      const found = learnings.list(query)
      listed += found.length
      return found
    },
  }
  const live = createLive({
    learnings: counting,
    health: { undone: 0 } as any,
    clock: { now: () => 10 },
    skip: () => {},
  })
  const read = (at: number): number => {
    const before = listed
    t.is(live.of(scopes.slice(at, at + 1)).length, 5_000)
    return listed - before
  }
  t.deepEqual([0, 1, 2, 0].map(read), [5_000, 5_000, 5_000, 0])
  t.deepEqual([3, 4, 0, 1].map(read), [5_000, 5_000, 0, 5_000])
})

test('learnings-25: a scope is read ahead in slices, and sees what changes meanwhile', async (t) => {
  const { lent } = await watched(t)
  const { learnings } = lent.learnings()
  await lent.commit((tx) => {
    for (let n = 0; n < 300; n += 1) tx.put(learnings, learning(n))
  })
  const lists: number[] = []
  const counting: Collection<Learning> = {
    ...learnings,
    find: (id) => learnings.find(id),
    list(query: PageQuery) {
      const found = learnings.list(query)
      lists.push(found.length)
      return found
    },
  }
  const live = createLive({ learnings: counting, health: { undone: 0 }, clock: { now: () => 10 }, skip: () => {} })
  const prepared = live.prepare(workspace, new AbortController().signal)
  const revoked = learning(0, { status: 'revoked' })
  await lent.commit((tx) => {
    tx.put(learnings, revoked)
    live.changed(revoked)
  })
  await prepared
  t.deepEqual(lists, [50, 50, 50, 50, 50, 50, 0])
  t.is(live.of([workspace]).length, 299)
  t.is(lists.length, 7, 'it is read once')
  const gone = new AbortController()
  gone.abort()
  await live.prepare(session, gone.signal)
  t.is(live.of([session]).length, 0)
})
