/** What every reader must see of the golden root, also when one of its bits is wrong. */
import type { ExecutionContext } from 'ava'
import { filesOf, type Image } from '../faults/image.js'
import { describeLife } from '../faults/ledger.js'
import { loadEngine, openLife, root, type Engine } from '../faults/life.js'
import { createRandom } from '../faults/random.js'
import { createSimulatedDisk } from '../faults/simulated-disk.js'
import { goldenFolder, imageOf } from './golden-root.js'

export const expected = `i1 ann 1 true gold d249b8beb7a58794c75abe3498bcc32d56040fafa42d79d570c13d1628ecc051
i3 ann 3 false tin \ni2

ann: e1 e2
golden bytes
7`
const everSent = new Set(['i1', 'i2', 'i3'])

/** Everything a reader can see, and whether the start had anything to say. */
export const look = async (engine: Engine, image: Image): Promise<{ readonly seen: string; readonly said: string }> => {
  const life = await openLife({
    engine,
    disk: createSimulatedDisk({ root, image }),
    random: createRandom(5),
    startedAt: 1_800_000_000_000,
    tuning: { segmentBytes: 1_000_000 },
  })
  const { damage, torn, quarantined, rebuilt } = life.report
  const said =
    damage !== undefined || torn !== undefined || quarantined.length + rebuilt.length > 0
      ? JSON.stringify({ damage, torn, quarantined, rebuilt })
      : ''
  if (damage !== undefined) return { seen: '', said }
  const blob = life.items.find('i1')?.blob
  const bytes = blob === undefined ? undefined : await life.blobs.read(blob)
  return {
    seen: `${describeLife(life, everSent)}\n${Buffer.from(bytes ?? []).toString('latin1')}\n${life.note.read()?.version ?? 'no note'}`,
    said,
  }
}

const flip = (image: Image, file: Uint8Array, bit: number): Image => {
  const wrong = Uint8Array.from(file)
  wrong[bit >> 3] = (wrong[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return new Map(
    [...image].map(([at, node]) => [
      at,
      node.kind === 'file' && node.data === file ? { kind: 'file', data: wrong, safe: wrong, pending: [] } : node,
    ]),
  )
}

/** Flips every `step`th bit of the golden root: each is noticed, or changes nothing that a reader can see. */
export const flipBits = async (t: ExecutionContext, step: number): Promise<void> => {
  const engine = await loadEngine()
  const image = imageOf(goldenFolder)
  const good = await look(engine, image)
  const tally = { noticed: 0, harmless: 0 }
  for (const [path, bytes] of filesOf(image)) {
    for (let bit = 0; bit < bytes.length * 8; bit += step) {
      const found = await look(engine, flip(image, bytes, bit)).catch((cause: unknown) => ({
        seen: '',
        said: String(cause),
      }))
      if (found.said !== '') tally.noticed += 1
      else if (found.seen === good.seen) tally.harmless += 1
      else t.fail(`bit ${bit} of ${path} changes the state in silence:\n${found.seen}`)
    }
  }
  t.log(
    `${tally.noticed + tally.harmless} bits in ${filesOf(image).size} files: ${tally.noticed} noticed, ` +
      `${tally.harmless} harmless`,
  )
  t.true(tally.noticed > 10_000 / step)
}
