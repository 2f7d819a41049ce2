/** What a session has used is known without reading all its days again. */
import test from 'ava'
import { createCollection } from '../../../../core/state/memory/collection.js'
import { createSessionTotals } from '../../../../plugins/operator/usage/session-totals.js'
import { shelf } from '../../../support/shelf.js'

const spec: any = {
  name: 'usage_sessions',
  version: 1,
  id: ({ day, session_id }: any) => `${day}:${session_id}`,
  indexes: { session: { group: ({ session_id }: any) => session_id } },
}
const used = (day: string, input_tokens: number) => ({
  session_id: 's1',
  day,
  routes: [{ route: 'demo', calls: 1, input_tokens, output_tokens: 1 }],
})

const start = (days: readonly string[]) => {
  const collection: any = createCollection(spec, shelf<any>(spec, new Map()))
  let finds = 0
  const sessions: any = {
    count: (index: string, group: string) => collection.count(index, group),
    page: (query: any) => collection.page(query),
    find: (id: string) => {
      finds += 1
      return collection.find(id)
    },
  }
  const totals = createSessionTotals({ sessions })
  const book = (day: string, input_tokens: number): void => {
    totals.books('s1', day)
    collection.put(used(day, input_tokens))
  }
  for (const day of days) book(day, 1)
  const look = (): readonly [number, number] => {
    finds = 0
    const { input_tokens } = totals.of('s1')
    return [input_tokens, finds]
  }
  return { book, look, totals }
}
const days = Array.from({ length: 200 }, (_, at) => new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10))

test('goals-11: days that are over are added up once, and what is booked today counts at once', (t) => {
  const { book, look, totals } = start(days)
  t.is(totals.of('s2').calls, 0)
  t.is(start(['2026-01-01']).look()[0], 1)
  t.deepEqual(look(), [200, 200])
  t.deepEqual(look(), [200, 1])
  book(days.at(-1) ?? '', 11)
  t.deepEqual(look(), [210, 1])
  book('2027-01-01', 5)
  t.deepEqual(look(), [215, 201], 'a day is over')
  t.deepEqual(look(), [215, 1])
})

test('goals-11: what a clock that went back books on a day that was over counts too', (t) => {
  const { book, look } = start(days)
  t.is(look()[0], 200)
  book(days[3] ?? '', 101)
  t.is(look()[0], 300)
  book('2025-12-31', 7)
  t.is(look()[0], 307)
})
