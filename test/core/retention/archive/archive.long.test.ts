import { createWriteStream, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip, gunzipSync, gzipSync } from 'node:zlib'
import test from 'ava'
import type { FallingLine } from '../../../../core/state/contract.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { openArchive } from '../../../../core/retention/archive/read.js'
import { createLineBuffer, saltSeed } from '../../../../core/state/format/line.js'
import { showArchived, showArchivedOne } from '../../../../core/retention/archive/show.js'
import { writeArchive } from '../../../../core/retention/archive/write.js'
import { freshRoot } from '../../../support/folders.js'

const disk = createDisk()
const header = {
  v: 1,
  k: 'archive',
  of: 'runs',
  salt: '9f3c21aa',
  root: 'ba21',
  upto: 3,
  from: 1000,
  to: 2000,
  archived_at_ms: Date.UTC(2027, 0, 31, 9),
} as const

function* lines(count: number): Iterable<FallingLine> {
  for (let no = 0; no < count; no += 1) {
    yield {
      collection: 'runs',
      id: `run_${no}`,
      record: { run_id: `run_${no}`, outputs: ['Grüße 🌻', 'x'.repeat(no % 97)] },
    }
    yield { stream: 'session_journal', owner: `s${no % 7}`, from: no + 1, entries: [{ type: 'event', no }] }
  }
}
const readAll = async (path: string) => {
  const { header: found, lines: rest } = await openArchive(disk, path)
  const read = []
  for await (const line of rest) read.push(line)
  return { header: found, lines: read }
}
const written = async (count = 5) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  return { folder, ...(await writeArchive({ disk, folder }, header, lines(count))) }
}

test('what fell can be read from its archive, in its order', async (t) => {
  const { path, folder, records, entries, bytes } = await written(3000)
  t.is(path, join(folder, 'ba21/runs-2027-01-31T09-00-00-000Z.ndjson.gz'))
  t.deepEqual([records, entries], [3000, 3000])
  t.is(statSync(path).size, bytes)
  t.is(statSync(path).mode & 0o777, 0o600)
  const read = await readAll(path)
  t.like(read.header, header)
  t.is(read.lines.length, 6000)
  t.like(read.lines[0], { collection: 'runs', id: 'run_0', r: { run_id: 'run_0', outputs: ['Grüße 🌻', ''] } })
  t.like(read.lines[5999], {
    stream: 'session_journal',
    owner: 's3',
    from: 3000,
    entries: [{ type: 'event', no: 2999 }],
  })
})

test('an archive is lines of JSON that any tool reads', async (t) => {
  const { path } = await written(1)
  const text = gunzipSync(readFileSync(path)).toString('utf8')
  const parsed = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.deepEqual(
    parsed.map(({ k, collection, stream, end }) => k ?? collection ?? stream ?? end),
    ['archive', 'runs', 'session_journal', true],
  )
})

test('a line longer than what is decompressed at once is read whole', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  const long = { collection: 'runs', id: 'a', record: { text: 'ab'.repeat(1_000_000) } }
  const { path } = await writeArchive({ disk, folder }, header, [long])
  t.deepEqual(
    (await readAll(path)).lines.map((line) => 'id' in line && line.r),
    [long.record],
  )
})

test('an archive that ends too early is refused, wherever it ends', async (t) => {
  const { path } = await written()
  const whole = readFileSync(path)
  for (let length = 0; length < whole.length; length += 1) {
    writeFileSync(path, whole.subarray(0, length))
    await t.throwsAsync(readAll(path), { code: 'archive_damaged' }, `the first ${length} bytes`)
  }
  const text = gunzipSync(whole)
  for (let length = 0; length < text.length; length += 1) {
    writeFileSync(path, gzipSync(text.subarray(0, length)))
    await t.throwsAsync(readAll(path), { code: 'archive_damaged' }, `the first ${length} bytes of its text`)
  }
})

test('an archive of which a line is changed or missing is refused', async (t) => {
  const { path } = await written()
  const rows = gunzipSync(readFileSync(path)).toString('utf8').trimEnd().split('\n')
  const others = [
    ...rows.map((_, at) => rows.filter((__, place) => place !== at)),
    ...rows.map((row, at) => rows.with(at, row.replace(/[1-9]/u, '0'))),
    [...rows, rows[1] ?? ''],
  ]
  for (const [at, other] of others.entries()) {
    writeFileSync(path, gzipSync(`${other.join('\n')}\n`))
    await t.throwsAsync(readAll(path), { code: 'archive_damaged' }, `change ${at}`)
  }
})

