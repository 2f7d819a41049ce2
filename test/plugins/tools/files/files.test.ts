import { execFileSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { chmod, link, mkdir, open, readFile, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { assert } from '../../../../core/base/assert.js'
import { atOnce } from '../../../../core/base/turns.js'
import type { Json } from '../../../../core/base/schema.js'
import { sliceLines, readFileTool } from '../../../../plugins/tools/files/read-file.js'
import { editBytes, editFileTool } from '../../../../plugins/tools/files/edit-file.js'
import { globSearchTool } from '../../../../plugins/tools/files/glob-search.js'
import { grepSearchTool } from '../../../../plugins/tools/files/grep-search.js'
import { listFilesTool } from '../../../../plugins/tools/files/list-files.js'
import { createPathLocks } from '../../../../plugins/tools/files/path-locks.js'
import { createSurroundings } from '../../../../plugins/tools/files/surroundings.js'
import { writeFileTool } from '../../../../plugins/tools/files/write-file.js'
import { checkTool } from '../../../conform/tool.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { makePdf } from '../../../support/pdf.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { processesFor } from '../../../support/processes.js'
import { callOf, codeOf, makeFolder, runTool, type Answer } from '../../../support/tools.js'
import { isLinear } from '../../../support/linear.js'

const digest = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')

/** A workspace with the daemon's state inside it, a folder outside, and all tools. */
const setUp = async (t: ExecutionContext) => {
  const top = await makeFolder(t)
  const [workspace, outside] = [join(top, 'work'), join(top, 'outside')]
  await mkdir(join(workspace, 'state', 'log'), { recursive: true })
  await mkdir(join(workspace, 'src', 'deep'), { recursive: true })
  await mkdir(outside)
  await writeFile(join(outside, 'secret.txt'), 'outside secret\n')
  await writeFile(join(workspace, 'state', 'log', '1.ndjson'), 'state secret\n')
  await writeFile(join(workspace, 'src', 'a.ts'), 'const a = 1\nconst b = 2\n')
  await writeFile(join(workspace, 'src', 'deep', 'c.ts'), 'export const c = 3\n')
  await writeFile(join(workspace, 'notes.md'), '# Notes\nsecret\n')
  const surroundings = createSurroundings(join(workspace, 'state'), processesFor(t))
  const tools = Object.fromEntries(
    [readFileTool, writeFileTool, editFileTool, listFilesTool, globSearchTool, grepSearchTool].map((make) => [
      make(surroundings).name,
      make(surroundings),
    ]),
  )
  const toolOf = (name: string) => {
    const tool = tools[name]
    assert(tool, `there is no tool ${name}`)
    return tool
  }
  const run = (name: string, input: Record<string, Json>): Promise<Answer> =>
    runTool(toolOf(name), input, callOf(workspace))
  return { workspace, outside, run, toolOf }
}

test('every file tool keeps the contract of tools', async (t) => {
  const { workspace, toolOf } = await setUp(t)
  await checkTool(t, {
    tool: toolOf('read_file'),
    workspace,
    good: { path: 'src/a.ts' },
    correctable: { path: 'none' },
    pathField: 'path',
    maxOutputBytes: 1_000_000,
  })
  await checkTool(t, {
    tool: toolOf('write_file'),
    workspace,
    good: { path: 'w/x.txt', content: 'x' },
    correctable: { path: 'w', content: 'x', content_base64: 'eA==' },
    pathField: 'path',
  })
  await checkTool(t, {
    tool: toolOf('edit_file'),
    workspace,
    good: { path: 'notes.md', old_string: 'Notes', new_string: 'Words' },
    correctable: { path: 'notes.md', old_string: 'nowhere', new_string: '' },
    pathField: 'path',
  })
  await checkTool(t, {
    tool: toolOf('list_files'),
    workspace,
    good: {},
    correctable: { base: 'none' },
    pathField: 'base',
  })
  await checkTool(t, {
    tool: toolOf('glob_search'),
    workspace,
    good: { pattern: '**/*.ts' },
    correctable: { pattern: '../*' },
    pathField: 'base',
  })
  await checkTool(t, {
    tool: toolOf('grep_search'),
    workspace,
    good: { pattern: 'const' },
    correctable: { pattern: '(' },
    pathField: 'base',
  })
})

test('tools-22: read_file gives lines, digest and encoding', async (t) => {
  const { workspace, run } = await setUp(t)
  t.deepEqual((await run('read_file', { path: './src/../src/a.ts', start_line: 2, line_count: 1 })).output, {
    path: 'src/a.ts',
    start_line: 2,
    line_count: 1,
    content: 'const b = 2\n',
    bytes_read: 24,
    sha256: digest('const a = 1\nconst b = 2\n'),
    encoding: 'utf-8',
    binary: false,
    truncated: false,
  })
  t.is((await run('read_file', { path: 'src/a.ts', line_count: 1 })).output['truncated'], true)
  t.is((await run('read_file', { path: 'src/a.ts', start_line: 99 })).output['content'], '')
  t.is((await run('read_file', { path: join(workspace, 'src/a.ts') })).output['path'], 'src/a.ts')
  const bytes = Buffer.from([0, 255, 1])
  await writeFile(join(workspace, 'b.bin'), bytes)
  const binary = (await run('read_file', { path: 'b.bin', include_base64: true })).output
  t.deepEqual(
    [binary['binary'], binary['encoding'], binary['content'], binary['content_base64']],
    [true, 'binary', '', bytes.toString('base64')],
  )
})

test('tools-22: read_file cuts a long text at a line, and a long line at a character', async (t) => {
  const { workspace, run } = await setUp(t)
  await writeFile(join(workspace, 'long.txt'), 'line of text\n'.repeat(50_000))
  const lines = (await run('read_file', { path: 'long.txt' })).output
  t.true(
    lines['truncated'] === true &&
      String(lines['content']).endsWith('text\n') &&
      String(lines['content']).length <= 256 * 1024,
  )
  await writeFile(join(workspace, 'wide.txt'), 'é'.repeat(300_000))
  const wide = String((await run('read_file', { path: 'wide.txt' })).output['content'])
  t.true(wide.length > 130_000 && /^é+$/u.test(wide))
  await writeFile(join(workspace, 'huge.bin'), Buffer.alloc(17 * 1024 * 1024))
  t.is(codeOf(await run('read_file', { path: 'huge.bin' })), 'file_too_large')
})

test('lines put together again are the text', (t) => {
  const text = fc.array(fc.constantFrom('a', 'é', '😀', '\n', '\r\n', '')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 4 }), (whole, count) => {
      let made = ''
      for (let line = 1, more = true; more; line += count) {
        const { content, truncated } = sliceLines(whole, line, count)
        made += content
        more = truncated
      }
      return made === whole
    }),
    { numRuns: 500 },
  )
  t.pass()
})

