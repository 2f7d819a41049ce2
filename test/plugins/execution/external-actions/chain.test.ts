import { cpSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { unsafeCast, type Json } from '../../../../core/base/schema.js'
import type { CollectionSpec, StreamSpec } from '../../../../core/plugin.js'
import { planRepair } from '../../../../core/state/inspect/repair-plan.js'
import { verifyRoot, type Declarations, type VerifyReport } from '../../../../core/state/inspect/verify.js'
import { createLedger } from '../../../../plugins/execution/external-actions/ledger.js'
import { declareStore, hashOf } from '../../../../plugins/execution/external-actions/store.js'
import { rewriteEntries, rewriteRecord, standing, type Place } from '../../../support/rewrite.js'
import { tempRoot } from '../../../support/notes.js'
import { clock, disk, takeRoot } from '../../../support/taken-root.js'

const stream = 'external_actions'

/** Two sessions with ten entries each: in the log, on pages, or half and half. */
const ledgerRoot = async (t: ExecutionContext, where: string): Promise<{ root: string; declared: Declarations }> => {
  const root = join(tempRoot(t), 'root')
  const opened = await takeRoot(root)
  const store = declareStore(opened.state)
  const ledger = createLedger({ store, listeners: { tell() {} } })
  await opened.load()
  for (let n = 0; n < 10; n += 1) {
    if (n === 5 && where === 'on pages and in the log') await opened.checkpoint()
    for (const session_id of ['s1', 's2']) {
      const action = { action_id: `${session_id}-${n - (n % 2)}`, session_id, attempt: 1 }
      await opened.state.commit((tx) =>
        n % 2 === 0
          ? ledger.intend(tx, {
              ...action,
              kind: 'tool',
              target: `t${n}`,
              request_digest: 'aa',
              approved_by: { type: 'rule', id: '*' },
            })
          : ledger.conclude(tx, { ...action, outcome: 'done' }),
      )
    }
  }
  await (where === 'on pages' ? opened.end() : opened.die())
  const declared = {
    collections: new Map(
      [store.heads, store.ranges].map(({ spec }) => [
        spec.name,
        unsafeCast<CollectionSpec<object>>({ ...spec, references: () => [] }),
      ]),
    ),
    streams: new Map([[stream, unsafeCast<StreamSpec<Json>>(store.entries.spec)]]),
  }
  return { root, declared }
}

const copyOf = (t: ExecutionContext, root: string): string => {
  const to = join(tempRoot(t), 'root')
  cpSync(root, to, { recursive: true })
  return to
}
const verify = (root: string, declared: Declarations): Promise<VerifyReport> =>
  verifyRoot({ root, disk, clock, declared, live: false })
const s1 = { stream, owner: 's1' }
const ofS1 = (root: string): any[] =>
  standing(root, stream)
    .filter(({ owner }) => owner === 's1')
    .map(({ entry }) => entry)
const linked = (entry: any, prev: string): any => {
  const { hash: _, ...rest } = { ...entry, prev }
  return { ...rest, hash: hashOf('s1', rest) }
}
const headOf = (root: string, owner: string): Place =>
  rewriteRecord(root, { collection: 'external_action_heads', id: owner }, (head) => head)

/** What somebody does to the ten entries of a session, and the number of the entry, from 0, at which it shows. */
const changes: readonly {
  readonly what: string
  readonly change: (entries: any[]) => any[]
  readonly shows: number
  readonly rule: RegExp
}[] = [
  {
    what: 'an edited entry',
    change: (all) => all.with(3, { ...all[3], outcome: 'failed' }),
    shows: 3,
    rule: /^entry 4 of s1 .* is not what its hash was made of$/u,
  },
  {
    what: 'an edited entry with its hash made right',
    change: (all) => all.with(3, linked({ ...all[3], outcome: 'failed' }, all[3].prev)),
    shows: 4,
    rule: /^entry 5 of s1 .* does not follow from entry 4$/u,
  },
  {
    what: 'a removed entry',
    change: (all) => all.toSpliced(3, 1),
    shows: 3,
    rule: /^entry 4 of s1 .* does not follow/u,
  },
  {
    what: 'a removed first entry',
    change: (all) => all.slice(1),
    shows: 0,
    rule: /^entry 1 of s1 .* does not follow from nothing/u,
  },
  { what: 'swapped entries', change: (all) => all.with(3, all[4]).with(4, all[3]), shows: 3, rule: /^entry 4 of s1/u },
  {
    what: 'an entry that stands twice',
    change: (all) => all.toSpliced(4, 0, all[3]),
    shows: 4,
    rule: /^entry 5 of s1/u,
  },
  {
    what: 'an inserted entry with right hashes',
    change: (all) => all.toSpliced(4, 0, linked(all[0], all[3].hash)),
    shows: 5,
    rule: /^entry 6 of s1/u,
  },
  {
    what: 'an appended entry with right hashes',
    change: (all) => [...all, linked(all[0], all[9].hash)],
    shows: 10,
    rule: /^entry 11 of s1 .* stands behind the 10 that its head knows$/u,
  },
  {
    what: 'a tail that was cut off',
    change: (all) => all.slice(0, -2),
    shows: 7,
    rule: /^s1 in external_actions ends with entry 8, and its head knows 10$/u,
  },
  {
    what: 'entries that were all linked again',
    change: (all) =>
      all.reduce(
        (made, entry, at) => [
          ...made,
          linked(at === 3 ? { ...entry, outcome: 'failed' } : entry, made.at(-1)?.hash ?? ''),
        ],
        [],
      ),
    shows: 9,
    rule: /is not the one that its head knows$/u,
  },
  {
    what: 'entries of another session',
    change: (all) => all.with(2, { ...all[2], action_id: 's2-2' }),
    shows: 2,
    rule: /^entry 3 of s1/u,
  },
]

for (const where of ['in the log', 'on pages', 'on pages and in the log']) {
  test(`a changed ledger ${where} is found at its first wrong entry, although every checksum is right`, async (t) => {
    const { root, declared } = await ledgerRoot(t, where)
    t.is(standing(root, stream).length, 20)
    t.deepEqual(
      (await verify(root, declared)).findings.filter(({ severity }) => severity !== 'leftover'),
      [],
    )
    for (const { what, change, shows, rule } of changes) {
      const changed = copyOf(t, root)
      rewriteEntries(changed, s1, change(ofS1(changed)))
      const { place } = standing(changed, stream).filter(({ owner }) => owner === 's1')[shows] ?? t.fail(what)
      const { findings, clean } = await verify(changed, declared)
      const [found, ...others] = findings.filter(({ severity }) => severity !== 'leftover')
      t.deepEqual(others, [], what)
      t.like(found, { kind: 'chain', severity: 'damage', ...place }, what)
      t.regex(found?.rule ?? '', rule, what)
      t.false(clean)
    }
  })

  test(`external-actions-14: sessions that lost all their entries, changed places, or have another head are found ${where}`, async (t) => {
    const { root, declared } = await ledgerRoot(t, where)
    const findingsOf = async (changed: string): Promise<unknown[]> =>
      (await verify(changed, declared)).findings
        .filter(({ severity }) => severity !== 'leftover')
        .map(({ kind, file, offset, rule }) => ({ kind, file, offset, rule }))
    const emptied = copyOf(t, root)
    rewriteEntries(emptied, s1, [])
    t.deepEqual(await findingsOf(emptied), [
      {
        kind: 'chain',
        ...headOf(emptied, 's1'),
        rule: 's1 in external_actions ends with entry 0, and its head knows 10',
      },
    ])
    const edited = copyOf(t, root)
    rewriteRecord(edited, { collection: 'external_action_heads', id: 's1' }, (head) => ({ ...head, entries: 9 }))
    t.is((await findingsOf(edited)).length, 1)
    const exchanged = copyOf(t, root)
    const [mine, theirs] = [
      ofS1(root),
      standing(root, stream)
        .filter(({ owner }) => owner === 's2')
        .map(({ entry }) => entry),
    ]
    rewriteEntries(exchanged, s1, theirs)
    rewriteEntries(exchanged, { stream, owner: 's2' }, mine)
    const hashes = new Map([
      ['s1', theirs[9].hash],
      ['s2', mine[9].hash],
    ])
    for (const id of ['s1', 's2'])
      rewriteRecord(exchanged, { collection: 'external_action_heads', id }, (head) =>
        head.entries === 10 ? { ...head, hash: hashes.get(id) } : head,
      )
    t.is((await findingsOf(exchanged)).length, 2)
  })
}

test('external-actions-15: no repair decides about a ledger that was changed', async (t) => {
  const { root, declared } = await ledgerRoot(t, 'on pages')
  rewriteEntries(root, s1, ofS1(root).slice(0, -1))
  const plan = planRepair(await verify(root, declared))
  t.deepEqual(plan.actions, [])
  t.regex(plan.byHand[0]?.advice ?? '', /^Compare with a backup/u)
})
