/**
 * Bytes that no crash makes: a line of another root in the place of one of ours, and an end that was cut off. A store
 * must call both damage.
 */
import { assert } from '../../core/base/assert.js'
import { filesOf, type FileNode, type Image } from './image.js'
import { createLedger } from './ledger.js'
import { openLife, root, type Engine, type Life } from './life.js'
import { createRandom } from './random.js'
import { createSimulatedDisk } from './simulated-disk.js'
import { sendCommit } from './workload.js'

const log = '/log/000000000001.ndjson'

/** A root with five commits of one length each. */
const liveOnce = async (engine: Engine, seed: number, letter: string): Promise<Image> => {
  const disk = createSimulatedDisk({ root })
  const life = await openLife({ engine, disk, random: createRandom(seed), tuning: { segmentBytes: 1_000_000 } })
  for (let n = 0; n < 5; n += 1)
    await sendCommit(life, createLedger(), [{ do: 'append', owner: 'ann', entry: `${letter}${n}` }])
  life.clock.advance(2000)
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  return disk.image()
}
const withLog = (image: Image, bytes: Uint8Array): Image => {
  const whole = filesOf(image).get(log)
  return new Map(
    [...image].map(([at, node]) => {
      const changed: FileNode = { kind: 'file', data: bytes, safe: bytes, pending: [] }
      return [at, node.kind === 'file' && node.data === whole ? changed : node]
    }),
  )
}
const reopen = (engine: Engine, image: Image): Promise<Life> =>
  openLife({
    engine,
    disk: createSimulatedDisk({ root, image }),
    random: createRandom(9),
    startedAt: 1_800_000_000_000,
  })

const linesOf = (image: Image): string[] =>
  Buffer.from(filesOf(image).get(log) ?? [])
    .toString('utf8')
    .match(/[^\n]*\n/gu) ?? []

/** Puts each line of a twin root in the place of ours. */
export const acceptsForeignLine = async (engine: Engine): Promise<void> => {
  const ours = await liveOnce(engine, 1, 'a')
  const [lines, foreign] = [linesOf(ours), linesOf(await liveOnce(engine, 2, 'b'))]
  assert(lines.length === 6 && foreign.length === 6, `the log has ${lines.length} lines`)
  for (let at = 1; at < lines.length; at += 1) {
    const mixed = lines.with(at, foreign[at] ?? '')
    const life = await reopen(engine, withLog(ours, Buffer.from(mixed.join(''))))
    assert(life.report.damage !== undefined, `line ${at + 1} of another root was accepted in silence`)
  }
}

/** Cuts the log behind each line and in the middle of each. */
export const cutsAcknowledged = async (engine: Engine): Promise<void> => {
  const ours = await liveOnce(engine, 1, 'a')
  const bytes = Buffer.from(linesOf(ours).join(''))
  for (let length = bytes.length - 1; length > bytes.length - 300; length -= 7) {
    const life = await reopen(engine, withLog(ours, bytes.subarray(0, length)))
    assert(life.report.damage !== undefined, `the log was cut to ${length} of ${bytes.length} bytes and nobody noticed`)
  }
}
