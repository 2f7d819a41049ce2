import test from 'ava'
import fc from 'fast-check'
import { createClock } from '../../../../../core/base/clock.js'
import { byScore, type Document } from '../../../../../plugins/execution/memory/search/documents.js'
import { readQuery, scoreOf, type Query, type Texts } from '../../../../../plugins/execution/memory/search/score.js'
import { createSearchIndex } from '../../../../../plugins/execution/memory/search/search-index.js'
import { fold, termsOf } from '../../../../../plugins/execution/memory/search/terms.js'

const asked = (text: string): Query => readQuery(text) ?? { phrase: '', terms: [] }

test('memory-13: terms are letters and digits without case, accents and words that say nothing, in English and French', (t) => {
  t.deepEqual(termsOf('The Café, déjà-vu: what IS it? Réponds exactement 42.'), ['cafe', 'deja', 'vu', '42'])
  t.deepEqual(termsOf('ﬁle_name.txt'), ['file', 'name', 'txt'])
  t.deepEqual(termsOf('please reply exactly now'), [])
})

test('scripts without blanks are taken apart into words, and marks that make another letter stay', (t) => {
  t.deepEqual(termsOf('東京の写真'), ['東京', 'の', '写真'])
  t.true(termsOf('我喜欢北京').length > 1)
  t.not(fold('が'), fold('か'))
})

test('memory-12: a field gives 100 for the whole query and 10 for each of its terms, four times as much in the content', (t) => {
  const texts: Texts = { content: 'The harbour opens at nine.', kind: 'run summary', scope: 'session' }
  const cases: [string, number, string[]][] = [
    ['HARBOUR opens', 4 * (100 + 20), ['content']],
    ['opens harbour', 4 * 20, ['content']],
    ['arbou', 4 * 100, ['content']],
    ['summary', 100 + 10, ['kind']],
    ['session harbour', 4 * 10 + 10, ['content', 'scope']],
    ['lighthouse', 0, []],
    ['the', 400, ['content']],
  ]
  for (const [query, score, matched_fields] of cases)
    t.deepEqual(scoreOf(texts, asked(query)), { score, matched_fields }, query)
  t.is(readQuery('  \n '), undefined)
})

const word = fc.constantFrom(
  'harbour',
  'ship',
  'ships',
  'wh',
  'hat',
  'ar',
  'run',
  'café',
  'cafe',
  '東京',
  '東京タワー',
  'constructor',
  'proto',
  '__proto__',
  'x1',
  'The',
  'what',
  '…',
  'foo_bar',
  'ſ',
)
const textOf = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '))
const documents = fc
  .array(
    fc.record({
      content: textOf,
      kind: fc.constantFrom('fact', 'run summary', 'skill'),
      scope: fc.constantFrom('session', 'workspace'),
    }),
    { maxLength: 30 },
  )
  .map((list) =>
    list.map((texts, at): Document => ({
      key: `d${at % 20}`,
      timestamp_ms: at % 3,
      show: () => {
        throw new Error('not shown')
      },
      ...texts,
    })),
  )

test('the index answers as reading every document does, also when documents change under their keys', async (t) => {
  const index = createSearchIndex({
    ...createClock(),
    sleep: () => new Promise((resolve) => setImmediate(() => resolve(true))),
  })
  await fc.assert(
    fc.asyncProperty(documents, textOf, async (all, text) => {
      const query = readQuery(text)
      if (query === undefined) return
      const each = [...new Map(all.map((document) => [document.key, document])).values()]
      const read = each.map((document) => ({ document, ...scoreOf(document, query) })).filter(({ score }) => score > 0)
      t.deepEqual((await index.rank(each, query)).toSorted(byScore), read.toSorted(byScore), text)
    }),
    { numRuns: 300 },
  )
})

test('memory-12: equal scores have one order: nearer scope, newer, key', (t) => {
  const make = (key: string, scope: string, timestamp_ms: number): Document => ({
    key,
    scope,
    timestamp_ms,
    content: 'ship',
    kind: 'fact',
    show: () => {
      throw new Error('not shown')
    },
  })
  const wanted = [
    make('b', 'session', 1),
    make('a', 'persona', 9),
    make('d', 'workspace', 5),
    make('a', 'workspace', 2),
    make('c', 'workspace', 2),
  ]
  const scored = wanted.map((document) => ({ document, ...scoreOf(document, asked('ship')) }))
  for (const shuffled of [scored.toReversed(), scored.toSorted((a, b) => (a.document.key < b.document.key ? 1 : -1))])
    t.deepEqual(
      shuffled.toSorted(byScore).map(({ document }) => document),
      wanted,
    )
})
