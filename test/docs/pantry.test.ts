/** The second plugin of the guide, with one of everything. */
import test from 'ava'
import * as kit from '../../core/plugin.js'
import { assertPassed, checkPlugin } from '../../core/testing/contract.js'
import makePantry, { Pantry, Suppliers } from '../../docs/examples/pantry/plugin.js'
import { freshRoot, startTestDaemon } from '../support/daemon.js'

test.serial('pantry: it keeps what a plugin must keep', async (t) => {
  assertPassed(await checkPlugin(makePantry))
  t.pass()
})

// part: test
test.serial('pantry: what was taken is gone, also after a restart', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root, plugins: [makePantry(kit)] })
  await first.request('PUT', '/v1/pantry/flour', { shelf: 'top', amount: 5 })
  const taken = await first.request('POST', '/v1/pantry/flour/take', { amount: 4, by: 'cook' })
  t.deepEqual(taken.body, { name: 'flour', shelf: 'top', amount: 1 })
  const refused = await first.request('POST', '/v1/pantry/flour/take', { amount: 2, by: 'cook' })
  t.deepEqual(
    [refused.status, refused.body.code, refused.body.detail],
    [409, 'pantry_short', 'There are only 1 pieces of flour.'],
  )
  await first.stop()

  const second = await startTestDaemon(t, { root, plugins: [makePantry(kit)] })
  t.deepEqual((await second.request('GET', '/v1/pantry')).body, [{ name: 'flour', shelf: 'top', amount: 1 }])
  t.deepEqual((await second.request('GET', '/v1/pantry/flour/movements')).body, [{ change: -4, by: 'cook' }])
})
// end

test.serial('pantry: its service, its point, its event, its section and its warnings reach others', async (t) => {
  let found: unknown
  const events: string[] = []
  const neighbour = kit.definePlugin({
    id: 'neighbour',
    version: '1.0.0',
    api: 1,
    summary: 'Needs the pantry and delivers to it.',
    needs: { pantry: Pantry },
    register: (ctx, { pantry: service }) => {
      ctx.contribute(Suppliers, { name: 'mill', order: (item) => (item === 'flour' ? 10 : 0) })
      ctx.onStart(() => {
        found = service.find('flour')
      })
      ctx.events.on(
        kit.defineEvent<{ item: { amount: number } }>({
          name: 'pantry_changed',
          summary: 'As the pantry says.',
          data: kit.object({ item: kit.open({ amount: kit.integer() }) }),
        }),
        ({ item }) => {
          events.push(String(item.amount))
        },
      )
    },
  })
  const daemon = await startTestDaemon(t, {
    plugins: [makePantry(kit), neighbour],
    config: { pantry: { low: 3, look_every_ms: 1000 } },
  })
  t.is(found, undefined)
  for (const [name, amount] of [
    ['flour', 2],
    ['salt', 1],
  ])
    await daemon.request('PUT', `/v1/pantry/${name}`, { shelf: 'top', amount })
  const warned = (await daemon.request('GET', '/v1/status')).body
  t.deepEqual(warned.pantry, { items: 2, low: 2 })
  t.true(
    warned.health.warnings.some(
      ({ code, related_id }: { code: string; related_id: string }) =>
        code === 'pantry_item_low' && related_id === 'salt',
    ),
  )
  for (let look = 0; look < 100 && events.length === 0; look += 1)
    await new Promise((passed) => {
      setTimeout(passed, 50)
    })
  t.deepEqual(events, ['12'], 'the mill delivers flour, nobody delivers salt')
  t.is((await daemon.request('POST', '/v1/pantry/sugar/take', { by: 'cook' })).body.code, 'item_not_found')
})

test.serial('pantry: a value that it does not understand keeps it from starting, and is named', async (t) => {
  const { daemon } = await startTestDaemon(t, {
    plugins: [makePantry(kit)],
    config: { pantry: { low: -1 } },
    flags: { safe: 'true' },
  })
  const report = daemon.view.plugins().find(({ id }) => id === 'pantry')
  t.is(report?.state, 'failed')
  t.regex(report?.reason ?? '', /low must be at least 0/u)
})
