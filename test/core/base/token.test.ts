import test from 'ava'
import { hasMembers } from '../../../core/base/token.js'

test('what lacks members is told all of them at once', (t) => {
  const check = hasMembers<unknown>('a bell', { name: 'text', ring: 'function', rope: 'object' })
  t.is(check({ name: 'big', ring: () => {}, rope: {} }), undefined)
  t.is(check({ name: '', rope: null }), 'a bell must have the text name, the function ring, the object rope')
  t.is(check({ name: 'big', ring: () => {} }), 'a bell must have the object rope')
  t.is(check({ name: 'b\ud800', ring: () => {}, rope: {} }), 'a bell must have the text name')
  t.is(check(undefined), 'a bell must be an object')
})
