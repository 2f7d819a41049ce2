/** Assets in a root of which one bit is wrong: what is read is what was stored, or it is refused. */
import test from 'ava'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { shippedPlugins } from '../../../../core/shipped.js'
import { startInProcess } from '../../../../core/testing/test-daemon.js'
import { createRandom } from '../../../faults/random.js'
import { startTestDaemon, freshRoot } from '../../../support/daemon.js'
import { partOf } from '../../../support/volume.js'

const flips = partOf(25, 200)
const parts = ['raw', 'text', 'preview'] as const

/** What a client sees of all assets, by path; a refusal is its status. */
type Seen = ReadonlyMap<string, string | number>

const look = async (url: string, ids: readonly string[]): Promise<Seen> => {
  const seen = new Map<string, string | number>()
  for (const at of ids.flatMap((id) => ['', ...parts.map((part) => `/${part}`)].map((part) => `${id}${part}`))) {
    const answer = await fetch(`${url}/v1/assets/${at}`)
    // A connection that breaks off is no end of a file.
    const bytes = await answer.arrayBuffer().catch(() => undefined)
    seen.set(at, answer.status !== 200 || bytes === undefined ? answer.status : Buffer.from(bytes).toString('latin1'))
  }
  return seen
}

const drawing = '0\nSECTION\n2\nENTITIES\n0\nLINE\n10\n0\n20\n0\n11\n9\n21\n9\n0\nENDSEC\n0\nEOF\n'
const contents = [
  ['text/plain', 'Some words. '.repeat(200)],
  ['application/json', JSON.stringify({ some: 'words'.repeat(100) })],
  ['application/dxf', drawing],
  ['text/csv', 'a,b\n1,2\n'.repeat(40_000)],
] as const

const filesOf = (root: string): string[] =>
  ['blobs/assets', 'data/assets', 'data/asset_totals', 'log'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => path.join(root, folder, file))
      .filter((file) => statSync(file).isFile() && statSync(file).size > 0),
  )

const copied = (from: string, to: string): void => {
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
  for (const name of ['.', ...readdirSync(to, { recursive: true, encoding: 'utf8' })])
    chmodSync(path.join(to, name), statSync(path.join(to, name)).isFile() ? 0o600 : 0o700)
}

test.serial(
  'assets-5: a wrong bit in bytes or records is refused or mended, and never read as something else',
  async (t) => {
    const root = await freshRoot()
    const first = await startTestDaemon(t, { root })
    const ids: string[] = []
    for (const [media_type, content] of contents) {
      const query = new URLSearchParams({ file_name: 'file', media_type })
      const answer = await fetch(`${first.url}/v1/assets/raw?${query.toString()}`, { method: 'POST', body: content })
      const asset: any = await answer.json()
      ids.push(asset.asset_id)
    }
    const good = await look(first.url, ids)
    t.true([...good.values()].filter((each) => typeof each === 'string').length >= 12)
    await first.stop()
    const [random, wrong] = [createRandom(11), `${await freshRoot()}-wrong`]
    const tally = { same: 0, refused: 0, closed: 0 }
    for (let flip = 0; flip < flips; flip += 1) {
      copied(root, wrong)
      const files = filesOf(wrong)
      const file = files[random.below(files.length)] ?? ''
      const bytes = readFileSync(file)
      const bit = random.below(bytes.length * 8)
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      writeFileSync(file, bytes)
      const name = `bit ${bit} of ${path.relative(wrong, file)}`
      const started = await startInProcess({ root: wrong, plugins: await shippedPlugins() }).catch(() => undefined)
      if (started === undefined) {
        tally.closed += 1
        continue
      }
      const seen = await look(started.daemon.url, ids)
      await started.daemon.stop()
      let refused = 0
      for (const [at, each] of seen) {
        if (each === good.get(at)) continue
        refused += 1
        t.true(typeof each === 'number', `${name}: ${at} is read as something else`)
      }
      if (refused > 0) tally.refused += 1
      else tally.same += 1
    }
    rmSync(wrong, { recursive: true, force: true })
    t.log(`${flips} bits: ${tally.refused} refused, ${tally.same} harmless or mended, ${tally.closed} roots not opened`)
    t.true(tally.refused > flips / 10)
  },
)
