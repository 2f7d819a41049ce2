/** Where a plugin of others is loaded, nobody can write to what the daemon keeps but through a commit. */
import test from 'ava'
import { rootWith } from '../../../support/broken-plugins.js'
import { spawnDaemon } from '../../../support/daemon.js'

test('runtime-45: a plugin of others that writes to a record is charged, and the record is as it was', async (t) => {
  const daemon = await spawnDaemon({ root: await rootWith('writes-to-records') })
  const { request } = daemon
  await request('POST', '/v1/sessions', { session_id: 's1' })
  const before = (await request('GET', '/v1/sessions/s1')).body
  for (const what of ['given', 'kept']) t.is((await request('POST', `/v1/broken/${what}`)).status, 500, what)
  t.deepEqual((await request('GET', '/v1/sessions/s1')).body, before)
  const { plugins } = (await request('GET', '/v1/status')).body
  t.like(
    plugins.find(({ id }: any) => id === 'writes-to-records'),
    { state: 'degraded', fault_count: 2 },
  )
  await daemon.stop()
})
