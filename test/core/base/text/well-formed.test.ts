import test from 'ava'
import { wellFormedJson } from '../../../../core/base/text/well-formed.js'

test('half a surrogate pair becomes U+FFFD wherever it stands, and the rest stays the same value', (t) => {
  const fine = { text: 'a 😀', list: [1, null, true, ['é']] }
  t.is(wellFormedJson(fine), fine)
  t.deepEqual(wellFormedJson({ 'k\ud83d': ['a\ud83d', { b: '\ude00z' }, '😀'], n: 1 }), {
    'k\ufffd': ['a\ufffd', { b: '\ufffdz' }, '😀'],
    n: 1,
  })
})
