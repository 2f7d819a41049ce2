import test from 'ava'
import fc from 'fast-check'
import { createEventReader } from '../../../../plugins/providers/streamed/event-stream.js'
import { isLinear } from '../../../support/linear.js'

const most = 1_000_000

const read = (...pieces: readonly Buffer[]): string[] => {
  const events: string[] = []
  const feed = createEventReader(
    { take: (data) => void events.push(data), overflow: () => void events.push('too large') },
    most,
  )
  for (const piece of pieces) feed(piece)
  return events
}

const shapes: [string, string, string[]][] = [
  ['line feeds', 'data: a\n\ndata: b\n\n', ['a', 'b']],
  ['carriage returns and line feeds', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
  ['carriage returns alone', 'data: a\r\rdata: b\r\r', ['a', 'b']],
  ['all kinds of line ends', 'data: a\r\n\ndata: b\r\n\rdata: c\n\r\n', ['a', 'b', 'c']],
  ['a byte order mark', '\u{feff}data: a\n\n', ['a']],
  ['comments, names, ids and waits', ': hello\n\nevent: message\nid: 1\nretry: 5\ndata: a\n\n', ['a']],
  ['no blank behind the colon', 'data:a\n\n', ['a']],
  ['data of several lines', 'data: a\ndata: b\n\n', ['a\nb']],
  ['signs of several bytes', 'data: ü€😀\n\n', ['ü€😀']],
  ['an event without its end', 'data: a\n\ndata: b\n', ['a']],
  ['fields that nobody knows', 'error: x\nfoo\n\ndata: a\n\n', ['a']],
]
for (const [name, text, expected] of shapes) {
  test(`events are read whole, wherever their bytes are cut: ${name}`, (t) => {
    const bytes = Buffer.from(text)
    t.deepEqual(read(bytes), expected)
    t.deepEqual(read(...[...bytes].map((byte) => Buffer.from([byte]))), expected)
    for (let at = 1; at < bytes.length; at += 1)
      t.deepEqual(read(bytes.subarray(0, at), bytes.subarray(at)), expected, `cut at ${at}`)
  })
}

test('however a stream is cut, the same events come', (t) => {
  const line = fc.constantFrom('data: a', 'data:é€', ': c', '', 'event: x', 'data', '\u{feff}data: b')
  const end = fc.constantFrom('\n', '\r\n', '\r')
  const text = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (whole, cuts) => {
      const bytes = Buffer.from(whole)
      const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].toSorted((a, b) => a - b)
      const pieces = places.slice(1).map((place, n) => bytes.subarray(places[n], place))
      t.deepEqual(read(...pieces), read(bytes))
    }),
  )
})

test('one carriage return among very many lines does not make each line cost the rest of them', (t) => {
  t.true(isLinear((size) => void read(Buffer.from(`${'\n'.repeat(size)}\r`)), 400_000))
})

test('models-27: of an event that does not end so much is kept and no more, and nothing behind it is read', (t) => {
  const piece = Buffer.from('x'.repeat(60_000))
  const pieces = Array.from({ length: 20 }, () => piece)
  t.deepEqual(read(Buffer.from('data: a\n\ndata: '), ...pieces, Buffer.from('\n\ndata: b\n\n')), ['a', 'too large'])
})