test('what is no archive and what is not there is refused', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'text'), 'no archive')
  await t.throwsAsync(readAll(join(folder, 'text')), { code: 'archive_damaged', message: /cannot be decompressed/u })
  await t.throwsAsync(readAll(join(folder, 'nothing')), { code: 'archive_absent' })
  await t.throwsAsync(readAll(folder), { code: 'archive_is_folder', message: /: there is none in it\.$/u })
  const own = join(folder, 'abc')
  mkdirSync(own)
  for (const name of [
    'runs-2027-01-31T09-00-00-000Z',
    'usage-2027-02-01T09-00-00-000Z',
    'runs-2026-01-31T09-00-00-000Z-2',
  ])
    for (const end of ['', '.part']) writeFileSync(join(own, `${name}.ndjson.gz${end}`), '')
  const names = [
    'usage-2027-02-01T09-00-00-000Z.ndjson.gz',
    'runs-2027-01-31T09-00-00-000Z.ndjson.gz',
    'runs-2026-01-31T09-00-00-000Z-2.ndjson.gz',
  ]
  const told = (prefix: string): string => `the newest in it are ${names.map((name) => prefix + name).join(', ')}.`
  for (const [at, prefix] of [
    [own, ''],
    [folder, 'abc/'],
  ] as const) {
    const { message } = await t.throwsAsync(readAll(at), { code: 'archive_is_folder' })
    t.true(message.endsWith(told(prefix)), message)
  }
})

/** An archive of any lines, each sealed as it must be. */
const sealed = (folder: string, first: object, ...others: readonly string[]): string => {
  const buffer = createLineBuffer()
  buffer.add(JSON.stringify(first).slice(0, -1), 0)
  for (const line of others) buffer.add(line.slice(0, -1), saltSeed(header.salt))
  const file = join(folder, 'sealed.gz')
  writeFileSync(file, gzipSync(buffer.bytes()))
  return file
}
const end = '{"end":true,"records":0,"entries":0}'
const nonsense: readonly (readonly [string, string])[] = [
  ['a stream without entries', '{"stream":"j","owner":"s","from":1}'],
  ['entries that are a number', '{"stream":"j","owner":"s","from":1,"entries":5}'],
  ['entries that are text', '{"stream":"j","owner":"s","from":1,"entries":"abc"}'],
  ['a list', '[1,2]'],
  ['a collection that is an object', '{"collection":{},"id":"a","r":{}}'],
  ['a record that is none', '{"collection":"runs","id":"a","r":null}'],
  ['an id that is none', '{"collection":"runs","id":5,"r":{}}'],
  ['a deep record', `{"collection":"runs","id":"a","r":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`],
  ['what is no JSON', '{"collection":}'],
  ['an end without counts', '{"end":true}'],
]
for (const [what, line] of nonsense)
  test(`a line is refused by its number, however well it is sealed: ${what}`, async (t) => {
    const folder = await freshRoot()
    mkdirSync(folder, { recursive: true })
    await t.throwsAsync(readAll(sealed(folder, header, line, end)), { code: 'archive_damaged', message: /: line 2: / })
  })

test('entries may be any JSON: a stream may be of texts or of numbers', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  const entries = ['text', 5, null, [1]]
  const line = JSON.stringify({ stream: 'j', owner: 's', from: 1, entries })
  const path = sealed(folder, header, line, '{"end":true,"records":0,"entries":4}')
  t.like((await readAll(path)).lines[0], { entries })
})

test('a header of another form is refused', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  for (const other of [{ v: 2 }, { k: 'page' }, { salt: 'salt' }, { salt: 5 }, { of: {} }, { more: 'x'.repeat(2000) }])
    await t.throwsAsync(readAll(sealed(folder, { ...header, ...other }, end)), { code: 'archive_damaged' })
  t.deepEqual((await readAll(sealed(folder, header, end))).lines, [])
})

test('what stands behind an archive is refused', async (t) => {
  const { path } = await written()
  const whole = readFileSync(path)
  for (const tail of [Buffer.alloc(7), Buffer.from('tail'), gzipSync('{}\n')]) {
    writeFileSync(path, Buffer.concat([whole, tail]))
    await t.throwsAsync(readAll(path), { code: 'archive_damaged' })
  }
})

/** Blanks without an end, compressed a thousandfold. */
const bomb = async (path: string, begin: Uint8Array, mebibytes: number): Promise<void> => {
  const blank = Buffer.alloc(1024 * 1024, 32)
  const bytes = function* () {
    yield begin
    for (let done = 0; done < mebibytes; done += 1) yield blank
  }
  await pipeline(Readable.from(bytes()), createGzip({ level: 1 }), createWriteStream(path))
}