test('tools-21: nothing below a folder of git is changed, by whatever name it is reached', async (t) => {
  const { workspace, run } = await setUp(t)
  await mkdir(join(workspace, 'deep/.git/hooks'), { recursive: true })
  await writeFile(join(workspace, 'deep/.git/config'), 'old')
  await symlink('deep/.git', join(workspace, 'innocent'))
  for (const path of ['.git', '.git/config', 'deep/.git/config', 'deep/.GIT/hooks/x', 'innocent/config']) {
    t.is(codeOf(await run('write_file', { path, content: 'x' })), 'path_of_git', path)
    t.is(codeOf(await run('edit_file', { path, old_string: 'old', new_string: 'x' })), 'path_of_git', path)
  }
  t.is(await readFile(join(workspace, 'deep/.git/config'), 'utf8'), 'old')
  t.is(codeOf(await run('read_file', { path: 'innocent/config' })), undefined)
  t.is(codeOf(await run('write_file', { path: '.gitignore', content: 'x' })), undefined)
})

test('tools-21: links, parents and absolute paths do not lead out of the workspace or into the state', async (t) => {
  const { workspace, outside, run } = await setUp(t)
  await symlink(outside, join(workspace, 'out'))
  await symlink(join(outside, 'secret.txt'), join(workspace, 'secret-link'))
  await symlink(join(outside, 'not-yet'), join(workspace, 'dangling'))
  await symlink('state', join(workspace, 'innocent'))
  await symlink('src', join(workspace, 'fine'))
  const bad = [
    'out/secret.txt',
    'secret-link',
    'dangling',
    'dangling/x',
    'out/new.txt',
    'state/log/1.ndjson',
    'innocent/log/1.ndjson',
    'state',
    'state/new',
    `${outside}/secret.txt`,
    'fine/../../outside/secret.txt',
  ]
  for (const path of bad) {
    for (const [name, input] of Object.entries({
      read_file: { path },
      write_file: { path, content: 'x' },
      edit_file: { path, old_string: 'secret', new_string: 'x' },
      list_files: { base: path },
      glob_search: { base: path, pattern: '**' },
      grep_search: { base: path, pattern: '.' },
    })) {
      t.is(codeOf(await run(name, input)), 'path_outside_workspace', `${name} ${path}`)
    }
  }
  t.is((await run('read_file', { path: 'fine/a.ts' })).output['path'], 'src/a.ts')
  t.deepEqual(await readdir(outside), ['secret.txt'])
  t.is(await readFile(join(outside, 'secret.txt'), 'utf8'), 'outside secret\n')
  t.is(await readFile(join(workspace, 'state/log/1.ndjson'), 'utf8'), 'state secret\n')
})

