/** Ids that are buried, and stand in tables or in the log all the same. */
import test from 'ava'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { saltSeed, sealedLine } from '../../../../core/state/format/line.js'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { clock, declared, disk, keptRoot } from '../../../support/kept-root.js'

/** Buries one more id of the notes, as a checkpoint would. */
const bury = (root: string, id: string): void => {
  const [file, path] = [join(root, 'tombstones/notes.ndjson'), join(root, 'manifest.json')]
  const text = readFileSync(file, 'utf8')
  const seed = saltSeed(JSON.parse(text.slice(0, text.indexOf('\n'))).salt)
  const bytes = Buffer.concat([Buffer.from(text), sealedLine(JSON.stringify({ id, reason: 'x' }).slice(0, -1), seed)])
  writeFileSync(file, bytes)
  const manifest: any = unseal(readFileSync(path))
  manifest.tombstones.notes = bytes.length
  writeFileSync(path, seal(manifest))
}
const rulesOf = async (root: string): Promise<string[]> =>
  (await verifyRoot({ root, disk, clock, declared })).findings.map(({ kind, rule }) => `${kind}: ${rule}`)

test('a record on a page whose id is buried is found', async (t) => {
  const root = await keptRoot(t)
  bury(root, 'n3')
  t.regex((await rulesOf(root)).join('\n'), /^index: a row names n3, whose id was buried$/mu)
})

test('a record in the log whose id was buried before is found', async (t) => {
  const root = await keptRoot(t)
  bury(root, 'n50')
  t.regex((await rulesOf(root)).join('\n'), /^log: n50 of notes is written after its id was buried$/mu)
})
