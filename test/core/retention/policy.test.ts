import test from 'ava'
import { parse } from 'smol-toml'
import { unsafeCast, type JsonObject } from '../../../core/base/schema.js'
import { lineOf } from '../../../core/host/load/toml-line.js'
import { policyFor, readConfig } from '../../../core/retention/policy.js'
import { sayHeld, sayStaying } from '../../../core/retention/words.js'
import { showSize, sizeOf } from '../../../core/retention/amounts.js'

const day = 86_400_000
const declared = [{ kind: 'runs' }, { kind: 'receipts', promise: 90 * day }]
const read = (table: JsonObject, lines: (path: string) => number | undefined = () => undefined) =>
  policyFor(readConfig({ table, lineOf: lines }, '/root'), {
    declared: () => declared,
    kinds: () => [],
    bounded: () =>
      new Map([
        ['notes', 'notes_max_age_ms in config/notes.toml'],
        ['run_songs', 'songs.toml'],
      ]),
  })

test('without a configuration only what is promised for a time falls, when that is over', (t) => {
  const { minAge, maxBytes, archiveDir, kinds } = read({})
  t.deepEqual([minAge, maxBytes, archiveDir], [day, undefined, undefined])
  t.deepEqual(
    [...kinds],
    [
      ['runs', { maxAge: undefined, maxCount: undefined, isPromise: false }],
      ['receipts', { maxAge: 90 * day, maxCount: undefined, isPromise: true }],
    ],
  )
})

test('retention-2: ages and sizes are read as they are written', (t) => {
  const { minAge, maxBytes, kinds } = read({
    min_age: '2h',
    max_bytes: '50GiB',
    kinds: { runs: { max_age: '2w', max_count: 5 }, receipts: { max_age: '7d' } },
  })
  t.deepEqual([minAge, maxBytes], [7_200_000, 50 * 1024 ** 3])
  t.deepEqual(kinds.get('runs'), { maxAge: 14 * day, maxCount: 5, isPromise: false })
  t.is(kinds.get('receipts')?.maxAge, 7 * day)
})

const written = (text: string): JsonObject => unsafeCast(parse(text))
const wrong: readonly (readonly [string, JsonObject, string])[] = [
  ['an age without a unit', { min_age: '90' }, 'min_age must be an age'],
  ['an age below an hour', { min_age: '59m' }, 'min_age must be an age'],
  ['a number for an age', { kinds: { runs: { max_age: 90 } } }, 'kinds.runs.max_age must be an age such as'],
  ['a number for a size', { max_bytes: 5 }, 'max_bytes must be a size such as 500MiB or 50GiB, from 64MiB to 1024TiB'],
  ['an age of nothing', { kinds: { runs: { max_age: '0d' } } }, 'kinds.runs.max_age must be an age'],
  ['an age with a blank', { min_age: '3 d' }, 'min_age must be an age such as 12h, 90d or 52w, from 1h to 36500d'],
  ['an age beyond all dates', { min_age: '99999999999d' }, 'min_age must be an age such as 12h, 90d or 52w, from'],
  ['a size beyond all disks', { max_bytes: '1025TiB' }, 'max_bytes must be a size such as 500MiB or 50GiB, from 64MiB'],
  ['a kind as a table', written('[runs]\nmax_age = "90d"'), 'runs is not a known field; did you mean kinds.runs?'],
  ['kinds by another name', written('[kind.runs]\nmax_age = "90d"'), 'kind is not a known field; did you mean kinds?'],
  ['a plugin kind as a table', written('[receipts]'), 'receipts is not a known field; did you mean kinds.receipts?'],
  [
    'a table for all of the file',
    written('[retention]\nmin_age = "1d"'),
    'retention is not a known field: the file itself is that table, so leave [retention] out',
  ],
  [
    'what holds for all kinds in one of them',
    written('[kinds.runs]\nmin_age = "30d"'),
    'kinds.runs.min_age is not a known field; min_age stands at the top level, beside kinds',
  ],
  [
    'what is said of a kind at the top',
    written('max_age = "30d"'),
    'max_age is said of a kind: write it below its table, such as [kinds.runs]',
  ],
  ['kinds as a list', written('[[kinds]]\nname = "runs"'), 'kinds must be an object'],
  ['a kind as a list', written('[[kinds.runs]]\nmax_age = "90d"'), 'kinds.runs must be an object'],
  ['a table for an age', written('[min_age]\ndays = 3'), 'min_age must be an age such as'],
  ['a date for an age', written('min_age = 2027-01-01'), 'min_age must be an age such as'],
  [
    'a member of a kind with a slip',
    written('[kinds.runs]\nmaxage = "90d"'),
    'kinds.runs.maxage is not a known field; did you mean kinds.runs.max_age?',
  ],
  ['a count of nothing', { kinds: { runs: { max_count: 0 } } }, 'kinds.runs.max_count must be at least 1'],
  ['a size in another unit', { max_bytes: '50GB' }, 'max_bytes must be a size'],
  ['a size that no root fits into', { max_bytes: '1MiB' }, 'max_bytes must be a size'],
  ['a folder that depends on where the daemon starts', { archive_dir: 'old' }, 'archive_dir must be an absolute path'],
  ['a folder in the root', { archive_dir: '/root/old' }, 'archive_dir must be outside the state root'],
  ['a member of a kind that is not there', { kinds: { runs: { age: '90d' } } }, 'kinds.runs.age'],
  [
    'a kind that is not there',
    { kinds: { rusn: { max_age: '90d' } } },
    'kinds.rusn is no kind: there are receipts, runs; did you mean kinds.runs?',
  ],
  [
    'what has settings of its own',
    { kinds: { notes: { max_age: '90d' } } },
    'kinds.notes is not set here: what is kept of it is said by notes_max_age_ms in config/notes.toml',
  ],
  [
    'a max_age below min_age',
    { min_age: '3d', kinds: { runs: { max_age: '2d' } } },
    'kinds.runs.max_age must be at least min_age, which is 3d',
  ],
  ['a count for a promise', { kinds: { receipts: { max_count: 5 } } }, 'kinds.receipts.max_count cannot be set'],
]
for (const [what, table, sentence] of wrong)
  test(`retention-2: refused, with the member that is wrong: ${what}`, (t) => {
    const { message } = t.throws(() => read(table), { code: 'config_invalid' }) ?? { message: '' }
    t.true(message.startsWith(`config/retention.toml ${sentence}`), message)
  })