test('searches do not show what lies behind links or in the state', async (t) => {
  const { workspace, outside, run } = await setUp(t)
  await symlink(outside, join(workspace, 'out'))
  await mkdir(join(workspace, 'node_modules/x'), { recursive: true })
  await writeFile(join(workspace, 'node_modules/x/y.ts'), 'secret')
  const listed = (await run('list_files', {})).output
  t.deepEqual(listed, {
    base: '.',
    paths: ['node_modules/x/y.ts', 'notes.md', 'src/a.ts', 'src/deep/c.ts'],
    truncated: false,
  })
  t.deepEqual(
    (await run('glob_search', { pattern: '**' })).output['paths'],
    ['notes.md', 'src/a.ts', 'src/deep/c.ts', 'out'].toSorted().filter((path) => path !== 'out'),
  )
  t.deepEqual((await run('glob_search', { pattern: 'node_modules/**' })).output['paths'], ['node_modules/x/y.ts'])
  const found = (await run('grep_search', { pattern: 'secret' })).output
  t.deepEqual(found['matches'], [
    { path: 'node_modules/x/y.ts', line: 1, text: 'secret' },
    { path: 'notes.md', line: 2, text: 'secret' },
  ])
})

test('a search answers for a base, a file, a limit, and patterns that are no patterns', async (t) => {
  const { workspace, run } = await setUp(t)
  t.deepEqual((await run('list_files', { base: 'src', limit: 1 })).output, {
    base: 'src',
    paths: ['src/a.ts'],
    truncated: true,
  })
  t.deepEqual((await run('glob_search', { base: 'src', pattern: '*.ts' })).output, {
    base: 'src',
    pattern: '*.ts',
    paths: ['src/a.ts'],
    truncated: false,
  })
  t.deepEqual((await run('grep_search', { base: 'src/a.ts', pattern: 'b = \\d' })).output['matches'], [
    { path: 'src/a.ts', line: 2, text: 'const b = 2' },
  ])
  t.deepEqual((await run('grep_search', { pattern: '^const', limit: 1 })).output['truncated'], true)
  t.deepEqual((await run('grep_search', { pattern: 'nothing like it' })).output['matches'], [])
  for (const pattern of ['(', '(?<=a)b', '(a)\\1'])
    t.is(codeOf(await run('grep_search', { pattern })), 'pattern_invalid')
  for (const pattern of ['../*', 'a/../../*', '/etc/*', '{.,..}/*'])
    t.is(codeOf(await run('glob_search', { pattern })), 'pattern_invalid')
  for (const pattern of ['--files', '-e', '--pre=sh'])
    t.deepEqual((await run('grep_search', { pattern })).output['matches'], [])
  await writeFile(join(workspace, 'a[1]{x} b:2:.txt'), 'odd: 1:name\n')
  t.deepEqual((await run('grep_search', { pattern: 'odd' })).output['matches'], [
    { path: 'a[1]{x} b:2:.txt', line: 1, text: 'odd: 1:name' },
  ])
})

