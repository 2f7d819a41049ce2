/** Assets through many kills, in the middle of uploads, deletions and collections. */
import test from 'ava'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { partOf } from '../../../support/volume.js'

const kills = partOf(12, 300)
const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** What was acknowledged, and what was asked and never answered. */
interface Known {
  readonly kept: Map<string, string>
  readonly unsure: Map<string, string>
  readonly deleted: Set<string>
  serial: number
  /** Uploads that were answered. */
  stored: number
}

const contentOf = (serial: number): Buffer => Buffer.from(`content ${serial} `.repeat(1 + ((serial * 7919) % 20_000)))

const post = async (daemon: SpawnedDaemon, content: Uint8Array): Promise<string> => {
  const url = `${daemon.url}/v1/assets/raw?file_name=a.txt&media_type=text/plain`
  const answer: any = await (await fetch(url, { method: 'POST', body: content })).json()
  return answer.asset_id
}

/** Works until the daemon is gone; nothing that is not answered is known. */
const worker = async (daemon: SpawnedDaemon, known: Known, at: number): Promise<void> => {
  for (let round = at; ; round += 1) {
    const [oldest] = known.kept
    if (round % 5 === 4 && oldest !== undefined) {
      const [asset_id, digest] = oldest
      known.kept.delete(asset_id)
      known.unsure.set(asset_id, digest)
      const answer = await fetch(`${daemon.url}/v1/assets/${asset_id}`, { method: 'DELETE' })
      if (answer.status !== 200) throw new TypeError(`a deletion was answered with ${answer.status}`)
      known.unsure.delete(asset_id)
      known.deleted.add(asset_id)
    } else {
      known.serial += 1
      const content = contentOf(known.serial)
      known.kept.set(await post(daemon, content), sha256(content))
      known.stored += 1
    }
  }
}

const bytesOf = async (daemon: SpawnedDaemon, asset_id: string): Promise<string | number> => {
  const answer = await fetch(`${daemon.url}/v1/assets/${asset_id}/raw`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  return answer.status === 200 ? sha256(bytes) : answer.status
}

/** A few of the many: all of them at the end. */
const sample = <T>(all: Iterable<T>, most: number): T[] => [...all].slice(-most)

test.serial(
  `assets-5, assets-9: what was acknowledged is there and what was deleted is not, through ${kills} kills`,
  async (t) => {
    const root = await freshRoot()
    t.teardown(() => rm(root, { recursive: true, force: true }))
    const known: Known = { kept: new Map(), unsure: new Map(), deleted: new Set(), serial: 0, stored: 0 }
    let daemon = await spawnDaemon({ root })
    const check = async (most: number): Promise<void> => {
      for (const [asset_id, digest] of sample(known.kept, most)) t.is(await bytesOf(daemon, asset_id), digest, asset_id)
      for (const asset_id of sample(known.deleted, most)) t.is(await bytesOf(daemon, asset_id), 404, asset_id)
      for (const [asset_id, digest] of sample(known.unsure, most))
        t.true([digest, 404].includes(await bytesOf(daemon, asset_id)), asset_id)
    }
    for (let kill = 0; kill < kills; kill += 1) {
      const collecting = async (): Promise<void> => {
        // A dry run looks at everything and takes nothing: what is kept here nothing needs.
        for (;;) await (await fetch(`${daemon.url}/v1/assets/gc`, { method: 'POST' })).arrayBuffer()
      }
      const work = [0, 1, 2, 3].map((at) => worker(daemon, known, at + kill))
      const all = Promise.allSettled([...work, collecting()])
      const [stored, deleted] = [known.stored, known.deleted.size]
      // On a busy machine nothing is answered for a while, and a kill before that would prove nothing.
      const isEnough = (): boolean => known.stored > stored && (kill % 5 > 0 || known.deleted.size > deleted)
      while (!isEnough()) await new Promise((resolve) => setTimeout(resolve, 5))
      await new Promise((resolve) => setTimeout(resolve, (kill * 37) % 180))
      await (kill % 10 === 0 ? daemon.kill('SIGKILL') : daemon.die())
      for (const ended of await all) t.false(String(Reflect.get(ended, 'reason')).includes('answered with'))
      daemon = await spawnDaemon({ root })
      await check(5)
    }
    await check(Infinity)
    t.true(
      known.kept.size > 0 && known.deleted.size >= kills / 5 && known.stored >= kills,
      `${known.kept.size} kept, ${known.deleted.size} deleted`,
    )
    const answer = await fetch(`${daemon.url}/v1/assets/gc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"dry_run":false}',
    })
    const report: any = await answer.json()
    t.is(report.deleted_count, report.candidate_count)
    const area = path.join(root, 'blobs/assets')
    const left = existsSync(area)
      ? readdirSync(area, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
      : []
    t.deepEqual(left, [], 'nothing is left of what nothing names')
    await daemon.stop()
  },
)
