/**
 * A small root of format 1 with one of every file kind, kept as files: a later version must read it, and say so when a
 * bit of it is wrong.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { emptyFolder, filesOf, rootNode, type FolderNode, type Image, type Node } from '../faults/image.js'
import { createLedger } from '../faults/ledger.js'
import { loadEngine, openLife, root } from '../faults/life.js'
import { createRandom } from '../faults/random.js'
import { createSimulatedDisk } from '../faults/simulated-disk.js'
import { sendCommit } from '../faults/workload.js'

const folder = (name: string): string => fileURLToPath(new URL(`../../../test/golden/${name}`, import.meta.url))
/** As it is written today. */
export const goldenFolder = folder('root-1-tables')
/** With one index for each collection, as versions before tables wrote it. */
export const oneIndexFolder = folder('root-1')

/** Everything in it is behind the watermark; the last life ended in a kill. */
export const makeGoldenRoot = async (): Promise<Image> => {
  const engine = await loadEngine()
  const ledger = createLedger()
  const random = createRandom(1)
  const first = createSimulatedDisk({ root, paced: true })
  const life = await openLife({ engine, disk: first, random })
  const blob = await life.blobs.put(Buffer.from('golden bytes'))
  await sendCommit(life, ledger, [
    { do: 'insert', item: { id: 'i1', owner: 'ann', n: 1, done: true, text: 'gold', blob } },
    { do: 'append', owner: 'ann', entry: 'e1' },
  ])
  await sendCommit(life, ledger, [{ do: 'insert', item: { id: 'i2', owner: 'bob', n: 2, done: false, text: 'lead' } }])
  await sendCommit(life, ledger, [{ do: 'remove', id: 'i2' }])
  await life.note.write({ version: 7 })
  await life.opened.close()
  const second = createSimulatedDisk({ root, image: first.image(), paced: true })
  const again = await openLife({ engine, disk: second, random, startedAt: 1_700_000_100_000 })
  await sendCommit(again, ledger, [{ do: 'insert', item: { id: 'i3', owner: 'ann', n: 3, done: false, text: 'tin' } }])
  await sendCommit(again, ledger, [{ do: 'append', owner: 'ann', entry: 'e2' }])
  again.clock.advance(2000)
  for (let turn = 0; turn < 40; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  return second.image()
}

/** Writes it to the folder of the sources: once for each way in which files are written. */
export const writeGoldenRoot = async (): Promise<void> => {
  for (const [path, bytes] of filesOf(await makeGoldenRoot())) {
    const target = join(goldenFolder, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, bytes)
  }
}

/** The image of a folder of files. */
export const imageOf = (folder: string): Image => {
  const nodes = new Map<number, Node>([[rootNode, emptyFolder]])
  const fill = (at: number, path: string): void => {
    const names = new Map<string, number>()
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const child = nodes.size + 1
      const bytes = entry.isDirectory() ? undefined : new Uint8Array(readFileSync(join(path, entry.name)))
      nodes.set(child, bytes === undefined ? emptyFolder : { kind: 'file', data: bytes, safe: bytes, pending: [] })
      names.set(entry.name, child)
      if (bytes === undefined) fill(child, join(path, entry.name))
    }
    const node: FolderNode = { kind: 'folder', names, safe: names, pending: [] }
    nodes.set(at, node)
  }
  fill(rootNode, folder)
  return nodes
}