test('glob_search knows *, **, ?, classes and braces, and takes what a pattern begins with as it stands', async (t) => {
  const { workspace, run } = await setUp(t)
  for (const name of ['top.ts', '!x.ts', '#y.ts', 'src/.hidden.ts', 'src/ünder.tsx', '.git', 'ignored.log'])
    await writeFile(join(workspace, name), 'x')
  await writeFile(join(workspace, '.gitignore'), '*.log\n')
  await mkdir(join(workspace, 'src/node_modules'))
  await writeFile(join(workspace, 'src/node_modules/z.ts'), 'x')
  const paths = async (pattern: string) => (await run('glob_search', { pattern })).output['paths']
  t.deepEqual(await paths('*.ts'), ['!x.ts', '#y.ts', 'top.ts'])
  t.deepEqual(await paths('./top.?s'), ['top.ts'])
  t.deepEqual(await paths('!x.ts'), ['!x.ts'])
  t.deepEqual(await paths('#*'), ['#y.ts'])
  t.deepEqual(await paths('src/*'), ['src/.hidden.ts', 'src/a.ts', 'src/ünder.tsx'])
  t.deepEqual(await paths('**/*.{tsx,log}'), ['ignored.log', 'src/ünder.tsx'])
  t.deepEqual(await paths('{notes.md,src/{a,deep/[a-c]}.ts}'), ['notes.md', 'src/a.ts', 'src/deep/c.ts'])
  t.deepEqual(await paths('src/[!a]*.ts'), ['src/.hidden.ts'])
  t.deepEqual(await paths('.git'), ['.git'])
  t.deepEqual(await paths('src'), [])
  t.deepEqual(await paths('nothing/like/it'), [])
  t.is((await run('glob_search', { pattern: '**', limit: 2 })).output['truncated'], true)
  for (const pattern of ['[', '{a', 'a\0b']) t.is(codeOf(await run('glob_search', { pattern })), 'pattern_invalid')
  t.is(codeOf(await run('grep_search', { pattern: 'a\0b' })), 'pattern_invalid')
})

test('tools-26: a pattern that would take exponential time and an endless line are answered soon', async (t) => {
  const { workspace, run } = await setUp(t)
  await writeFile(join(workspace, 'long.txt'), `${'a'.repeat(2_000_000)}!\n`.repeat(3))
  const began = performance.now()
  const { output } = await run('grep_search', { pattern: '(a+)+$|a{1,9}!' })
  t.true(performance.now() - began < 60_000)
  t.true(JSON.stringify(output).length < 10_000)
})

test('tools-26: pipes, devices and folders are not files, and reading one does not hang', async (t) => {
  const { workspace, run } = await setUp(t)
  execFileSync('mkfifo', [join(workspace, 'pipe')])
  for (const path of ['pipe', 'src', '.']) {
    t.is(codeOf(await run('read_file', { path })), 'path_not_a_file')
    t.true((await run('write_file', { path, content: 'x' })).is_error)
  }
  t.is(codeOf(await run('read_file', { path: 'notes.md/x' })), 'path_not_a_folder')
  t.is(codeOf(await run('write_file', { path: 'notes.md/x', content: 'x' })), 'path_not_a_folder')
})

test('tools-23: write_file makes folders, keeps the mode, and replaces the file as a whole', async (t) => {
  const { workspace, run } = await setUp(t)
  t.deepEqual((await run('write_file', { path: 'new/deep/x.txt', content: 'hé' })).output, {
    path: 'new/deep/x.txt',
    bytes_written: 3,
    sha256: digest('hé'),
  })
  await chmod(join(workspace, 'notes.md'), 0o777)
  await link(join(workspace, 'notes.md'), join(workspace, 'copy.md'))
  await run('write_file', { path: 'notes.md', content_base64: Buffer.from([1, 2]).toString('base64') })
  t.is((await stat(join(workspace, 'notes.md'))).mode & 0o777, 0o777, 'also what the mask of the process takes away')
  t.deepEqual([...(await readFile(join(workspace, 'notes.md')))], [1, 2])
  t.is(await readFile(join(workspace, 'copy.md'), 'utf8'), '# Notes\nsecret\n', 'another name of the old file keeps it')
  t.deepEqual(
    (await readdir(workspace)).filter((name) => name.startsWith('.holdfast')),
    [],
  )
})

