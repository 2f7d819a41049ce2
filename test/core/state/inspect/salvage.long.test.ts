import test from 'ava'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { layout } from '../../../../core/state/format/layout.js'
import { salvage } from '../../../../core/state/inspect/repair-salvage.js'
import { showRecords } from '../../../../core/state/inspect/show.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { crash, policies, type Image } from '../../../faults/image.js'
import { createRandom } from '../../../faults/random.js'
import { createSimulatedDisk } from '../../../faults/simulated-disk.js'
import { createSeededIds } from '../../../faults/stillness.js'
import { clock, declared, keptRoot } from '../../../support/kept-root.js'
import { partOf } from '../../../support/volume.js'

/** The files of a real folder on a simulated disk, all of them safe. */
const simulate = async (root: string): Promise<Image> => {
  const disk = createSimulatedDisk({ root })
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()
  for (const path of names.map((name) => join(root, name))) {
    if (statSync(path).isDirectory()) await disk.makeFolder(path)
    else await disk.replace(path, readFileSync(path))
    await disk.syncFolder(dirname(path))
  }
  return disk.image()
}

test('a salvage that is cut off anywhere, and begun again, loses what it would have lost without', async (t) => {
  const root = await keptRoot(t)
  const paths = layout(root)
  const [seed, random] = [20_261_121, createRandom(20_261_121)]
  const page = join(
    paths.data,
    'notes',
    readdirSync(join(paths.data, 'notes')).find((name) => name.startsWith('page-')) ?? '',
  )
  const bytes = readFileSync(page)
  bytes[bytes.indexOf('"text 12 ') + 2] = 0
  const prepared = createSimulatedDisk({ root, image: await simulate(root) })
  await prepared.replace(page, bytes)
  const rootId: string = JSON.parse(readFileSync(join(root, 'root.json'), 'utf8')).root_id
  const options = (disk: Disk) => ({
    disk,
    paths,
    ids: createSeededIds(random),
    rootId,
    generation: 9,
    fault: { file: page, offset: 0, rule: 'test' },
  })
  const contentOf = (disk: Disk): unknown[] =>
    [...(showRecords({ root, disk }, 'notes').value ?? [])].toSorted(([a], [b]) => a.localeCompare(b))
  const isDamaged = async (disk: Disk): Promise<boolean> =>
    !(await verifyRoot({ root, disk, clock, declared, live: false })).clean

  const images: Image[] = []
  const watched = createSimulatedDisk({
    root,
    image: prepared.image(),
    before: () => {
      images.push(watched.image())
    },
  })
  await salvage(options(watched))
  const wanted = contentOf(watched)
  t.is(wanted.length, 51)
  t.false(await isDamaged(watched))
  t.true(images.length > 20)
  for (const [at, image] of images.entries()) {
    if (at % partOf(5, 1) !== 0) continue
    for (const policy of policies) {
      const disk = createSimulatedDisk({ root, image: crash(image, policy, random) })
      if (await isDamaged(disk)) await salvage(options(disk))
      t.deepEqual(contentOf(disk), wanted, `operation ${at}, ${policy}, seed ${seed}`)
      const { findings } = await verifyRoot({ root, disk, clock, declared, live: false })
      t.deepEqual(
        findings.filter(({ severity }) => severity !== 'leftover'),
        [],
        `operation ${at}, ${policy}, seed ${seed}`,
      )
    }
  }
})
