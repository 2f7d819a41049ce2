import test from 'ava'
import { addressOf, createReplyRoutes, refusedAddress } from '../../../../plugins/connectors/http/reply-route.js'
import { createClock } from '../../../../core/base/clock.js'
import { noSecrets } from '../../../../core/base/text/secrets.js'
import { reservedHeaders } from '../../../support/reserved-headers.js'

const { find: routeOf, target: targetOf } = createReplyRoutes({
  seal: () => undefined,
  secrets: noSecrets,
  clock: createClock(),
})

test('an address is a URL, or a JSON text with headers and reach', (t) => {
  t.deepEqual(routeOf('https://a.example/x'), { url: 'https://a.example/x' })
  t.deepEqual(routeOf('  {"url":"https://a.example/x","headers":{"x-tag":"1"},"allow_private_network":true}'), {
    url: 'https://a.example/x',
    headers: { 'x-tag': '1' },
    allow_private_network: true,
  })
  for (const bad of [
    '{',
    '{}',
    '{"url":1}',
    '{"url":"https://a.example","other":1}',
    '{"url":"https://a.example","headers":{"x":1}}',
  ]) {
    t.is(routeOf(bad), undefined, bad)
    t.is(refusedAddress(bad, {}), 'must be a URL, or a JSON text with url, headers and allow_private_network', bad)
  }
})

test('the requested form never reaches a private network, the stored one may say so', (t) => {
  t.is(addressOf({ type: 'http', url: 'http://127.0.0.1/' }), 'http://127.0.0.1/')
  t.is(
    addressOf({ type: 'http', url: 'https://a.example/', headers: { a: 'b' } }),
    '{"url":"https://a.example/","headers":{"a":"b"}}',
  )
  t.is(addressOf({ type: 'external', connector: 'c', route: 'r' }), undefined)
  t.truthy(refusedAddress('http://127.0.0.1/', {}))
  t.truthy(refusedAddress('{"url":"http://127.0.0.1/","allow_private_network":false}', {}))
  t.is(refusedAddress('{"url":"http://127.0.0.1/","allow_private_network":true}', {}), undefined)
  t.truthy(
    refusedAddress('{"url":"http://u:p@127.0.0.1/","allow_private_network":true}', {}),
    'it lifts the check of addresses and nothing else',
  )
})

const withHeaders = (headers: Record<string, string>): string | undefined =>
  refusedAddress(JSON.stringify({ url: 'https://a.example/', headers }), {})

test("deliveries-25: headers that are ours, the connection's or a credential's are refused in any case", (t) => {
  for (const name of reservedHeaders)
    for (const cased of [name, name.toLowerCase(), name.toUpperCase()])
      t.is(withHeaders({ [cased]: 'x' }), `must not set the header ${name.toLowerCase()}`)
  t.is(withHeaders({ 'X-Tag': 'fine', 'x-forwarder': 'fine', 'x-umlaut': 'ü' }), undefined)
})

test('deliveries-25: __proto__ is the name of no header', (t) => {
  const address = '{"url":"https://a.example/","headers":{"__proto__":"x"}}'
  t.is(refusedAddress(address, {}), 'must not set the header __proto__')
})

test('headers that are not valid in HTTP are refused', (t) => {
  for (const headers of [
    { '': 'x' },
    { 'a b': 'x' },
    { 'a:': 'x' },
    { ü: 'x' },
    { a: 'x\r\nb: c' },
    { a: 'x\0' },
    { a: '€' },
  ])
    t.is(
      withHeaders(headers),
      `must hold headers that are valid in HTTP, and "${Object.keys(headers)[0]}" is not`,
      JSON.stringify(headers),
    )
  t.is(withHeaders({ 'x-a': '1', 'X-A': '2' }), 'must hold each header once')
})

test('deliveries-30: what may be told of an address is scheme, host and port', (t) => {
  t.is(targetOf('https://a.example:444/secret?x=1'), 'http:https://a.example:444')
  t.is(targetOf('{"url":"https://a.example/secret","headers":{"x":"secret"}}'), 'http:https://a.example')
  t.is(targetOf('{'), 'http:invalid')
})
