/**
 * Makes the tables of a stopped root again, as a start does where they are lost: `node dist/test/bench/rebuild.js --root
 * FOLDER`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClock } from '../../core/base/clock.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import type { PagesRef } from '../../core/state/format/manifest.js'
import { seal, unseal } from '../../core/state/format/sealed.js'
import { valueOf } from './flags.js'
import { holdKept } from './history/kept.js'

const root = valueOf('--root')
if (root === undefined) {
  process.stderr.write('say where: --root FOLDER\n')
  process.exit(2)
}

type Refs = Readonly<Record<string, PagesRef>>
const withoutTables = (refs: Refs): Refs =>
  Object.fromEntries(Object.entries(refs).map(([name, ref]) => [name, { ...ref, tables: [] }]))

const path = join(root, 'manifest.json')
const manifest = unseal<{ collections: Refs; streams: Refs }>(readFileSync(path))
if (manifest === undefined) {
  process.stderr.write(`${path} cannot be read\n`)
  process.exit(1)
}
const { collections, streams } = manifest
const bare = { ...manifest, collections: withoutTables(collections), streams: withoutTables(streams) }
await createDisk().replace(path, seal(bare))
const kept = await holdKept(root, createClock())
await kept.checkpoint()
await kept.close()
process.exit(0)