test('tools-23: write_file wants exactly one content, and only good base64', async (t) => {
  const { run } = await setUp(t)
  t.is(codeOf(await run('write_file', { path: 'x' })), 'content_ambiguous')
  t.is(codeOf(await run('write_file', { path: 'x', content: '', content_base64: '' })), 'content_ambiguous')
  t.is(codeOf(await run('write_file', { path: 'x', content_base64: 'no base64!' })), 'content_not_base64')
  t.is(codeOf(await run('read_file', { path: 'x' })), 'path_not_found')
})

test('tools-24: an expected digest guards a write and an edit, and a repeated write is no conflict', async (t) => {
  const { run } = await setUp(t)
  const expected_sha256 = digest('# Notes\nsecret\n')
  t.is(
    codeOf(await run('write_file', { path: 'notes.md', content: 'x', expected_sha256: digest('other') })),
    'file_changed',
  )
  t.is(codeOf(await run('write_file', { path: 'absent', content: 'x', expected_sha256 })), 'file_changed')
  t.is(
    codeOf(
      await run('edit_file', {
        path: 'notes.md',
        old_string: 'secret',
        new_string: 'x',
        expected_sha256: digest('other'),
      }),
    ),
    'file_changed',
  )
  for (const _ of [1, 2])
    t.false((await run('write_file', { path: 'notes.md', content: 'x', expected_sha256 })).is_error)
})

test('tools-25: edit_file replaces exactly what was named', async (t) => {
  const { workspace, run } = await setUp(t)
  const edited = await run('edit_file', {
    path: 'src/a.ts',
    old_string: 'const',
    new_string: '$& let',
    replace_all: true,
  })
  t.deepEqual(edited.output, {
    path: 'src/a.ts',
    replacements: 2,
    bytes_written: 26,
    sha256: digest('$& let a = 1\n$& let b = 2\n'),
  })
  t.is(codeOf(await run('edit_file', { path: 'src/a.ts', old_string: 'let', new_string: 'x' })), 'text_not_unique')
  t.is(codeOf(await run('edit_file', { path: 'src/a.ts', old_string: 'gone', new_string: 'x' })), 'text_not_found')
  t.is(codeOf(await run('edit_file', { path: 'src/a.ts', old_string: 'let', new_string: 'let' })), 'text_unchanged')
  t.is(codeOf(await run('edit_file', { path: 'absent', old_string: 'a', new_string: 'b' })), 'path_not_found')
  await writeFile(join(workspace, 'bin'), Buffer.from([255, 0]))
  t.is(codeOf(await run('edit_file', { path: 'bin', old_string: 'a', new_string: 'b' })), 'file_not_text')
  const marked = Buffer.from('\uFEFFa\r\nb')
  const { bytes } = atOnce(editBytes(marked, { old_string: 'a\r\n', new_string: '', replace_all: false }))
  t.is(bytes.toString(), '\uFEFFb')
})

test('an edit is what splitting and joining the text is', (t) => {
  const text = fc.array(fc.constantFrom('a', 'b', 'aa', 'é', '😀', '\uFFFD', '\n')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, text, (whole, old_string, new_string) => {
      const parts = whole.split(old_string)
      if (old_string === '' || old_string === new_string || parts.length === 1) return
      const edited = atOnce(editBytes(Buffer.from(whole), { old_string, new_string, replace_all: true }))
      t.deepEqual([edited.bytes.toString(), edited.count], [parts.join(new_string), parts.length - 1])
    }),
    { numRuns: 2_000 },
  )
  const half = { old_string: '\ud83d', new_string: 'x', replace_all: true }
  t.throws(() => atOnce(editBytes(Buffer.from('\uFFFD 😀'), half)), { message: /not in the file/u })
})

