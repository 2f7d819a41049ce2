/** Streams of which every checksum and every table is right, and whose entries are not numbered as they must be. */
import test, { type ExecutionContext } from 'ava'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../../../../core/state/format/manifest.js'
import { saltSeed, sealedLine } from '../../../../core/state/format/line.js'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { only } from '../../../support/damages.js'
import { clock, declared, disk, holdRoot, type HeldRoot } from '../../../support/kept-root.js'
import { tempRoot } from '../../../support/notes.js'

const verify = (root: string) => verifyRoot({ root, disk, clock, declared })

const append = (held: HeldRoot, owners: readonly string[]): Promise<void> =>
  held.state.commit((tx) => {
    for (const owner of owners) for (let n = 0; n < 3; n += 1) tx.append(held.journal, owner, `${n}`)
  })

/** Two lines each of three owners on pages, and more entries of two of them in the log. */
const streamRoot = async (t: ExecutionContext): Promise<string> => {
  const held = await holdRoot(tempRoot(t))
  for (let round = 0; round < 2; round += 1) {
    await append(held, ['ann', 'bob', 'cid'])
    await held.checkpoint()
  }
  await append(held, ['bob', 'dan'])
  await held.die()
  return held.lock.root
}

/** Changes the page; the next start makes its tables of what stands there then. */
const rewritePage = async (root: string, change: (lines: any[]) => any[]): Promise<void> => {
  const [file, path] = [only(join(root, 'streams/journal'), 'page'), join(root, 'manifest.json')]
  const [header = '', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
  const seed = saltSeed(JSON.parse(header).salt)
  const changed = change(lines.map((line) => JSON.parse(line)))
  const sealed = changed.map((line) => sealedLine(JSON.stringify({ ...line, c: undefined }).slice(0, -1), seed))
  const bytes = Buffer.concat([Buffer.from(`${header}\n`), ...sealed])
  writeFileSync(file, bytes)
  const manifest: any = unseal<Manifest>(readFileSync(path))
  const [page] = manifest.streams.journal.pages
  manifest.streams.journal = { ...manifest.streams.journal, tables: [], pages: [{ ...page, length: bytes.length }] }
  writeFileSync(path, seal(manifest))
}

const rulesOf = async (root: string): Promise<string[]> =>
  (await verify(root)).findings
    .filter(({ severity }) => severity !== 'leftover')
    .map(({ kind, rule }) => `${kind}: ${rule}`)
    .toSorted()

const changes: readonly { readonly what: string; readonly change: (lines: any[]) => any[]; readonly rule: string }[] = [
  {
    what: 'a line that is gone',
    change: (lines) => lines.toSpliced(1, 1),
    rule: 'page: entry 4 of bob in journal stands where 1 belongs',
  },
  {
    what: 'an end that is gone, and entries in the log behind it',
    change: (lines) => lines.toSpliced(4, 1),
    rule: 'log: entry 7 of bob in journal stands where 4 belongs',
  },
  {
    what: 'a line with another number',
    change: (lines) => lines.with(3, { ...lines[3], from: 5 }),
    rule: 'page: entry 5 of ann in journal stands where 4 belongs',
  },
  {
    what: 'a line with an entry less',
    change: (lines) => lines.with(2, { ...lines[2], entries: ['0', '1'] }),
    rule: 'page: entry 4 of cid in journal stands where 3 belongs',
  },
]

for (const { what, change, rule } of changes)
  test(`${what} is found with tables and without`, async (t) => {
    const root = await streamRoot(t)
    t.deepEqual(await rulesOf(root), [])
    t.deepEqual((await verify(root)).entries, { journal: 24 })
    await rewritePage(root, change)
    t.deepEqual(await rulesOf(root), [rule], 'without tables')
    const held = await holdRoot(root).catch(() => undefined)
    if (held === undefined || held.report.damage !== undefined) return
    await held.checkpoint()
    await held.end()
    t.true((await rulesOf(root)).includes(rule.replace(/^log/u, 'page')), 'with tables')
  })
