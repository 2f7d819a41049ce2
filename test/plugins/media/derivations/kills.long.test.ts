/** Derivations through kills at any moment, in real processes. */
import test from 'ava'
import { createHash, randomInt } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { send } from '../../../../core/testing/send.js'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { partOf } from '../../../support/volume.js'

const kills = partOf(9, 40)
const workers = 3

const drawing = (serial: number): string =>
  [
    '0',
    'SECTION',
    '2',
    'ENTITIES',
    '0',
    'LINE',
    '10',
    '0',
    '20',
    '0',
    '11',
    `${serial}`,
    '21',
    '7',
    '0',
    'ENDSEC',
    '0',
    'EOF',
    '',
  ].join('\n')
const document = (serial: number): string => JSON.stringify({ serial, said: `words of ${serial}` })

interface Wish {
  readonly asset_id: string
  readonly profile: string
}
/** What was acknowledged of each wish; undefined for what was asked and never answered. */
type Known = Map<string, string | undefined>

const keyOf = ({ asset_id, profile }: Wish): string => `${profile} ${asset_id}`
const wishOf = (key: string): Wish => {
  const [profile = '', asset_id = ''] = key.split(' ')
  return { profile, asset_id }
}

const call = async (daemon: SpawnedDaemon, method: string, at: string, body?: object): Promise<any> => {
  // A `fetch` whose daemon is killed may stay open for ever.
  const { status, body: value } = await send(daemon.url + at, { method, body, headers: {} })
  if (status < 300) return value
  // A daemon that has just started may be busy with what it finds.
  throw new TypeError(`${status === 503 ? 'busy' : 'answered with'} ${status} ${value.code}`)
}
const derive = async (daemon: SpawnedDaemon, known: Known, wish: Wish): Promise<void> => {
  const key = keyOf(wish)
  known.set(key, known.get(key))
  const { asset_id, profile } = wish
  const view = await call(daemon, 'POST', '/v1/derivations', { profile, subject: { type: 'asset', asset_id } })
  if (view.status !== 'completed') throw new TypeError(`answered with ${view.status}`)
  if ((known.get(key) ?? view.derivation_id) !== view.derivation_id)
    throw new TypeError(`answered with another: ${key}`)
  known.set(key, view.derivation_id)
}

/** Works until the daemon is gone. What the life before left unanswered is asked again. */
const work = async (daemon: SpawnedDaemon, known: Known, next: () => number): Promise<void> => {
  for (;;) {
    const serial = next()
    const isDrawing = serial % 4 === 0
    const { asset_id } = await call(daemon, 'POST', '/v1/assets', {
      file_name: isDrawing ? 'a.dxf' : 'a.json',
      media_type: isDrawing ? 'application/dxf' : 'application/json',
      content_base64: Buffer.from(isDrawing ? drawing(serial) : document(serial)).toString('base64'),
    })
    const profiles = isDrawing ? ['canonical_text', 'visual_preview'] : ['canonical_text']
    await Promise.all(profiles.map((profile) => derive(daemon, known, { asset_id, profile })))
    const unanswered = [...known].find(([, id]) => id === undefined)
    if (unanswered !== undefined && serial % 3 === 0) await derive(daemon, known, wishOf(unanswered[0]))
  }
}

const listed = async (daemon: SpawnedDaemon, at: string): Promise<any[]> => {
  const items: any[] = []
  for (let cursor = ''; ;) {
    const page = await call(
      daemon,
      'GET',
      `${at}?page=true&limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    items.push(...page.items)
    if (page.pagination.next_cursor === undefined) return items
    cursor = page.pagination.next_cursor
  }
}
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

test.serial(`derivations-23: each derivation ends once and keeps its files, through ${kills} kills`, async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const known: Known = new Map()
  let serial = 0
  let daemon = await spawnDaemon({ root })
  for (let kill = 0; kill < kills; kill += 1) {
    const all = Promise.allSettled(
      Array.from({ length: workers }, () =>
        work(daemon, known, () => {
          serial += 1
          return serial
        }),
      ),
    )
    const before = known.size
    // Every third life is killed whenever it comes, the others when they have begun to derive.
    if (kill % 3 > 0) while (known.size === before) await new Promise((resolve) => setTimeout(resolve, 2))
    await new Promise((resolve) => setTimeout(resolve, randomInt(kill % 3 === 0 ? 30 : 250)))
    await daemon.kill('SIGKILL')
    for (const ended of await all)
      t.false(String(Reflect.get(ended, 'reason')).includes('answered with'), String(Reflect.get(ended, 'reason')))
    daemon = await spawnDaemon({ root })
  }
  for (const key of known.keys()) await derive(daemon, known, wishOf(key))
  const records = await listed(daemon, '/v1/derivations')
  const made = new Map(records.map((one) => [keyOf({ ...one.subject, profile: one.profile }), one.derivation_id]))
  t.is(made.size, records.length, 'none was made twice')
  t.deepEqual(
    new Map([...known].toSorted()),
    new Map([...made].toSorted()),
    'what was acknowledged is there, and nothing else',
  )
  t.true(records.every(({ status }) => status === 'completed'))
  await call(daemon, 'POST', '/v1/assets/gc', { dry_run: false })
  const assets = await listed(daemon, '/v1/assets')
  const named = new Set(records.flatMap(({ subject, result_asset_id }) => [subject.asset_id, result_asset_id]))
  t.deepEqual(
    assets.map(({ asset_id }) => asset_id).toSorted(),
    [...named].toSorted(),
    'assets are what derivations have',
  )
  const digests = new Set<string>()
  for (const { asset_id, sha256: told } of assets) {
    const whole = await call(daemon, 'GET', `/v1/assets/${asset_id}`)
    for (const digest of [told, whole.text_sha256, whole.preview_image_sha256])
      if (digest !== undefined) digests.add(digest)
    const answer = await fetch(`${daemon.url}/v1/assets/${asset_id}/raw`)
    t.is(sha256(Buffer.from(await answer.arrayBuffer())), told, asset_id)
  }
  await daemon.stop()
  const area = path.join(root, 'blobs/assets')
  const files = existsSync(area)
    ? readdirSync(area, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    : []
  t.deepEqual(files.map(({ name }) => name).toSorted(), [...digests].toSorted(), 'no file is left behind')
  t.true(records.length > kills / 2, `${records.length} derivations`)
  t.log(`${records.length} derivations of ${serial} files through ${kills} kills`)
})
