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

test('an id is of lower case words, and one that is not is told as it is', (t) => {
  const check = hasMembers<unknown>('a bell', { name: 'id', ring: 'function' })
  const ring = () => {}
  for (const name of ['big', 'run_memory', 'mcp-oauth', 'v2', 'a'.repeat(64)])
    t.is(check({ name, ring }), undefined, name)
  for (const name of ['Bad Name', 'Big', '2nd', '_big', 'big_', 'a__b', 'a-_b', 'a.b', 'bïg', 'big\n', 'a'.repeat(65)])
    t.true(
      check({ name, ring })?.startsWith(`the name ${JSON.stringify(name)} of a bell must be of small letters`),
      name,
    )
  t.is(check({ name: 5 }), 'a bell must have the text name, the function ring')
})

test('runtime-19: a member that may be absent is of its kind where it is there', (t) => {
  const check = hasMembers<unknown>('a bell', { name: 'id', ring: 'function?', rope: 'text?' })
  for (const bell of [{ name: 'a' }, { name: 'a', ring: undefined }, { name: 'a', ring() {}, rope: 'of hemp' }])
    t.is(check(bell), undefined)
  t.is(check({ name: 'a', ring: 7 }), 'a bell must have the function ring or none')
  t.is(
    check({ ring: null, rope: '' }),
    'a bell must have the text name, the function ring or none, the text rope or none',
  )
})
