/** How much of very many observations ends at a time; docs/rules/observations.md. */
import test from 'ava'
import type { PageQuery } from '../../../../core/plugin.js'
import { declareStore } from '../../../../plugins/capture/observations/record/store.js'
import { createRetention } from '../../../../plugins/capture/observations/retention/retention.js'
import { makeDueObservations } from '../../../support/due-observations.js'
import { freshRoot } from '../../../support/folders.js'
import { clock, silent, takeRoot } from '../../../support/taken-root.js'

const count = 320
/** What one commit may end, and how often it may look for what is next, however many it ends. */
const mostAtOnce = 16
const mostLooks = 5

test('observations-23: few end in one commit, and none of them is looked for by itself', async (t) => {
  const root = await freshRoot()
  await makeDueObservations(root, { count, received_at_ms: clock.now() - 1_000_000 })
  const taken = await takeRoot(root)
  const store = declareStore(taken.state, () => {})
  await taken.load()
  const { observations, state } = store
  let looks = 0
  const list = observations.list.bind(observations)
  const counted = Reflect.set(observations, 'list', (query: PageQuery) => {
    looks += 1
    return list(query)
  })
  t.true(counted)
  const ended: number[] = []
  const commit: typeof state.commit = async (body) => {
    const before = observations.count('source', 'purged door')
    const value = await state.commit(body)
    ended.push(observations.count('source', 'purged door') - before)
    t.true(looks <= mostLooks, `${looks} looks`)
    looks = 0
    return value
  }
  const retention = createRetention({
    store: { ...store, state: { ...state, commit } },
    clock,
    log: silent,
    filesLeave: () => {},
  })
  await retention.settle('door')
  t.is(observations.count('source', 'purged door'), count)
  t.true(ended.length >= count / mostAtOnce && ended.every((many) => many <= mostAtOnce), String(ended))
  t.is(observations.count('leaving', 'leaving'), count)
  await taken.end()
})