test('an edit takes linear time and makes no file that is too large', (t) => {
  const search = (size: number): void => {
    const half = 'a'.repeat(size / 40)
    const edit = { old_string: `${half}b${half}`, new_string: '', replace_all: false }
    t.throws(() => atOnce(editBytes(Buffer.alloc(size, 'a'), edit)), { message: /not in the file/u })
  }
  t.true(isLinear(search, 4_000_000))
  const bytes = Buffer.alloc(4_000_000, 'a')
  t.is(atOnce(editBytes(bytes, { old_string: 'a', new_string: 'bb', replace_all: true })).bytes.length, 8_000_000)
  const huge = { old_string: 'a', new_string: 'b'.repeat(1_000_000), replace_all: true }
  t.throws(() => atOnce(editBytes(bytes, huge)), { message: /more than the 16777216/u })
})

test('edits of one file at the same time are all there', async (t) => {
  const { workspace, run } = await setUp(t)
  await writeFile(join(workspace, 'many.txt'), Array.from({ length: 20 }, (_, n) => `<${n}>`).join(''))
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      run('edit_file', { path: 'many.txt', old_string: `<${n}>`, new_string: `[${n}]` }),
    ),
  )
  t.deepEqual(
    answers.filter(({ is_error }) => is_error),
    [],
  )
  t.is(await readFile(join(workspace, 'many.txt'), 'utf8'), Array.from({ length: 20 }, (_, n) => `[${n}]`).join(''))
})

test('a path lock lets the next one in after a failure and forgets its paths', async (t) => {
  const locks = createPathLocks()
  const order: number[] = []
  const first = locks.hold('a', async () => {
    order.push(1)
    throw new RangeError('first')
  })
  const second = locks.hold('a', async () => {
    order.push(2)
    return 2
  })
  await t.throwsAsync(first, { message: 'first' })
  t.is(await second, 2)
  t.deepEqual(order, [1, 2])
})

test('a folder that turns into a link between two looks leads nowhere', async (t) => {
  const { workspace, outside, run } = await setUp(t)
  let going = true
  const flip = async (): Promise<void> => {
    const ignore = (): void => {}
    // A write may make the folder anew while it is away, so each step may fail.
    while (going) {
      await rename(join(workspace, 'src'), join(workspace, 'away')).catch(ignore)
      await symlink(outside, join(workspace, 'src')).catch(ignore)
      await rm(join(workspace, 'src'), { recursive: true, force: true }).catch(ignore)
      await rename(join(workspace, 'away'), join(workspace, 'src')).catch(ignore)
    }
  }
  const flipping = flip()
  try {
    for (let n = 0; n < 300; n += 1) {
      await run('write_file', { path: 'src/planted.txt', content: 'x' })
      const { output } = await run('read_file', { path: 'src/secret.txt' })
      t.false(JSON.stringify(output).includes('outside secret'))
    }
  } finally {
    going = false
    await flipping
  }
  t.deepEqual(await readdir(outside), ['secret.txt'])
})

