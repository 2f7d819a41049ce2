import test from 'ava'
import { spawnMain, spawnTestDaemon } from '../../../support/daemon.js'
import { answering, startReceiver } from '../../../support/receiver.js'
import { openSession, until } from '../../../support/runs.js'

test('the commands list deliveries, show dead letters with the command that sends them again, resolve them, and send them again', async (t) => {
  const receiver = await startReceiver(t)
  receiver.on('/closed', answering(410))
  const daemon = await spawnTestDaemon(t)
  const run = async (...args: string[]): Promise<string> => {
    const started = spawnMain(['deliveries', ...args, '--base-url', daemon.url])
    t.is((await started.exited).code, 0, started.text.err)
    return started.text.out
  }
  t.regex(await run('list'), /There are no deliveries\./u)
  t.regex(await run('dead-letter'), /There are no dead letters\./u)
  await openSession(daemon)
  const reply_targets = ['/closed', '/open'].map((path) => ({ plugin: 'http', address: receiver.address(path) }))
  const { run_id } = (await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hello', reply_targets })).body
  await until(daemon, run_id, 'completed')
  await receiver.until(
    async () => (await daemon.request('GET', '/v1/deliveries?status=dead_lettered')).body.length === 1,
    'a dead letter',
  )
  await receiver.until(
    async () => (await daemon.request('GET', '/v1/deliveries?status=delivered')).body.length === 1,
    'an arrival',
  )
  const [dead] = JSON.parse(await run('dead-letter', '--output', 'json'))
  t.is(
    await run('dead-letter', '--session-id', 's1'),
    `${dead.delivery_id}  dead_lettered  ${dead.target}  session s1  run ${run_id}  1 attempt  ` +
      `http_status_410\n  holdfast deliveries replay ${dead.delivery_id}\n`,
  )
  t.regex(
    await run('list', '--status', 'delivered', '--run-id', run_id, '--plugin', 'http', '--limit', '5'),
    new RegExp(`^delivery_\\w+ {2}delivered {2}http:sha256:\\w+ {2}session s1 {2}run ${run_id} {2}1 attempt\n$`, 'u'),
  )
  const [arrived] = (await daemon.request('GET', '/v1/deliveries?status=delivered')).body
  const refused = await daemon.request('POST', `/v1/deliveries/${arrived.delivery_id}/replay`)
  t.deepEqual([refused.status, refused.body.code], [404, 'delivery_not_found'])
  t.regex(refused.body.detail, /^There is no dead letter delivery_/u)
  t.regex(await run('resolve', dead.delivery_id, '--reason', 'given up'), /http_status_410 {2}given up\n$/u)
  t.regex(await run('dead-letter'), /http_status_410 {2}given up\n$/u)
  receiver.on('/closed', answering(200))
  const replayed = await run('replay', dead.delivery_id)
  t.regex(replayed, /^delivery_\w+ {2}pending {2}/u)
  t.is((await run('replay', dead.delivery_id)).split('  ')[0], replayed.split('  ')[0])
  t.not((await run('replay', dead.delivery_id, '--force')).split('  ')[0], replayed.split('  ')[0])
  t.regex(await run('get', dead.delivery_id), /http_status_410 {2}given up\n$/u)
})
