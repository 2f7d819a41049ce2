import test from 'ava'
import { promoted } from '../../../support/old-heap.js'

test('what a handler is given does not reach the old heap, as it would from behind getters of its own', (t) => {
  const module = new URL('../../../../core/http/server/request-input.js', import.meta.url).href
  const getters = promoted(`const enter = (idempotencyKey, body) => {
    globalThis.input = { idempotencyKey, get body() { return body }, release: () => (body = undefined) }
    return () => {}
  }`)
  const input = promoted(`import { RequestInput } from '${module}'
    const enter = (idempotencyKey, body) => {
      globalThis.input = new RequestInput({ idempotencyKey, body, release: () => {} })
      return () => {}
    }`)
  t.log({ getters, input })
  t.true(input < getters / 4)
})