test('a line without an end is refused as soon as it is too long', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'bomb.gz')
  const head = gunzipSync(readFileSync(sealed(folder, header)))
  for (const [begin, no] of [
    [head, 2],
    [Buffer.alloc(0), 1],
  ] as const) {
    await bomb(path, begin, 600)
    const before = process.memoryUsage().rss
    await t.throwsAsync(readAll(path), {
      code: 'archive_damaged',
      message: new RegExp(`: line ${no}: it is longer`, 'u'),
    })
    t.true(process.memoryUsage().rss - before < 400 * 1024 * 1024)
  }
})

test('what an archive does not hold is said of the archive', async (t) => {
  const { path } = await written()
  const place = { disk, path }
  const absent = {
    code: 'archive_shape_absent',
    message: `The archive ${path} holds no collection and no stream nope.`,
  }
  await t.throwsAsync(showArchived(place, 'nope'), absent)
  await t.throwsAsync(showArchivedOne(place, 'nope', 'a'), absent)
  await t.throwsAsync(showArchivedOne(place, 'runs', 'a'), { code: 'archive_record_absent' })
})

test('a disk that fails leaves no archive and nothing half', async (t) => {
  const steps: readonly (readonly [string, Partial<Disk>])[] = [
    ['open', { open: () => Promise.reject(new Error('no')) }],
    [
      'write',
      { open: async (at, how) => ({ ...(await disk.open(at, how)), write: () => Promise.reject(new Error('no')) }) },
    ],
    [
      'sync',
      { open: async (at, how) => ({ ...(await disk.open(at, how)), sync: () => Promise.reject(new Error('no')) }) },
    ],
  ]
  for (const [step, failing] of steps) {
    const folder = await freshRoot()
    mkdirSync(folder, { recursive: true })
    await t.throwsAsync(
      writeArchive({ disk: { ...disk, ...failing }, folder }, header, lines(5)),
      { message: 'no' },
      step,
    )
    t.deepEqual(readdirSync(join(folder, 'ba21')), [], step)
  }
})

test('two archives of one moment are two files, and each is whole', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  const paths = []
  for (const count of [1, 2, 3]) paths.push((await writeArchive({ disk, folder }, header, lines(count))).path)
  t.deepEqual(
    paths.map((path) => path.slice(folder.length)),
    ['', '-2', '-3'].map((no) => `/ba21/runs-2027-01-31T09-00-00-000Z${no}.ndjson.gz`),
  )
  for (const [at, path] of paths.entries()) t.is((await readAll(path)).lines.length, 2 * (at + 1))
})

test('what a killed life left half-written goes with the next archive, and nothing else does', async (t) => {
  const folder = await freshRoot()
  const own = join(folder, 'ba21')
  mkdirSync(own, { recursive: true })
  mkdirSync(join(folder, 'other'))
  const left = 'runs-2027-01-30T09-00-00-000Z-2.ndjson.gz.part'
  const others = ['notes.part', 'runs-2027-01-30T09-00-00-000Z.ndjson.gz', 'x.ndjson.gz.part']
  for (const name of [left, ...others]) writeFileSync(join(own, name), '')
  writeFileSync(join(folder, 'other', left), '')
  const { path } = await writeArchive({ disk, folder }, header, lines(1))
  t.deepEqual(readdirSync(own).toSorted(), [...others, path.slice(own.length + 1)].toSorted())
  t.deepEqual(readdirSync(join(folder, 'other')), [left])
})

test('what the disk says is the reason, not what it led to', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  const full = Object.assign(new Error('no room'), { code: 'ENOSPC' })
  const filling: Disk = {
    ...disk,
    open: async (at, how) => ({ ...(await disk.open(at, how)), write: () => Promise.reject(full) }),
  }
  await t.throwsAsync(writeArchive({ disk: filling, folder }, header, lines(50_000)), { code: 'ENOSPC' })
})

test('the file is synced before it gets its name, and its name after it', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  const calls: string[] = []
  const watched: Disk = {
    ...disk,
    open: async (at, how) => {
      const file = await disk.open(at, how)
      return { ...file, sync: () => (calls.push('sync'), file.sync()) }
    },
    rename: (from, to) => (calls.push('rename'), disk.rename(from, to)),
    syncFolder: (at) => (calls.push(`sync ${at === folder ? 'outer' : 'own'} folder`), disk.syncFolder(at)),
  }
  await writeArchive({ disk: watched, folder }, header, lines(1))
  t.deepEqual(calls, ['sync outer folder', 'sync', 'rename', 'sync own folder'])
})
