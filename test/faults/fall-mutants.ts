/** Stores whose partitions fall carelessly; the lives in which they do must show it. */
import { exploreFalls, type FallTally } from './falls.js'
import type { Engine } from './life.js'
import { patch, type Mutant } from './mutants.js'

export const fallMutants: readonly Mutant[] = [
  {
    name: 'records that can still change fall',
    patch: patch('pages/record-changes', 'await this.#carry(page)', 'await Promise.resolve()'),
  },
  {
    name: 'what belongs to a record that stays falls',
    patch: patch('partitions/falls', 'holder.since <= to', 'holder.since < 0'),
  },
  {
    name: 'an owner whose last entries fall is forgotten',
    patch: patch('pages/entry-changes', 'if (target.fall > 0)', 'if (target.fall < 0)'),
  },
  {
    name: 'rows that take away what fell stay',
    patch: patch('pages/table-set', 'if (reach === undefined || reach > fall)', 'if (fall >= 0)'),
  },
  {
    name: 'a record that is written again in a later partition has no row of its own there',
    patch: patch(
      'pages/record-rows',
      'if (before?.part !== undefined && to?.group !== undefined)',
      'if (before === 0)',
    ),
  },
  {
    name: 'a record that can still change has no row of its own in a later partition',
    patch: patch('pages/record-rows', 'if (isOpen && wasOpen && before.part !== undefined)', 'if (before === 0)'),
  },
  {
    name: 'a page goes on with lines of the next partition',
    patch: patch('pages/page-draft', ' && last.part === part', ''),
  },
  {
    name: 'tables of two partitions become one',
    patch: patch('pages/table-merge', '[...parts.values()].reverse()', '[files]'),
  },
  {
    name: 'what was merged is taken although some of its tables were written anew',
    patch: patch('pages/table-set', 'if (isWithin(left, taken))\n', 'if (left.includes(taken[0]))\n'),
  },
  {
    name: 'removals go while an older table still has what they take away',
    patch: patch('pages/table-set', 'this.tables.files[0] === taken[0]', 'true'),
  },
  {
    name: 'pages of fallen partitions are named on',
    patch: patch('pages/page-draft', 'stays(parts.target, ref) ?', 'true ?'),
  },
  {
    name: 'nobody remembers which ids fell',
    patch: patch('pages/target', "latestId([kept.fell ?? '', ...latest])", "''"),
  },
  {
    name: 'files of a fall are removed before the manifest forgets them',
    patch: patch(
      'store/checkpoint',
      'await pass.write();',
      'await pass.write(); if (wanted !== undefined) for (const name of disk.list(paths.data + "/kept_notes")) ' +
        'if (pass.written.collections.kept_notes?.pages.every(({ no }) => !name.endsWith(no + ".ndjson"))) ' +
        'await disk.unlink(paths.data + "/kept_notes/" + name);',
    ),
  },
  {
    name: 'earlier versions may open a root of which something fell',
    patch: patch('store/checkpoint', "await forms.name('partitions');", 'void 0;'),
  },
  {
    name: 'stamps of partitions are those of the last commit alone',
    patch: patch('partitions/partitions', 'const to = Math.max(last.to, t);', 'const to = last.to;'),
  },
]

/** What lives with partitions say about a store: the first promise it breaks. */
export const fallsOf = async (engine: Engine): Promise<void> => {
  const tally: FallTally = { states: 0, falls: 0, operations: 0 }
  for (let seed = 1; seed <= 10; seed += 1) await exploreFalls({ engine, seed, steps: 60, every: 43 }, tally)
}
