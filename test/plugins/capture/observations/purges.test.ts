/** How much of very many observations ends at a time; docs/rules/observations.md. */
import { setImmediate } from 'node:timers/promises'
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
  let [looks, fromTheFirst] = [0, 0]
  const list = observations.list.bind(observations)
  const counted = Reflect.set(observations, 'list', (query: PageQuery) => {
    looks += 1
    if (query.index === 'received' && query.beyond === undefined) fromTheFirst += 1
    return list(query)
  })
  t.true(counted)
  const ended: number[] = []
  const turns: number[] = []
  let [turn, going, underWay, most] = [0, true, 0, 0]
  const counting = (async () => {
    for (; going; turn += 1) await setImmediate()
  })()
  const commit: typeof state.commit = async (body) => {
    const before = observations.count('source', 'purged door')
    looks = 0
    const done = state.commit(body)
    ended.push(observations.count('source', 'purged door') - before)
    turns.push(turn)
    t.true(looks <= mostLooks, `${looks} looks`)
    underWay += 1
    most = Math.max(most, underWay)
    const value = await done
    // However fast the disk is, others get a turn before it is over.
    for (let n = 0; n < 5; n += 1) await setImmediate()
    underWay -= 1
    return value
  }
  const retention = createRetention({
    store: { ...store, state: { ...state, commit } },
    clock,
    log: silent,
    filesLeave: () => {},
  })
  await retention.settle('door')
  going = false
  await counting
  t.is(observations.count('source', 'purged door'), count)
  t.true(ended.length >= count / mostAtOnce && ended.every((many) => many <= mostAtOnce), String(ended))
  t.true(fromTheFirst <= count / mostAtOnce, `what has ended is walked over ${fromTheFirst} times`)
  t.true(most > 1, 'commits share a sync')
  t.is(new Set(turns).size, turns.length, 'others are served between two of them')
  t.is(observations.count('leaving', 'leaving'), count)
  await taken.end()
})
