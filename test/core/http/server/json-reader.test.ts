import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { longTexts } from '../../../../core/base/text/canonical-json.js'
import { createJsonReader, threadBytes } from '../../../../core/http/server/json-reader.js'
import { createPiece } from '../../../../core/http/server/piece.js'
import { readJson } from '../../../../core/http/server/json-text.js'

const filler = 'x'.repeat(threadBytes)
const deep = `${'['.repeat(65)}${']'.repeat(65)}`

test('http-36: a large body is read as a small one is, with the same faults at the same places', async (t) => {
  const reader = createJsonReader()
  const texts = [
    `{"a":[1,2.5,null,true,{"b":"é\\n"}],"f":"${filler}"}`,
    `{"f":"${filler}","a":1,"a":2}`,
    `{"f":"${filler}","n":9007199254740993}`,
    `{"f":"${filler}","s":"\\ud800"}`,
    `{"f":"${filler}","d":${deep}}`,
    `{"f":"${filler}"`,
    `"${filler}"`,
  ]
  for (const text of texts)
    t.deepEqual((await reader.read(Buffer.from(text))).text, readJson(Buffer.from(text)), text.slice(-60))
  const wrong = Buffer.concat([Buffer.from(`{"f":"${filler}`), Buffer.from([0xff]), Buffer.from('"}')])
  t.deepEqual((await reader.read(Buffer.from(wrong))).text, readJson(wrong))
  await reader.close()
})

test('bodies that are read at the same time are not mixed up, and shared memory stays as it is', async (t) => {
  const reader = createJsonReader()
  const shared = Buffer.from(Array.from({ length: 4 }, (_, n) => `{"n":${n},"f":"${filler}"}`).join(''))
  const size = shared.length / 4
  const reads = await Promise.all([0, 1, 2, 3].map((n) => reader.read(shared.subarray(n * size, (n + 1) * size))))
  t.deepEqual(
    reads.map(({ text }) => (text.ok ? Reflect.get(Object(text.value), 'n') : text)),
    [0, 1, 2, 3],
  )
  t.is(shared.length, 4 * size)
  await reader.close()
})

test('http-36: when the thread dies its bodies are refused with a fault, and the next one has another thread', async (t) => {
  const program = `
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ id, bytes }) => {
      if (bytes[1] === 0x78) process.exit()
      if (bytes[1] === 0x79) throw new Error('broken')
      parentPort.postMessage({ id, text: { ok: true, value: id }, longs: [], hashes: [] })
    })`
  const reader = createJsonReader(new URL(`data:text/javascript,${encodeURIComponent(program)}`))
  const body = (sign: string): Buffer => Buffer.from(`"${sign}${filler}"`)
  for (const sign of ['x', 'y']) {
    const [first, second] = [reader.read(body(sign)), reader.read(body('z'))]
    await t.throwsAsync(async () => first, { message: /^the thread that reads bodies/u })
    await Promise.allSettled([second])
    t.deepEqual((await reader.read(body('z'))).text, { ok: true, value: 1 })
  }
  await reader.close()
})

test('http-36: long texts are told as they stand, wherever they are, with the digests of those that have one', async (t) => {
  const reader = createJsonReader()
  const [long, longer] = ['QUJD'.repeat(20_000), 'REVG'.repeat(300_000)]
  const marked = '\u0001long text 0'
  const values = [
    { a: [{ b: long }, long, 'x'], '2': longer, '1': `${longer}\n`, ['__proto__']: long, [long]: 1 },
    { a: long, b: marked, c: longer },
    long,
    [`${long}é`, `${long}"`, longer],
  ]
  for (const value of values) {
    const text = JSON.stringify(value)
    const body = Buffer.from(text.length < threadBytes ? text.replace(/^\s*/u, ' '.repeat(threadBytes)) : text)
    const plainly = readJson(body)
    const read = await reader.read(body)
    t.true(isDeepStrictEqual(read.text, plainly), text.slice(0, 40))
    t.true(isDeepStrictEqual([...read.hashes.keys()], longTexts(value)))
    for (const [each, digest] of read.hashes) t.is(digest, hash('sha256', each))
  }
  const twice = await reader.read(Buffer.from(`{"a":"${longer}","b":{"c":1,"c":"${longer}"}}`))
  t.deepEqual(twice.text, { ok: false, error: { path: 'body.b.c', rule: 'is given twice' } })
  await reader.close()
})

test('http-36: a long body is in memory once while it is read, and nothing of it behind that', async (t) => {
  const reader = createJsonReader()
  const body = Buffer.from(JSON.stringify({ a: 'QUJD'.repeat(3 * 1_048_576) }))
  const piece = createPiece(body.length)
  for (let at = 0; at < body.length; at += 65_536) piece?.set(body.subarray(at, at + 65_536), at)
  const own = piece?.first(body.length) ?? body
  const { text } = await reader.read(own)
  t.deepEqual([text.ok && Reflect.get(Object(text.value), 'a').length, own.length], [12 * 1_048_576, 0])
  await reader.close()
})