test('retention-2: a kind that may be of a plugin which is missing is told and refuses nothing', (t) => {
  const known = { declared: () => declared, kinds: () => [], bounded: () => new Map([['notes', 'config/notes.toml']]) }
  const config = (kind: string) => readConfig({ table: { kinds: { [kind]: { max_age: '90d' } } } }, '/root')
  t.deepEqual(policyFor(config('pantry'), known, false).unknown, ['pantry'])
  t.throws(() => policyFor(config('pantry'), known, true), { code: 'config_invalid' })
  t.throws(() => policyFor(config('notes'), known, false), { code: 'config_invalid' })
})

test('runtime-2: what is wrong with a kind beyond its form is told with its line', (t) => {
  for (const [text, sentence] of [
    ['[kinds.run]\nmax_age = "9d"', '1 kinds.run is no kind: there are receipts, runs; did you mean kinds.runs?'],
    ['\n[kinds.receipts]\nmax_count = 5', '3 kinds.receipts.max_count cannot be set'],
    ['[kinds.runs]\nmax_age = "2h"', '2 kinds.runs.max_age must be at least min_age, which is 1d'],
    ['[kinds.notes]\nmax_age = "9d"', '1 kinds.notes is not set here'],
    ['[kinds.songs]\nmax_age = "9d"', '1 kinds.songs is not set here: what is kept of it is said by songs.toml'],
  ] as const) {
    const { message } = t.throws(() => read(written(text), (path) => lineOf(text, path)), {
      code: 'config_invalid',
    }) ?? { message: '' }
    t.true(message.startsWith(`config/retention.toml:${sentence}`), message)
  }
})

test('sizes are shown as a person writes them', (t) => {
  t.deepEqual([0, 999, 1024, 1536, 150 * 1024 ** 2, -2048].map(showSize), [
    '0 B',
    '999 B',
    '1 KiB',
    '1.5 KiB',
    '150 MiB',
    '-2 KiB',
  ])
  t.is(sizeOf('1TiB'), 1024 ** 4)
})

test('retention-4: what stays for the sake of a record is told with what lets it go', (t) => {
  const by = { collection: 'runs', id: 'run_1', since: 0 }
  t.is(
    sayHeld({ by, bytes: 1024 }),
    '1 KiB stay because runs run_1 is not due yet and may have a part in what was written since 1970-01-01: ' +
      'they may fall when it falls itself',
  )
  t.regex(
    sayHeld({ by: { ...by, isOpen: true }, bytes: 1 }),
    /run_1 can still change .*: they may fall when it cannot$/u,
  )
})

test('retention-4: what stays is told with its own bytes, those that go behind it, and whether all of it is due', (t) => {
  const part = { kind: 'runs', no: 1, from: day, since: day, to: 2 * day, records: 3, held: 'It waits.' } as const
  t.is(
    sayStaying({ ...part, cause: 'age', bytes: 3072, beside: 1024 }),
    'runs: 3 records from 1970-01-02 to 1970-01-03, 2 KiB, older than max_age; 1 KiB more go behind them by ' +
      'themselves, stay: It waits.',
  )
  t.is(
    sayStaying({ ...part, cause: 'age', bytes: 3072, isPart: true }),
    'runs: 3 records from 1970-01-02 to 1970-01-03, 3 KiB, some older than max_age, stay: It waits.',
  )
})
