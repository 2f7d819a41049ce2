/** Capture agents through kills of the daemon in the middle of a provision. */
import test from 'ava'
import { rm } from 'node:fs/promises'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { partOf } from '../../../support/volume.js'

const kills = partOf(6, 10)
const machines = 200

const provision = async (daemon: SpawnedDaemon, batch: string): Promise<any> => {
  const answer = await fetch(`${daemon.url}/v1/capture-agent-provisions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      batch_id: batch,
      daemon_base_url: daemon.url,
      agents: Array.from({ length: machines }, (_, n) => ({ machine_id: `${batch}-${n}` })),
    }),
  })
  return answer.json()
}
const countOf = async (daemon: SpawnedDaemon): Promise<number> =>
  (await daemon.request('GET', '/v1/capture-agents?page=true&limit=1')).body.pagination.total_count

test.serial('capture-1: a batch is there whole or not at all, through kills in its middle', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  let daemon = await spawnDaemon({ root })
  let [before, whole] = [0, 0]
  const began = performance.now()
  await provision(daemon, 'first')
  const usual = performance.now() - began
  before = await countOf(daemon)
  for (let kill = 0; kill < kills; kill += 1) {
    const batch = `batch-${kill}`
    const asked = provision(daemon, batch).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, (usual * (kill % 20)) / 15))
    await daemon.kill('SIGKILL')
    const answer = await asked
    daemon = await spawnDaemon({ root })
    const now = await countOf(daemon)
    t.true(now === before || now === before + machines, `${now} behind ${before}`)
    if (answer !== undefined) t.is(now, before + machines, 'it was answered')
    const isThere = now > before
    const again = await provision(daemon, batch)
    t.is(again.code, isThere ? 'capture_provisioning_batch_conflict' : undefined)
    before += machines
    whole += isThere ? 1 : 0
    const last: any = (await daemon.request('GET', `/v1/capture-agents/${batch}-${machines - 1}`)).body
    t.is((await daemon.request('GET', `/v1/observation-sources/${last.source_ids[0]}`)).status, 200)
  }
  t.log(`${whole} of ${kills} batches were whole when the daemon was killed`)
  await daemon.stop()
})
