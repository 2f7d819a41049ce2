import test from 'ava'
import { givenTwice, readJson } from '../../../../core/http/server/json-text.js'

const read = (text: string) => readJson(Buffer.from(text, 'utf8'))
const refused = (path: string, rule: string) => ({ ok: false, error: { path, rule } })

test('http-20: 64 levels are read, and one more is refused, whether of arrays or of objects', (t) => {
  const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  t.true(read(arrays(64)).ok)
  t.like(read(arrays(65)), { ok: false, error: { rule: 'must be nested at most 64 levels deep' } })
  const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
  t.true(read(objects(64)).ok)
  t.like(read(objects(65)), { ok: false, error: { rule: 'must be nested at most 64 levels deep' } })
  t.true(read(`[${Array.from({ length: 100 }, () => '[]').join(',')}]`).ok, 'depth is not a count')
})

test('http-20: a hundred thousand values are read, and more are refused', (t) => {
  const list = (commas: number): string => `[1${',1'.repeat(commas)}]`
  t.true(read(list(100_000)).ok)
  t.deepEqual(read(list(100_001)), refused('body', 'must have at most 100000 values'))
})

test('http-20: ten thousand fields of an object are read, and more are refused', (t) => {
  const fields = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"f${n}":0`).join()}}`
  t.true(read(`[${fields(10_000)},${fields(10_000)}]`).ok)
  t.deepEqual(read(`{"a":${fields(10_001)}}`), refused('body.a.f10000', 'is one of more than 10000 fields'))
})

test('http-20: a number that a double would change is refused where it stands', (t) => {
  const rule = 'must be a number that a double can hold'
  for (const number of ['9007199254740991', '-9007199254740991', '0.1', '1e308', '0e5', '-0.0', '5e-324'])
    t.true(read(`{"n":${number}}`).ok, number)
  for (const number of ['1e309', '1e-400']) t.deepEqual(read(`{"a":[0,${number}]}`), refused('body.a.1', rule), number)
  const whole = 'must be from -9007199254740991 to 9007199254740991, as a whole number'
  for (const number of ['9007199254740992', '-9007199254740993', '123456789012345678901234567890'])
    t.deepEqual(read(`{"a":[0,${number}]}`), refused('body.a.1', whole), number)
})

test('http-20: a key twice in one object is refused, also when it is written differently', (t) => {
  t.deepEqual(read('{"a":{"b":1,"b":2}}'), refused('body.a.b', 'is given twice'))
  t.deepEqual(read('{"b":1,"\\u0062":2}'), refused('body.b', 'is given twice'))
  t.is(givenTwice(`{"n":9007199254740993,"s":"\\ud800","list":[0${',0'.repeat(100_001)}],"a":{"b":1,"b":2}}`), 'a.b')
  t.is(givenTwice('{"a":{"b":1},"b":2}'), undefined)
  t.true(read('[{"b":1},{"b":"b"},{"a":{"b":1},"b":1}]').ok)
})

test('http-20: text that is not well-formed Unicode is refused', (t) => {
  t.deepEqual(read('{"a":"\\ud800"}'), refused('body.a', 'must be well-formed Unicode'))
  t.deepEqual(readJson(Buffer.from([0x22, 0xff, 0x22])), refused('body', 'must be UTF-8'))
  t.deepEqual(read('{"a":}'), refused('body', 'must be JSON'))
})
