/** A real process, killed again and again while what a channel held is removed. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { read, upload } from '../../../support/boards.js'
import { channel, person, said } from '../../../support/channels.js'
import { spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { rootForKills } from '../../../support/folders.js'
import { createPause } from '../../../support/pause.js'

const preload = pathToFileURL(join(import.meta.dirname, '../../../support/kill-step.js')).href
const messages = 3_000

/** Answers once a channel of this id was made again, also by a life that was killed before it could answer. */
const madeAgain = async ({ request }: SpawnedDaemon): Promise<void> => {
  for (const pause = createPause(); ; await pause()) {
    const { status } = await request('POST', '/v1/channels', { channel_id: 'c', title: 'new' })
    if (status === 201 || (await request('GET', '/v1/channels/c')).status === 200) return
  }
}

test('channels-9: through kills all that a removed channel held goes, and nothing else', async (t) => {
  const root = rootForKills()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const first = await spawnDaemon({ root })
  const asset_id = await upload(first, '{}')
  for (const id of ['c', 'stays']) await channel(first, id, { members: [person('ann')] })
  const body = { sender_actor_id: 'ann', input_items: [{ type: 'asset_reference', asset_id }] }
  const kept = await said(first, 'stays', body)
  for (let n = 0; n < messages; n += 100) await Promise.all(Array.from({ length: 100 }, () => said(first, 'c', body)))
  t.is((await first.request('DELETE', '/v1/channels/c')).status, 200)
  await first.kill('SIGKILL')
  let kills = 1
  for (;;) {
    const env = { NODE_OPTIONS: `--import ${preload}`, KILL_AT: String(60 + kills * 12) }
    const daemon = await spawnDaemon({ root, env }).catch(() => undefined)
    const isDone =
      daemon &&
      (await madeAgain(daemon).then(
        () => true,
        () => false,
      ))
    await daemon?.kill('SIGKILL')
    if (isDone === true) break
    kills += 1
  }
  t.log(`${kills} kills`)
  t.true(kills > 3)
  const last = await spawnDaemon({ root })
  t.deepEqual(await read(last, '/v1/channels/c/messages'), [])
  t.is((await read(last, '/v1/channels/c')).member_count, 0)
  t.deepEqual(await read(last, '/v1/channels/stays/messages'), [kept])
  t.deepEqual(
    (await read(last, `/v1/assets/${asset_id}/references`)).references.map(({ owner_id }: any) => owner_id),
    [kept.message_id],
  )
  await last.kill('SIGKILL')
})
