import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readFile, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { atOnce } from '../../../../core/base/turns.js'
import { isJsonObject } from '../../../../core/plugin.js'
import { decidePermission, rulesOf } from '../../../../plugins/execution/tools/permissions.js'
import { applyPatchTool } from '../../../../plugins/tools/files/apply-patch.js'
import { fileErrors } from '../../../../plugins/tools/files/errors.js'
import { takeSteps, type OpenStep } from '../../../../plugins/tools/files/patch-files.js'
import { patchErrors } from '../../../../plugins/tools/files/patch/errors.js'
import { applyHunks } from '../../../../plugins/tools/files/patch/fit.js'
import { parsePatch } from '../../../../plugins/tools/files/patch/parse.js'
import { createSurroundings } from '../../../../plugins/tools/files/surroundings.js'
import { locate, openWorkspace, withFolder } from '../../../../plugins/tools/files/workspace.js'
import { checkTool } from '../../../conform/tool.js'
import { processesFor } from '../../../support/processes.js'
import { callOf, codeOf, makeFolder, runTool, type Answer } from '../../../support/tools.js'
import { isLinear } from '../../../support/linear.js'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const patchOf = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const update = (path: string, ...lines: string[]): string => patchOf(`*** Update File: ${path}`, ...lines)

const files = {
  'a.ts': 'const a = 1\nconst b = 2\nconst c = 3\n',
  'src/b.ts': 'class A {\n  run() {\n    return 1\n  }\n}\nclass B {\n  run() {\n    return 1\n  }\n}\n',
  'notes.md': '# Notes\n',
}

const setUp = async (t: ExecutionContext) => {
  const top = await makeFolder(t)
  const [workspace, outside] = [join(top, 'work'), join(top, 'outside')]
  await mkdir(join(workspace, 'src'), { recursive: true })
  await mkdir(join(workspace, 'state'))
  await mkdir(outside)
  await writeFile(join(outside, 'x.txt'), 'outside\n')
  for (const [path, text] of Object.entries(files)) await writeFile(join(workspace, path), text)
  const tool = applyPatchTool(createSurroundings(join(workspace, 'state'), processesFor(t)))
  const run = (patch: string): Promise<Answer> => runTool(tool, { patch }, callOf(workspace))
  const read = (path: string): Promise<string> => readFile(join(workspace, path), 'utf8')
  return { workspace, outside, tool, run, read }
}

const sentenceOf = ({ output: { error } }: Answer): string => String(isJsonObject(error) ? error['message'] : '')

/** Every file below a folder with its content. */
const contentsOf = async (folder: string): Promise<Record<string, string>> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const read = found
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => [
      join(parentPath, name).slice(folder.length + 1),
      await readFile(join(parentPath, name), 'utf8'),
    ])
  return Object.fromEntries(await Promise.all(read))
}

test('apply_patch keeps the contract of tools', async (t) => {
  const { workspace, tool } = await setUp(t)
  await checkTool(t, {
    tool,
    workspace,
    good: { patch: update('a.ts', '@@', '-const b = 2', '+const b = 20') },
    correctable: { patch: 'no patch' },
  })
})

test('tools-4: acceptEdits lets apply_patch pass, plan mode does not, and by itself it asks', async (t) => {
  const { tool } = await setUp(t)
  const decide = (mode: 'default' | 'acceptEdits' | 'plan') =>
    decidePermission({ tool_name: tool.name, mode, rules: [rulesOf(tool)] }).decision
  t.deepEqual([decide('default'), decide('acceptEdits'), decide('plan')], ['ask', 'allow', 'deny'])
})

