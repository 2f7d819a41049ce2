import test, { type ExecutionContext } from 'ava'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { copyRoot } from '../../../support/crash.js'
import { openSession, until } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { makeFolder } from '../../../support/tools.js'

const report = { type: 'workspace_file', path: 'report.md' }

const start = async (
  t: ExecutionContext,
  play: Play,
  { root, workspace }: { root?: string; workspace?: string } = {},
) => {
  const model = scriptedProvider(play)
  const folder = workspace ?? (await makeFolder(t))
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, tools: { permission_mode: 'bypassPermissions' } },
    flags: { 'workspace-root': folder },
    ...(root !== undefined && { root }),
  })
  const send = (completion_requirements: unknown) =>
    daemon.request('POST', '/v1/sessions/s1/runs', { content: 'go', completion_requirements })
  if (root === undefined) await openSession(daemon)
  /** Submits and waits for the end. */
  const run = async (...requirements: unknown[]): Promise<any> =>
    until(daemon, (await send(requirements)).body.run_id, 'completed', 'failed')
  return { daemon, model, folder, send, run, file: (name: string) => path.join(folder, name) }
}

const write = (name: string, content = 'new') => [
  callTool(`w${name}`, 'write_file', { path: name, content }),
  done('tool_calls'),
]
const says = (said: string) => [text(said), done()]
/** The last thing that the model is shown. */
const last = (messages: readonly { role: string }[]): string => JSON.stringify(messages.at(-1))

test('runs-12: any file that a patch adds is a file that the run has made', async (t) => {
  const patch = '*** Begin Patch\n*** Add File: report.md\n+new\n*** End Patch'
  const { run } = await start(t, (_, count) =>
    count === 1 ? [callTool('p', 'apply_patch', { patch }), done('tool_calls')] : says('Patched.'),
  )
  const { status, outputs } = await run({ type: 'workspace_file' })
  t.deepEqual([status, outputs.map(({ content }: any) => content)], ['completed', ['Patched.']])
})

test('a model that has not done what it must is told so, and its run completes when it has', async (t) => {
  const { run, model } = await start(t, ({ messages }, count) =>
    count === 1
      ? says('All done, I promise.')
      : messages.at(-1)?.role === 'tool'
        ? says('Now it is there.')
        : write('report.md'),
  )
  const { status, outputs } = await run(report)
  t.is(status, 'completed')
  t.deepEqual(
    outputs.map(({ content }: any) => content),
    ['Now it is there.'],
  )
  t.regex(last(model.requests[1]?.messages ?? []), /"role":"user".*not created or updated the file report\.md/u)
})

test('runs-13: a run that goes on without doing it fails after two reminders', async (t) => {
  const { run, model, file } = await start(t, () => says('It is done.'))
  writeFileSync(file('report.md'), 'from yesterday')
  const { status, error, outputs } = await run(report, { type: 'workspace_file' })
  t.is(status, 'failed')
  t.is(
    error,
    'completion_requirement_unmet: the run did not create or update the file report.md, a file of the workspace.',
  )
  t.is(outputs, undefined)
  t.is(model.requests.length, 3)
})

test(
  'a file counts as updated when its content, or the file itself, is another one, and when a call of the run ' +
    'wrote what was there',
  async (t) => {
    const { run, file } = await start(t, ({ messages }, count) => {
      if (count === 1) writeFileSync(file('report.md'), 'changed by a command')
      return messages.at(-1)?.role === 'user' && count === 2 ? write('report.md', 'changed by a command') : says('ok')
    })
    writeFileSync(file('report.md'), 'before')
    t.is((await run(report)).status, 'completed')
    t.is((await run(report)).status, 'completed')
    t.is((await run(report)).status, 'failed')
  },
)

test('any file means one that a call of this run wrote and that is there at the end', async (t) => {
  const { daemon, run, file } = await start(t, ({ messages }) => {
    if (messages.at(-1)?.role === 'tool') {
      if (last(messages).includes('gone.txt')) rmSync(file('gone.txt'), { force: true })
      return says('ok')
    }
    const before = messages.filter(({ role }) => role === 'assistant').length
    if (before === 0) return write('a/b.txt')
    if (before === 2) return write('gone.txt')
    return before === 6 ? [callTool('r', 'read_file', { path: 'a/b.txt' }), done('tool_calls')] : says('ok')
  })
  mkdirSync(file('a'))
  for (const expected of ['completed', 'failed', 'failed'])
    t.is((await run({ type: 'workspace_file' })).status, expected)
  t.is((await daemon.request('GET', '/v1/runs')).body.length, 3)
})

test('what a required file was is kept through a death, and what happened before the run does not count', async (t) => {
  let reached = (): void => {}
  const entered = new Promise<void>((resolve) => {
    reached = resolve
  })
  const first = await start(t, async function* (_, __, signal) {
    writeFileSync(first.file('report.md'), 'made by this run')
    reached()
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    yield* says('late')
  })
  const { run_id } = (await first.send([report])).body
  await entered
  const root = path.join(await freshRoot(), 'root')
  copyRoot(first.daemon.root, root)
  const second = await start(t, () => says('It was me.'), { root, workspace: first.folder })
  t.is((await until(second.daemon, run_id, 'completed', 'failed')).status, 'completed')
  t.is((await second.run(report)).status, 'failed')
  await first.daemon.request('POST', `/v1/runs/${run_id}/cancel`)
})

test('a requirement that names nothing inside the workspace is refused', async (t) => {
  const { send, folder, file, daemon } = await start(t, () => says('ok'))
  symlinkSync('/', file('out'))
  mkdirSync(path.join(folder, 'sub'))
  for (const at of ['../x', '/etc/passwd', 'out/etc/x', '.', 'sub/', 'a\0b']) {
    const { status, body } = await send([report, { type: 'workspace_file', path: at }])
    t.deepEqual(
      [status, body.code, body.errors[0].path],
      [400, 'completion_requirement_invalid', 'body.completion_requirements.1.path'],
      at,
    )
  }
  t.deepEqual((await daemon.request('GET', '/v1/runs')).body, [])
})
