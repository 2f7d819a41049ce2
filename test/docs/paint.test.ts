/** The example of the guide for settings and lists. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import * as kit from '../../core/plugin.js'
import { assertPassed, checkPlugin } from '../../core/testing/contract.js'
import makePaint from '../../docs/examples/paint/plugin.js'
import { freshRoot, startTestDaemon } from '../support/daemon.js'

test.serial('paint: it keeps what a plugin must keep', async (t) => {
  assertPassed(await checkPlugin(makePaint))
  t.pass()
})

test.serial('paint: pots of a file have the colour that an operator sets', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'pots.toml'), '[pots.a]\nsize = 1\n')
  const { request } = await startTestDaemon(t, { root, plugins: [makePaint(kit)] })
  t.deepEqual((await request('GET', '/v1/pots')).body, { a: 'red' })
  t.like((await request('POST', '/v1/runtime/paint-colour', { colour: 'green' })).body, { paint_colour: 'green' })
  t.deepEqual((await request('GET', '/v1/pots')).body, { a: 'green' })
  t.is((await request('POST', '/v1/runtime/paint-colour', { colour: 'blue' })).status, 400)
  const gold = await request('POST', '/v1/runtime/paint-colour', { colour: 'gold' })
  t.deepEqual([gold.status, gold.body.code], [409, 'paint_without_gold'])
})
