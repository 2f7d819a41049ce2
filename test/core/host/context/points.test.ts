/** Contributions that come and go while a plugin lives. */
import test from 'ava'
import { createPoints } from '../../../../core/host/context/points.js'
import { definePoint } from '../../../../core/plugin.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { isLinear } from '../../../support/linear.js'
import { lender } from '../../../support/plugins.js'

interface Word {
  readonly text: string
}
const Words = definePoint<Word>(
  'words@1',
  ({ text }) => text,
  ({ text }) => (text === '' ? 'a word must not be empty' : undefined),
)
const words = (...texts: readonly string[]): Word[] => texts.map((text) => ({ text }))

test('runtime-34: what is contributed at once is there as a whole or not at all, and goes when it is taken back', async (t) => {
  const { plugin, context } = lender({})
  const { daemon } = await startTestDaemon(t, { plugins: [plugin] })
  const ctx = context()
  const view = ctx.view(Words)
  const shown = () => view().map(({ text }) => text)
  const first = ctx.contribute(Words, ...words('a', 'b'))
  const before = view()
  const second = ctx.contribute(Words, ...words('c'))
  t.throws(() => ctx.contribute(Words, ...words('d', 'a')), { message: /already has a, contributed by lender/u })
  t.throws(() => ctx.contribute(Words, ...words('d', 'd')), { message: /already has d/u })
  t.throws(() => ctx.contribute(Words, ...words('d', '')), { message: /must not be empty/u })
  t.deepEqual(shown(), ['a', 'b', 'c'])
  first()
  first()
  t.deepEqual(shown(), ['c'])
  t.deepEqual(
    before.map(({ text }) => text),
    ['a', 'b'],
    'a list that somebody holds stays as it was',
  )
  ctx.contribute(Words, ...words('a'))
  t.deepEqual(shown(), ['c', 'a'], 'a key that was given back is free')
  second()
  await daemon.stop()
  t.deepEqual(shown(), [], 'the end of the plugin takes back what is left')
})

test('runtime-34: where one of several cannot be taken, nobody keeps any of them', (t) => {
  const points = createPoints(() => undefined)
  const kept: string[] = []
  points.each(Words, ({ value }: any) => {
    if (value.text === 'heavy') throw new Error('it is too heavy')
    kept.push(value.text)
    return () => void kept.splice(kept.indexOf(value.text), 1)
  })
  const takeBack = points.contribute('owner', Words, words('a'))
  t.throws(() => points.contribute('owner', Words, words('b', 'heavy')), { message: 'it is too heavy' })
  t.deepEqual([kept, points.view(Words)()], [['a'], words('a')])
  takeBack()
  t.deepEqual([kept, points.view(Words)()], [[], []])
})

test('many contributions of one call cost one look at those that are there', (t) => {
  const size = 100_000
  t.true(
    isLinear((count) => {
      const points = createPoints(() => undefined)
      const texts = Array.from({ length: count }, (_, at) => ({ text: `word ${at}` }))
      points.contribute('owner', Words, texts)()
    }, size),
  )
})
