import test from 'ava'
import { createPiece, fixed, giveBack } from '../../../../core/http/server/piece.js'

test('a piece grows with what is put into it, and is given back whole', (t) => {
  const piece = createPiece(1_000_000)
  piece?.set(Buffer.from('abc'), 0)
  piece?.set(Buffer.alloc(600_000, 'x'), 3)
  const bytes = piece?.first(600_003) ?? Buffer.from('')
  t.is(bytes.length, 600_003)
  t.is(Buffer.from(bytes.subarray(0, 5)).toString(), 'abcxx')
  const own = fixed(bytes)
  t.deepEqual([own.length, own.buffer.byteLength, bytes.length], [600_003, 600_003, 0])
  giveBack(own)
  t.is(fixed(own), own, 'memory of the usual kind stays as it is')
  t.is(own.length, 600_003)
})

test('a piece is no longer than was told', (t) => {
  const piece = createPiece(10)
  t.throws(() => piece?.set(Buffer.alloc(11), 0))
  t.is(createPiece(Number.MAX_SAFE_INTEGER), undefined, 'more than the system has')
})