test('tools-38: apply_patch updates, adds, deletes and renames, and tells what it did', async (t) => {
  const { workspace, run, read } = await setUp(t)
  await chmod(join(workspace, 'a.ts'), 0o751)
  const { output, is_error } = await run(
    patchOf(
      '*** Update File: a.ts',
      '*** Move to: lib/deep/a.ts',
      '@@',
      ' const a = 1',
      '-const b = 2',
      '+const b = 20',
      '+const bb = 22',
      '',
      '*** Add File: new/n.txt',
      '+one',
      '+',
      '+three',
      '*** Delete File: notes.md',
      '*** Update File: src/b.ts',
      '@@ class B {',
      '@@ run() {',
      '-    return 1',
      '+    return 2',
    ),
  )
  t.false(is_error, JSON.stringify(output))
  const moved = 'const a = 1\nconst b = 20\nconst bb = 22\nconst c = 3\n'
  const b = 'class A {\n  run() {\n    return 1\n  }\n}\nclass B {\n  run() {\n    return 2\n  }\n}\n'
  t.deepEqual(await contentsOf(workspace), { 'lib/deep/a.ts': moved, 'new/n.txt': 'one\n\nthree\n', 'src/b.ts': b })
  t.is((await stat(join(workspace, 'lib/deep/a.ts'))).mode & 0o777, 0o751)
  t.deepEqual(output['files'], [
    { path: 'lib/deep/a.ts', change: 'moved', from: 'a.ts', bytes_written: moved.length, sha256: digest(moved) },
    { path: 'new/n.txt', change: 'added', bytes_written: 11, sha256: digest('one\n\nthree\n') },
    { path: 'notes.md', change: 'deleted' },
    { path: 'src/b.ts', change: 'updated', bytes_written: b.length, sha256: digest(b) },
  ])
  t.is(await read('src/b.ts'), b)
})

test('tools-38: of a patch with one wrong part nothing is done', async (t) => {
  const { workspace, outside, run } = await setUp(t)
  await symlink(outside, join(workspace, 'out'))
  await symlink('notes.md', join(workspace, 'link.md'))
  await writeFile(join(workspace, 'bin'), Buffer.from([255, 0]))
  const before = await contentsOf(workspace)
  const good = ['*** Update File: a.ts', '@@', '-const a = 1', '+const a = 10', '*** Add File: first/new.txt', '+x']
  const bad: [string, string[]][] = [
    [patchErrors.hunk_not_found.code, ['*** Update File: notes.md', '@@', '-# Nothing']],
    [patchErrors.hunk_ambiguous.code, ['*** Update File: src/b.ts', '@@', '-    return 1']],
    [patchErrors.patch_path_taken.code, ['*** Add File: notes.md', '+x']],
    [patchErrors.patch_path_taken.code, ['*** Add File: src', '+x']],
    [patchErrors.patch_path_taken.code, ['*** Update File: notes.md', '*** Move to: src/b.ts']],
    [patchErrors.patch_path_twice.code, ['*** Update File: ./src/../a.ts', '@@', '-const b = 2']],
    [patchErrors.patch_path_twice.code, ['*** Add File: first/new.txt/below', '+x']],
    [fileErrors.path_not_found.code, ['*** Delete File: none']],
    [fileErrors.path_not_found.code, ['*** Update File: none', '@@', '-x']],
    [fileErrors.path_not_a_file.code, ['*** Delete File: src']],
    [fileErrors.path_not_a_file.code, ['*** Delete File: link.md']],
    [fileErrors.path_not_a_folder.code, ['*** Add File: notes.md/x', '+x']],
    [fileErrors.file_not_text.code, ['*** Update File: bin', '@@', '-x']],
    [fileErrors.path_outside_workspace.code, ['*** Add File: ../x', '+x']],
    [fileErrors.path_outside_workspace.code, ['*** Add File: out/new.txt', '+x']],
    [fileErrors.path_outside_workspace.code, ['*** Delete File: out/x.txt']],
    [fileErrors.path_outside_workspace.code, ['*** Update File: notes.md', '*** Move to: state/x']],
    [fileErrors.path_of_git.code, ['*** Add File: .git/config', '+x']],
    [fileErrors.path_of_git.code, ['*** Update File: notes.md', '*** Move to: src/.git/hooks/x']],
    [patchErrors.patch_too_large.code, Array.from({ length: 100 }, (_, n) => `*** Add File: many/${n}`)],
  ]
  for (const [code, lines] of bad) {
    const answer = await run(patchOf(...good, ...lines))
    t.is(codeOf(answer), code, lines.join(' '))
    t.deepEqual(await contentsOf(workspace), before, lines.join(' '))
  }
  t.deepEqual((await readdir(workspace)).toSorted(), ['a.ts', 'bin', 'link.md', 'notes.md', 'out', 'src', 'state'])
  t.deepEqual(await contentsOf(outside), { 'x.txt': 'outside\n' })
  t.regex(sentenceOf(await run(patchOf('*** Delete File: none'))), /^none: .*No file was changed\.$/u)
})

