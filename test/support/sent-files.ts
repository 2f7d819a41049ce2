/** Outputs with files, and what befalls them while they are made: kills, deletions. */
import type { ExecutionContext } from 'ava'
import { rmSync } from 'node:fs'
import { createClock } from '../../core/base/clock.js'
import { spawnTestDaemon, startTestDaemon, type Reachable } from './daemon.js'
import { rootForKills } from './folders.js'
import { startReceiver } from './receiver.js'
import { openSession, submit, until } from './runs.js'

const clock = createClock()

/** Stores a text and returns the id of its asset. */
export const storeNotes = async ({ request }: Pick<Reachable, 'request'>, text: string): Promise<string> => {
  const content_base64 = Buffer.from(text).toString('base64')
  const body = { file_name: 'notes.md', media_type: 'text/markdown', content_base64 }
  return (await request('POST', '/v1/assets', body)).body.asset_id
}
export interface Sending {
  readonly input: object
  readonly address: string
}
/** Submits a run that sends something out and then ends. */
export const sendFiles = async (
  { request }: Pick<Reachable, 'request'>,
  { input, address }: Sending,
): Promise<string> => {
  const content = `/tool emit_output ${JSON.stringify(input)}\n---\n/say done`
  const reply_targets = [{ plugin: 'http', address }]
  return (await request('POST', '/v1/sessions/s1/runs', { content, reply_targets })).body.run_id
}
/** The deliveries that name an asset. */
export const deliveriesNaming = async ({ request }: Pick<Reachable, 'request'>, asset_id: string): Promise<any[]> =>
  (await request('GET', `/v1/assets/${asset_id}/references`)).body.references.filter(
    ({ domain }: any) => domain === 'deliveries',
  )
/** Kills a daemon again and again in the middle of an output with a file, and checks what came of each. */
export const killInOutputs = async (t: ExecutionContext<any>, kills: number): Promise<void> => {
  const receiver = await startReceiver(t)
  const root = rootForKills()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const env = { SERVICE_DELIVERY_INITIAL_RETRY_MS: '5' }
  const address = receiver.address('/in')
  const files = new Map<string, string>()
  let daemon = await spawnTestDaemon(t, { root, env })
  await openSession(daemon)
  for (let kill = 0; kill < kills; kill += 1) {
    const id = await storeNotes(daemon, `# ${kill}`)
    files.set(await sendFiles(daemon, { input: { content: `no ${kill}`, artifact_ids: [id] }, address }), id)
    await clock.sleep((kill * 13) % 48)
    await daemon.kill('SIGKILL')
    daemon = await spawnTestDaemon(t, { root, env })
  }
  for (const run_id of files.keys()) await until(daemon, run_id, 'completed')
  await receiver.until(
    async () => (await daemon.request('GET', '/v1/deliveries?status=delivered')).body.length === files.size * 2,
    'all deliveries',
  )
  t.is((await daemon.request('POST', '/v1/assets/gc', { dry_run: false })).body.deleted_count, 0)
  for (const [run_id, id] of files) {
    const [output, ...more] = (await daemon.request('GET', `/v1/runs/${run_id}`)).body.outputs
    t.is(more.length, 1)
    t.is(output.artifacts[0].id, id)
    t.is((await fetch(`${daemon.url}/v1/assets/${id}/raw`)).status, 200)
    const keys = receiver.received.filter(({ body }) => body.artifacts[0]?.id === id).map(({ key }) => key)
    t.is(new Set(keys).size, 1, 'a repetition has the same key')
    t.deepEqual(
      (await deliveriesNaming(daemon, id)).map(({ detail_id }) => detail_id),
      ['delivered'],
    )
  }
}

/** Twenty deletions a round, each at another moment of the output that names its file. */
export const deleteInOutputs = async (t: ExecutionContext<any>, rounds: number): Promise<void> => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const tally = { sent: 0, refused: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const ids = await Promise.all(Array.from({ length: 20 }, (_, at) => storeNotes(daemon, `# ${round} ${at}`)))
    const said = ids.map((id) => `/tool emit_output {"artifact_ids":["${id}"]}`).join('\n---\n')
    const run = submit(daemon, 's1', `${said}\n---\n/say done`)
    const deletions = ids.map(async (id, at) => {
      for (let waited = 0; waited < (at * 7 + round) % 40; waited += 1) await new Promise(setImmediate)
      return (await daemon.request('DELETE', `/v1/assets/${id}`)).status
    })
    const statuses = await Promise.all(deletions)
    const { outputs } = await until(daemon, (await run).run_id, 'completed')
    const out = new Set(outputs.flatMap(({ artifacts = [] }: any) => artifacts.map(({ id }: any) => id)))
    for (const [at, id] of ids.entries()) {
      t.is(statuses[at], out.has(id) ? 409 : 200, id)
      t.is((await daemon.request('GET', `/v1/assets/${id}`)).status, out.has(id) ? 200 : 404)
      tally[out.has(id) ? 'sent' : 'refused'] += 1
    }
  }
  t.is(tally.sent + tally.refused, rounds * 20)
  t.log(tally)
}
