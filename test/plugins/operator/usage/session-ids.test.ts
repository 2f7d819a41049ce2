/** Sessions are listed without holding others, however many there are. */
import test from 'ava'
import { createCollection } from '../../../../core/state/memory/collection.js'
import { createSessionIds, mostKept } from '../../../../plugins/operator/usage/session-ids.js'
import { shelf } from '../../../support/shelf.js'

const spec: any = {
  name: 'usage_sessions',
  version: 1,
  id: ({ day, session_id }: any) => `${day}:${session_id}`,
  indexes: { all: { group: () => 'all' } },
}

test('usage-3: sessions are read in turns, once, and those that are booked meanwhile and later are among them', async (t) => {
  const sessions: any = createCollection(spec, shelf<any>(spec, new Map()))
  const put = (day: string, session_id: string): void => sessions.put({ day, session_id, routes: [] })
  for (let at = 0; at < 5_000; at += 1) for (const day of ['2026-01-01', '2026-01-02']) put(day, `s${at}`)
  let pages = 0
  const session_ids = createSessionIds({
    sessions: { ...sessions, page: (query: any) => ((pages += 1), sessions.page(query)) },
  })
  session_ids.add('before anybody asked')
  let turns = 0
  const inTurn = async (): Promise<void> => {
    turns += 1
    if (turns === 1) session_ids.add('meanwhile')
  }
  const [one, other] = await Promise.all([session_ids.all(inTurn), session_ids.all(inTurn)])
  t.is(new Set(one).size, 5_001)
  t.deepEqual(other, one)
  t.is(turns, 2, 'others had their turn between')
  t.is(pages, 3)
  session_ids.add('later')
  t.true((await session_ids.all(inTurn)).includes('later'))
  t.is(pages, 3, 'nothing is read again')
})

test('usage-3: sessions that are too many to be kept are read for each who asks, and nothing stays of them', async (t) => {
  const sessions: any = createCollection(spec, shelf<any>(spec, new Map()))
  for (let at = 0; at <= mostKept; at += 1) sessions.put({ day: '2026-01-01', session_id: `s${at}`, routes: [] })
  let pages = 0
  const session_ids = createSessionIds({
    sessions: { ...sessions, page: (query: any) => ((pages += 1), sessions.page(query)) },
  })
  const inTurn = (): Promise<void> => Promise.resolve()
  t.is((await session_ids.all(inTurn)).length, mostKept + 1)
  const read = pages
  session_ids.add('of nobody')
  const again = await session_ids.all(inTurn)
  t.is(again.length, mostKept + 1)
  t.is(pages, read * 2)
})