test('tools-38: a file that is no longer wanted goes whatever it holds, and a link leads to what it is for', async (t) => {
  const { workspace, run, read } = await setUp(t)
  await symlink('a.ts', join(workspace, 'link.ts'))
  await writeFile(join(workspace, 'bin'), Buffer.from([255, 0]))
  const answer = await run(patchOf('*** Delete File: bin', '*** Update File: link.ts', '@@', '-const a = 1'))
  t.false(answer.is_error, JSON.stringify(answer.output))
  t.is(await read('a.ts'), 'const b = 2\nconst c = 3\n')
  t.is(codeOf(await run(patchOf('*** Delete File: bin'))), 'path_not_found')
})

test('tools-38: where the system fails between two files the model is told which are done', async (t) => {
  const { workspace, read } = await setUp(t)
  const space = await openWorkspace({ workspace }, '/nowhere')
  const [a, notes] = [await locate(space, 'a.ts'), await locate(space, 'notes.md')]
  await withFolder(await locate(space, '.'), {
    use: async (folder) => {
      const gone = { ...folder, at: (name: string) => join(workspace, 'gone', name) }
      const first: OpenStep = { step: { type: 'remove', place: a }, folder }
      const second: OpenStep = { step: { type: 'remove', place: notes }, folder: gone }
      const failed = await t.throwsAsync(takeSteps([first, second], ['', '']), {
        message: /Done: a\.ts\. Not done: notes\.md/u,
      })
      t.is(failed === undefined || !('code' in failed) ? undefined : failed.code, patchErrors.patch_incomplete.code)
      await t.throwsAsync(takeSteps([second], ['']), { message: /ENOENT/u })
    },
  })
  t.is(await read('notes.md'), '# Notes\n')
})

test('tools-39: after a kill between two files each is the old one or the new one, and the effect says so', async (t) => {
  const { workspace, tool, read } = await setUp(t)
  t.is(tool.effect, 'once')
  const moduleOf = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../../..', path)).href)
  const patch = patchOf('*** Update File: a.ts', '@@', '-const a = 1', '*** Update File: notes.md', '@@', '-# Notes')
  const script = `
    import { promises } from 'node:fs'
    const { applyPatchTool } = await import(${moduleOf('plugins/tools/files/apply-patch.js')})
    const { createSurroundings } = await import(${moduleOf('plugins/tools/files/surroundings.js')})
    const rename = promises.rename
    let count = 0
    promises.rename = (...paths) => (++count === 2 ? process.kill(process.pid, 'SIGKILL') : rename(...paths))
    const call = { workspace: ${JSON.stringify(workspace)}, key: 'k', signal: new AbortController().signal }
    await applyPatchTool(createSurroundings('/nowhere', undefined)).run({ patch: ${JSON.stringify(patch)} }, call)`
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  t.is(signal, 'SIGKILL')
  t.deepEqual([await read('a.ts'), await read('notes.md')], ['const b = 2\nconst c = 3\n', '# Notes\n'])
})

const fit = (text: string, ...lines: string[]): string => {
  const [patch] = parsePatch(update('f', ...lines))
  return patch?.type === 'update' ? atOnce(applyHunks(text, patch.hunks, 'f')) : ''
}

