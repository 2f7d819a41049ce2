import test from 'ava'
import { filteredSource, holdsText, searchText } from '../../../../core/http/routes/filtered.js'
import { arraySource } from '../../../../core/http/routes/pages.js'

const names = Array.from(
  { length: 120 },
  (_, n) => `${String(n).padStart(3, '0')} ${n % 7 === 0 ? 'Cafe\u0301' : 'Tea'}`,
)
const asIs = (name: string): string => name

test('http-49: a text is found whatever its case and however its letters are put together', (t) => {
  for (const [query, field] of [
    ['caf\u00e9', 'The CAFE\u0301'],
    ['CAFE\u0301', 'the caf\u00e9'],
    [' \u0130zmir ', 'izmir'],
    ['stra\u00dfe', 'Stra\u00dfe'],
    ['', 'anything'],
  ] as const)
    t.true(holdsText(searchText(query), [undefined, field]), `${query} in ${field}`)
  t.false(holdsText(searchText('tea'), [undefined, 'Cafe\u0301']))
  t.is(searchText(' \n'), '')
  t.is(searchText(undefined), '')
})

test('http-14, http-49: what was found in a list longer than a slice has its order, and others are served meanwhile', async (t) => {
  const text = searchText('CAF\u00c9')
  let turns = 0
  const count = (): void => {
    turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const found = await filteredSource(arraySource(names, asIs), (name) => holdsText(text, [name]))
  clearImmediate(next)
  t.is(found.count(), 18)
  t.true(turns >= 2, `${turns} turns`)
  const [first = '', second = ''] = found.list({ limit: 2, order: 'asc' })
  t.deepEqual([first.slice(0, 3), second.slice(0, 3)], ['000', '007'])
  t.deepEqual(
    found.list({ limit: 1, order: 'asc', beyond: second }).map((name) => name.slice(0, 3)),
    ['014'],
  )
})
