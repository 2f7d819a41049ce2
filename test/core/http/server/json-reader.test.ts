import test from 'ava'
import { createJsonReader, threadBytes } from '../../../../core/http/server/json-reader.js'
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
      parentPort.postMessage({ id, read: { ok: true, value: id }, hashes: [] })
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