test('tools-55: what a killed call left in a folder goes when the next one writes there, but not what is new', async (t) => {
  const { workspace, run } = await setUp(t)
  const names = ['.holdfast-0123456789abcdef.tmp', '.holdfast-fedcba9876543210.tmp', '.holdfast-mine.tmp']
  const [dead = '', , mine = ''] = names
  for (const name of names) await writeFile(join(workspace, name), 'left')
  const anHourAgo = Date.now() / 1_000 - 3_600
  for (const name of [dead, mine]) await utimes(join(workspace, name), anHourAgo, anHourAgo)
  t.false((await run(update('src/b.ts', '@@ class A {', '   run() {', '-    return 1', '+    return 2'))).is_error)
  t.true((await readdir(workspace)).includes(dead), 'another folder is left alone')
  t.false((await run(update('a.ts', '-const a = 1', '+const a = 2'))).is_error)
  t.deepEqual(
    (await readdir(workspace)).filter((name) => name.startsWith('.holdfast')).toSorted(),
    names.slice(1).toSorted(),
  )
})

test('tools-40: a hunk that fits nowhere is told with its line and the nearest one of the file', (t) => {
  const text = 'first\n  second line of it\nthird\nfourth\n'
  const told = (...lines: string[]): string => t.throws(() => fit(text, ...lines))?.message ?? ''
  t.regex(
    told('@@', ' first', '-  second line of that'),
    /^Hunk 1 of f .*"  second line of that" .* line 2 .*line of it"/u,
  )
  t.regex(told('@@', '-first', '@@', '-second line of'), /^Hunk 2 of f .*"second line of" .* line 2 /u)
  t.regex(told('@@ thirt', '-fourth'), /"thirt" .* line 3 of the file, "third"/u)
  t.regex(told('@@', ' fourth', ' fifth', '+x'), /"fifth" .* line 5 of the file, its end/u)
  t.regex(told('@@', '-fourth', '@@', '-first'), /Hunk 2 of f fits only at line 1, before the hunk above/u)
  t.is(t.throws(() => fit(text, '@@', '-fourth', '@@', '-first'))?.message.includes('No file was changed'), true)
  t.true(patchErrors.hunk_out_of_order.code === 'hunk_out_of_order')
})

test('tools-40: a hunk that fits at two places is refused unless a line above it tells them apart', (t) => {
  const text = 'a:\n  x\n  y\nb:\n  x\n  y\nc:\n  x\n'
  t.throws(() => fit(text, '@@', '-  x', '+  z'), { message: /fits at line 2 and at line 5/u })
  t.is(fit(text, '@@ b:', '-  x', '+  z'), 'a:\n  x\n  y\nb:\n  z\n  y\nc:\n  x\n')
  t.is(fit(text, '@@ b:', ' b:', '-  x', '+  z'), 'a:\n  x\n  y\nb:\n  z\n  y\nc:\n  x\n', 'the line may stand twice')
  t.is(fit(text, '@@', '-  x', '*** End of File'), 'a:\n  x\n  y\nb:\n  x\n  y\nc:\n')
  t.throws(() => fit('h\n  x\nh\n  x\n', '@@ h', '-  x'), { message: /fits at line 2 and at line 4/u })
  t.throws(() => fit('n\nn\nn\n', '@@', '-n', '-n'), { message: /fits at line 1 and at line 2/u })
  t.is(fit(text, '@@ a:', '-  y', '@@ a:', '-b:'), 'a:\n  x\n  x\n  y\nc:\n  x\n', 'also above the hunk before')
})

test('tools-40: lines that differ in what stands at their end only are the same, and indentation counts', (t) => {
  t.is(fit('a  \nb\n', '@@', ' a', '-b', '+c'), 'a  \nc\n')
  t.throws(() => fit('  a\nb\n', '@@', ' a', '-b'), { message: /fits nowhere/u })
  t.is(fit('a  \na\n', '@@', '-a', '+b'), 'a  \nb\n', 'the exact line comes first')
})

