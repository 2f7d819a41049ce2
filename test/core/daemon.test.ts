import test from 'ava'
import { spawnTestDaemon, startTestDaemon } from '../support/daemon.js'

test('a daemon starts on an empty root, answers, and stops without leaving anything behind', async (t) => {
  const { request, daemon, root, log } = await startTestDaemon(t)
  t.is((await request('GET', '/healthz')).text, 'ok')
  t.is((await request('GET', '/readyz')).text, 'ready')
  t.is((await request('GET', '/v1/nothing')).body.code, 'route_not_found')
  t.is(daemon.view.phase(), 'ready')
  t.is(daemon.root, root)
  t.deepEqual(await daemon.stop(), { reason: 'stopped', clean: true })
  t.true(Object.values(daemon.host.registry.counts()).every((count) => count <= 1), 'only the host service of core is left')
  t.deepEqual(log.filter(({ level }) => level === 'error'), [])
})

test('a spawned daemon says where it is in one line and exits with 0 on SIGTERM', async (t) => {
  const daemon = await spawnTestDaemon(t)
  t.regex(daemon.line, /^Holdfast \S+ is ready at http:\/\/127\.0\.0\.1:\d+, state in \S+, logs on standard error/u)
  t.is((await daemon.request('GET', '/readyz')).text, 'ready')
  await daemon.stop()
})
