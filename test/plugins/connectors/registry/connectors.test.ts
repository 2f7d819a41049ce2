import test, { type ExecutionContext } from 'ava'
import { Connectors } from '../../../../plugins/connectors/registry/contract.js'
import { kindsPlugin, httpKind, shippedWithoutKinds } from '../../../support/connector-kinds.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'

const base = '/v1/runtime/connectors'

const start = async (t: ExecutionContext, options: object = {}) => {
  const lent = lender({ connectors: Connectors })
  const daemon = await startTestDaemon(t, {
    shipped: await shippedWithoutKinds(),
    plugins: [kindsPlugin(), lent.plugin],
    ...options,
  })
  const put = (at: string, body: object) => daemon.request('PUT', `${base}/${at}`, body)
  const get = (at: string) => daemon.request('GET', `${base}/${at}`)
  return { ...daemon, put, get, connectors: lent.services().connectors }
}

test('connectors-1: a connector is set up, read, listed and taken away', async (t) => {
  const daemon = await start(t)
  const { put, get, request, connectors } = daemon
  const heard: string[] = []
  connectors.onChange(({ kind, name }) => heard.push(`${kind}/${name}`))
  t.deepEqual(codeOf(await get('http/orders')), [404, 'connector_not_found'])
  t.deepEqual(codeOf(await get('smoke/orders')), [404, 'connector_not_found'])
  const made = await put('http/orders', { bearer_token: { value: 'canary-one' } })
  t.is(made.status, 200)
  t.deepEqual(made.body, {
    kind: 'http',
    source: 'daemon',
    name: 'orders',
    allow_unauthenticated_ingress: false,
    ingress_events_per_second: 60,
    bearer_token: { configured: true, source: 'secret', secret_ref: 'connectors.http.orders.bearer_token' },
    hmac_secret: { configured: false },
    health: { state: 'ok' },
  })
  t.is(connectors.find(httpKind, 'orders')?.secret('bearer_token'), 'canary-one')
  t.deepEqual((await get('http/orders')).body, made.body)
  await put('slack/work', {})
  t.deepEqual(
    (await request('GET', base)).body.map(({ kind, name }: any) => `${kind}/${name}`),
    ['http/orders', 'slack/work'],
  )
  t.deepEqual((await request('DELETE', `${base}/http/orders`)).body, { accepted: true })
  t.is(connectors.find(httpKind, 'orders'), undefined)
  t.deepEqual(codeOf(await request('DELETE', `${base}/http/orders`)), [404, 'connector_not_found'])
  t.deepEqual(heard, ['http/orders', 'http/orders', 'slack/work', 'http/orders'])
})