test('tools-41: what a patch does not name stays byte for byte, with its line ends', (t) => {
  t.is(fit('a\r\nb\r\nc\r\n', '@@', ' a', '-b', '+B', '+BB'), 'a\r\nB\r\nBB\r\nc\r\n')
  t.is(fit('a\r\nb\nc\r\n', '@@', '-b', '+B', '@@', ' c', '+d'), 'a\r\nB\nc\r\nd\r\n', 'each as its neighbours')
  t.is(fit('a\nb', '@@', '-b', '+B'), 'a\nB', 'without a line end at the end')
  t.is(fit('a\nb', '@@', ' b', '+c'), 'a\nb\nc')
  t.is(fit('a\r\nb', '@@', ' b', '+c'), 'a\r\nb\r\nc')
  t.is(fit('a\nb\n', '@@', '+c'), 'a\nb\nc\n', 'lines without a place go to the end')
  t.is(fit('', '@@', '+a'), 'a\n')
  t.is(fit('a\n', '@@', '-a'), '')
  t.is(fit('\uFEFFa\nb\n', '@@', '-a', '+A'), '\uFEFFA\nb\n')
  t.is(fit('a\nb\nc\n', '@@ a', '+x'), 'a\nx\nb\nc\n')
  t.is(fit('a\nb\n', '-b', '+c'), 'a\nc\n', 'the first hunk needs no @@')
  t.is(fit('a\nb\n', '@@ -1,2 +1,2 @@', '-b', '+c'), 'a\nc\n', 'numbers of another format say nothing')
  t.is(fit('a\n\nb\n', '@@', ' a', '', '-b', '+c'), 'a\n\nc\n', 'an empty line is one of the file')
  t.is(fit('a\nb\n', '@@', '-b', '+c', ''), 'a\nc\n', 'and at the end it may part two sections')
})

test('tools-41: any lines may be replaced by any others', (t) => {
  const word = fc.constantFrom('a', 'b', 'c', '', ' x', 'é😀')
  const line = fc.tuple(fc.constantFrom<' ' | '-' | '+'>(' ', '-', '+'), word)
  const head = 'the only one'
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.boolean(), fc.constantFrom('\n', '\r\n'), (hunk, ended, end) => {
      const side = (gone: string) => hunk.filter(([kind]) => kind !== gone).map(([, text]) => text)
      if (!ended && (side('+').at(-1) === '' || side('-').at(-1) === '')) return
      const whole = (lines: string[]) => ['top', head, ...lines].join(end) + (ended ? end : '')
      t.is(fit(whole(side('+')), ` ${head}`, ...hunk.map((parts) => parts.join(''))), whole(side('-')))
    }),
    { numRuns: 2_000 },
  )
})

test('tools-42: what is no patch is refused with the line that is wrong', (t) => {
  const bad: [string, number][] = [
    ['hello', 1],
    ['*** Begin Patch\n*** Add File: a\n+x', 3],
    [patchOf(), 2],
    [patchOf('*** Add File: a', '+x', 'y'), 4],
    [patchOf('*** Rename File: a'), 2],
    [patchOf('*** Update File: a'), 2],
    [patchOf('*** Update File: a', '@@'), 3],
    [patchOf('*** Update File: a', '@@', '-x', '!y'), 5],
    [patchOf('', '*** Delete File: a', 'x'), 4],
  ]
  for (const [patch, line] of bad)
    t.throws(() => parsePatch(patch), { message: new RegExp(`^Line ${line} of the patch is wrong: `, 'u') }, patch)
  t.is(patchErrors.patch_invalid.code, 'patch_invalid')
  t.deepEqual(parsePatch('\n*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\n'), [
    { type: 'add', path: 'a', content: 'x\n' },
  ])
})

test('tools-42: a patch of a long file takes linear time, and ends when nobody waits for it', async (t) => {
  const half = Array.from({ length: 200 }, () => '-a')
  const search = (size: number): void => {
    const text = 'a\n'.repeat(size)
    t.throws(() => fit(text, '@@', ...half, '-b', ...half), { message: /fits nowhere/u })
  }
  t.true(isLinear(search, 800_000))
  const { workspace, tool } = await setUp(t)
  const patch = update('a.ts', '@@', '-const a = 1')
  const answer = await runTool(tool, { patch }, callOf(workspace, { signal: AbortSignal.abort() }))
  t.is(codeOf(answer), fileErrors.call_stopped.code)
})
