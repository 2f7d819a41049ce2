/** The registry with the kinds that are shipped. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { blocksFor } from '../../../support/docs.js'
import { eventually } from '../../../support/mcp.js'
import { openSession } from '../../../support/runs.js'

test('connectors-11, connectors-15, connectors-20: the file that the page shows is right, and replies wait for a connector that lacks its secret', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'config'), { recursive: true })
  await writeFile(
    join(root, 'config', 'connectors.toml'),
    blocksFor('docs/connectors.md', 'connectors-file').join('\n'),
  )
  const daemon = await startTestDaemon(t, { root })
  const { request } = daemon
  const states = async () =>
    (await request('GET', '/v1/runtime/connectors')).body.map(
      ({ kind, name, health }: any) => `${kind}/${name} ${health.state}`,
    )
  t.deepEqual(await states(), [
    'external/chat degraded',
    'http/orders degraded',
    'slack/work degraded',
    'telegram/bot degraded',
  ])
  const { warnings } = (await request('GET', '/v1/status')).body.health
  t.deepEqual(
    warnings.filter(({ code }: any) => code === 'config_entry_invalid'),
    [],
  )
  await openSession(daemon)
  const reply_targets = [
    { type: 'telegram', connector: 'bot', chat_id: 1 },
    { type: 'slack', connector: 'work', channel_id: 'C1' },
    { type: 'external', connector: 'chat', route: 'r' },
  ]
  const asked = await request('POST', '/v1/sessions/s1/runs', { content: 'Hello', reply_targets })
  t.is(asked.status, 202, JSON.stringify(asked.body))
  const codes = await eventually(async () => {
    const { body } = await request('GET', '/v1/deliveries')
    const all = body.map(({ status, last_error }: any) => `${status} ${last_error}`).toSorted()
    return all.length === 3 && all.every((one: string) => one.startsWith('retrying')) ? all : undefined
  })
  t.deepEqual(codes, [
    'retrying connector_missing',
    'retrying connector_not_in_force',
    'retrying telegram_connector_not_in_force',
  ])
  await request('POST', '/v1/runtime/secrets', {
    slot_id: 'connectors.http.orders.bearer_token',
    state: { value: 'canary-of-orders' },
  })
  t.is((await states())[1], 'http/orders ok')
})