/** Paths whose handles were synced while `work` ran, in order. */
const syncedBy = async (work: () => Promise<unknown>): Promise<string[]> => {
  const probe = await open('/')
  const prototype = Object.getPrototypeOf(probe)
  await probe.close()
  const real = prototype.sync
  const synced: string[] = []
  prototype.sync = function sync(this: { fd: number }) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`))
    return real.call(this)
  }
  try {
    await work()
  } finally {
    prototype.sync = real
  }
  return synced
}

test.serial(
  'a file in new folders is on the disk with the name of every folder, also when a repeated call finds it',
  async (t) => {
    if (process.platform !== 'linux') return t.pass()
    const { workspace, run } = await setUp(t)
    const input = { path: 'new/deeper/still/x.txt', content: 'x' }
    const folders = ['', 'new', 'new/deeper', 'new/deeper/still'].map((folder) => join(workspace, folder))
    const first = await syncedBy(() => run('write_file', input))
    t.deepEqual(
      folders.filter((folder) => !first.includes(folder.replace(/\/$/u, ''))),
      [],
    )
    const again = await syncedBy(() => run('write_file', input))
    t.deepEqual(
      [...folders, join(workspace, input.path)].filter((path) => !again.includes(path.replace(/\/$/u, ''))),
      [],
    )
  },
)

const notebook = {
  cells: [
    { cell_type: 'markdown', source: ['# Title\n', 'words'] },
    {
      cell_type: 'code',
      source: 'print(1)\n',
      outputs: [
        { output_type: 'stream', name: 'stdout', text: ['1\n'] },
        { output_type: 'display_data', data: { 'image/png': 'AAAA', 'text/plain': '<Figure>', 'text/html': '<b>' } },
        { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\u001b[31mE\u001b[0m: v'] },
      ],
    },
  ],
  nbformat: 4,
}

test('tools-56: a notebook is shown as its cells, its lines are paged, and raw shows the file', async (t) => {
  const { workspace, run } = await setUp(t)
  const text = JSON.stringify(notebook)
  await writeFile(join(workspace, 'a.ipynb'), text)
  const cells = await run('read_file', { path: 'a.ipynb' })
  t.is(
    cells.output.content,
    '--- cell 1: markdown ---\n# Title\nwords\n--- cell 2: code ---\nprint(1)\n--- output ---\n' +
      '1\n<Figure>\n[image/png]\nE: v\n',
  )
  t.like(cells.output, { shown_as: 'notebook_cells', sha256: digest(text), bytes_read: text.length, truncated: false })
  const some = await run('read_file', { path: 'a.ipynb', start_line: 2, line_count: 1 })
  t.deepEqual([some.output.content, some.output.truncated], ['# Title\n', true])
  const raw = await run('read_file', { path: 'a.ipynb', raw: true })
  t.deepEqual([raw.output.content, raw.output.shown_as], [text, undefined])
  const long = {
    cells: [{ cell_type: 'code', source: '', outputs: [{ output_type: 'stream', text: 'x'.repeat(9_000) }] }],
  }
  await writeFile(join(workspace, 'long.ipynb'), JSON.stringify(long))
  t.regex(String((await run('read_file', { path: 'long.ipynb' })).output.content), /x{4000}\n\[5000 more characters\]/u)
  for (const other of ['{"cells":1}', 'no JSON', '[]', `{"cells":${'['.repeat(9_000)}`]) {
    await writeFile(join(workspace, 'none.ipynb'), other)
    t.is((await run('read_file', { path: 'none.ipynb' })).output.content, other)
  }
})

test('tools-57: without a plugin that reads PDFs, read_file says so, and base64 is there with raw', async (t) => {
  const { workspace, run } = await setUp(t)
  const pdf = makePdf([{ content: 'BT /F1 20 Tf 10 10 Td (Words of a page) Tj ET' }])
  await writeFile(join(workspace, 'a.pdf'), pdf)
  const refused = await run('read_file', { path: 'a.pdf' })
  t.like(refused.output.error, { code: 'pdf_unreadable' })
  t.regex(JSON.stringify(refused.output), /no plugin here reads PDFs/u)
  const raw = await run('read_file', { path: 'a.pdf', raw: true, include_base64: true })
  t.is(raw.output.content_base64, pdf.toString('base64'))
})

test('tools-57: a PDF of the workspace is shown as its words, whatever its name is', async (t) => {
  const workspace = await makeFolder(t)
  const daemon = await startTestDaemon(t, { flags: { 'workspace-root': workspace } })
  await writeFile(join(workspace, 'a'), makePdf([{ content: 'BT /F1 20 Tf 10 10 Td (Words of a page) Tj ET' }]))
  await writeFile(join(workspace, 'empty.pdf'), makePdf([{ content: '' }]))
  await writeFile(join(workspace, 'broken.pdf'), '%PDF-1.7 and nothing else')
  await openSession(daemon)
  const read = async (path: string): Promise<any> => {
    const { run_id } = await submit(daemon, 's1', `/tool read_file ${JSON.stringify({ path })}`)
    await until(daemon, run_id, 'completed')
    const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
    return body.session.journal.findLast(({ type }: any) => type === 'outcome').entry.output
  }
  t.like(await read('a'), { content: 'Words of a page', shown_as: 'pdf_text', binary: false })
  t.is((await read('empty.pdf')).error.code, 'pdf_unreadable')
  t.is((await read('broken.pdf')).error.code, 'pdf_unreadable')
})
