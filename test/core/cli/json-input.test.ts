import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { createCommandLine } from '../../support/command-line.js'
import { mainFile, startTestDaemon } from '../../support/daemon.js'

/** Nobody is asked. */
const line = createCommandLine({ url: 'http://127.0.0.1:1' })

test('command-line-4: what is no JSON, or a file that cannot be read, is told with its flag before anybody is asked, and so is a member that is given twice', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'json-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [half, large, twice] = [join(folder, 'half'), join(folder, 'large'), join(folder, 'twice')]
  const bytes = join(folder, 'bytes')
  await writeFile(bytes, Buffer.from('{"a":"\u00ff"}', 'latin1'))
  await writeFile(twice, '{"hooks":{"stop":[],"stop":[]}}')
  await writeFile(half, '{"hooks":}')
  await writeFile(large, ' '.repeat(1024 * 1024 + 1))
  const set = ['runtime', 'hooks', 'set'] as const
  for (const [words, said] of [
    [['mcp', 'call', 'mcp__a__b', '--input-json', '{"a":1'], /^holdfast: --input-json gives what is not JSON/u],
    [['mcp', 'prompt', 'a', 'b', '--arguments-json', 'x'], /^holdfast: --arguments-json gives what is not JSON/u],
    [['mcp', 'call', 'mcp__a__b', '--input-json', '{}', '--stdin'], /--input-json does not go with --stdin/u],
    [
      [...set, '--file', half],
      /--file gives what is not JSON: \S+half, line 1, column 10: there must be a value \(flag_invalid\)$/mu,
    ],
    [
      [...set, '--file', twice],
      /--file gives what is not taken: \S+twice, hooks\.stop is given twice \(flag_invalid\)$/mu,
    ],
    [['playbooks', 'validate', '--manifest-json', '{"title":"a","title":"b"}'], /not taken: title is given twice/u],
    [[...set, '--file', bytes], /--file gives what is not taken: \S+bytes, it must be UTF-8 \(flag_invalid\)$/mu],
    [[...set, '--file', join(folder, 'no')], /^holdfast: The file \S+ cannot be used: it does not exist\./u],
    [[...set, '--file', large], /cannot be used: it is larger than 1024 KiB/u],
    [['runtime', 'learning-policy', 'set', '--file', half], /--file gives what is not JSON/u],
  ] as const)
    t.regex((await line(...words)).err, said, words.join(' '))
})

test('command-line-4: a document of more than a secret may have is taken, from a file and from standard input', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'json-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const { url } = await startTestDaemon(t)
  const executor = { type: 'command', command: `: ${'x'.repeat(9_000)}` }
  const hooks = { stop: Array.from({ length: 10 }, (_, at) => ({ name: `h${at}`, executor })) }
  const file = join(folder, 'hooks.json')
  await writeFile(file, JSON.stringify({ hooks }))
  const set = createCommandLine({ url })
  t.like(await set('runtime', 'hooks', 'set', '--file', file), { code: 0, err: '' })
  const child = spawn(process.execPath, [mainFile, `--base-url=${url}`, 'runtime', 'hooks', 'set', '--stdin'])
  const exited = once(child, 'close')
  child.stdin.end(JSON.stringify({ hooks }))
  t.is((await exited)[0], 0)
})
