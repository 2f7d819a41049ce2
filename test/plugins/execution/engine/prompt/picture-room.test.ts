/** Bytes of pictures in questions; docs/rules/runs.md. */
import test from 'ava'
import { unsafeCast } from '../../../../../core/base/schema.js'
import { createFiles } from '../../../../../plugins/execution/engine/prompt/files.js'
import {
  createPictureRoom,
  mostPictures,
  newestPictures,
} from '../../../../../plugins/execution/engine/prompt/picture-room.js'
import type { ModelMessage, ModelRequest } from '../../../../../plugins/execution/models/contract.js'

const never = new AbortController().signal
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('runs-50: pictures of further questions wait for room, those who came first go first, and one alone always goes', async (t) => {
  const room = createPictureRoom(100)
  const order: string[] = []
  const take = async (name: string, bytes: number, signal = never): Promise<() => void> => {
    const done = await room.take(bytes, signal)
    order.push(name)
    return done
  }
  const large = await take('larger than all', 500)
  const [second, third, fourth] = [take('second', 60), take('third', 60), take('fourth', 10)]
  await later()
  t.deepEqual(order, ['larger than all'])
  large()
  large()
  await later()
  t.deepEqual(order, ['larger than all', 'second'], 'a smaller one does not overtake')
  ;(await second)()
  ;(await third)()
  ;(await fourth)()
  t.deepEqual(order.slice(2), ['third', 'fourth'])
})

test('runs-50: one that is stopped while it waits holds nothing, and lets the next one in', async (t) => {
  const room = createPictureRoom(100)
  const first = await room.take(90, never)
  const stop = new AbortController()
  const [stopped, next] = [room.take(90, stop.signal), room.take(10, never)]
  stop.abort()
  ;(await stopped)()
  ;(await next)()
  first()
  t.is(typeof (await room.take(100, never)), 'function')
})

const said = (...files: readonly [id: string, bytes: number | undefined][]): ModelMessage =>
  unsafeCast({
    role: 'user',
    content: files.map(([id, byte_length]) => ({
      type: 'text',
      text: '',
      file: { id, media_type: 'image/png', byte_length },
    })),
  })

test('runs-50: the newest pictures are chosen, each counted once, none behind the first that does not fit', (t) => {
  const mebibyte = 1024 * 1024
  const conversation = [
    said(['a', 1], ['b', 9 * mebibyte]),
    said(['c', 6 * mebibyte]),
    said(['d', 5 * mebibyte], ['c', 6 * mebibyte]),
  ]
  t.deepEqual([...newestPictures(conversation).places.keys()], ['c', 'd'])
  t.is(newestPictures(conversation).bytes, 11 * mebibyte)
  t.is(newestPictures([said(['a', undefined])]).bytes, 4 * mebibyte)
  const many = said(...Array.from({ length: 150 }, (_, at): [string, number] => [`p${at}`, 1]))
  t.deepEqual([newestPictures([many]).places.size, newestPictures([many]).places.has('p149')], [mostPictures, true])
})

test('runs-50: a question whose pictures cannot be read for a fault gives its room back', async (t) => {
  const files = createFiles(() => unsafeCast({ open: () => Promise.reject(new TypeError('a fault')) }))
  const request = unsafeCast<ModelRequest>({ messages: [said(['a', 16 * 1024 * 1024])] })
  for (let time = 0; time < 9; time += 1)
    await t.throwsAsync(files.show(request, { images: true, signal: never }), { message: 'a fault' })
})
