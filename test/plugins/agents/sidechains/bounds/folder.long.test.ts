/** The folder that an agent works in, and what of it others may have. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import {
  agentOf,
  call,
  does,
  resultsIn,
  rowsOf,
  settled,
  spawn,
  startDirected,
  told,
  untilAgent,
} from '../../../../support/agents.js'
import { createCommandLine } from '../../../../support/command-line.js'
import { freshRoot } from '../../../../support/daemon.js'
import { hasGit, makeRepository } from '../../../../support/repositories.js'
import { codeOf, submit, until } from '../../../../support/runs.js'
import { locate, locateToChange, openWorkspace } from '../../../../../plugins/tools/files/workspace.js'

const start = async (t: ExecutionContext, workspace: string, more: object = {}) => {
  const flags = { 'workspace-root': workspace, 'permission-mode': 'bypassPermissions' }
  const daemon = await startDirected(t, {}, { flags, ...more })
  const read = async (session_id: string, path: string): Promise<any> => {
    await does(daemon, session_id, call('read_file', { path }))
    return resultsIn(daemon.asked.at(-1)).at(-1)
  }
  return Object.assign(daemon, { read })
}

const furnish = (workspace: string): void => {
  mkdirSync(join(workspace, 'a', 'b'), { recursive: true })
  writeFileSync(join(workspace, 'top.txt'), 'top')
  writeFileSync(join(workspace, 'a', 'mid.txt'), 'mid')
  writeFileSync(join(workspace, 'a', 'b', 'deep.txt'), 'deep')
  symlinkSync('/etc', join(workspace, 'a', 'out'))
  symlinkSync('..', join(workspace, 'a', 'up'))
  symlinkSync('b', join(workspace, 'a', 'link'))
}

const folderOf = async (t: ExecutionContext): Promise<string> => {
  const workspace = await freshRoot()
  t.teardown(() => rmSync(workspace, { recursive: true, force: true }))
  furnish(workspace)
  return workspace
}

test('agents-21: an agent sees its folder as the workspace, and those below it that or less', async (t) => {
  const workspace = await folderOf(t)
  const daemon = await start(t, workspace)
  const { body: child } = await spawn(daemon, daemon.parent, { cwd: 'a', ...told('/say hi') })
  t.is((await agentOf(daemon, child.agent_id)).cwd, 'a')
  await settled(daemon, child.agent_id)
  t.is((await daemon.read(child.session_id, 'mid.txt')).content, 'mid')
  t.is((await daemon.read(child.session_id, '../top.txt')).error.code, 'path_outside_workspace')
  t.is((await daemon.read(child.session_id, join(workspace, 'top.txt'))).error.code, 'path_outside_workspace')
  await does(daemon, child.session_id, call('bash', { command: 'pwd; cat mid.txt' }))
  t.regex(JSON.stringify(resultsIn(daemon.asked.at(-1)).at(-1)), /\/a\\nmid/u)
  t.regex(daemon.asked.at(-1)?.system ?? '', /Your tools work in the folder "a" of the workspace/u)
  await does(
    daemon,
    child.session_id,
    call('spawn_agent', { name: 'x', cwd: 'link', prompt: call('read_file', { path: 'deep.txt' }), wait: true }),
    call('spawn_agent', { name: 'y', cwd: '..', prompt: '/say no' }),
    call('spawn_agent', { name: 'z', prompt: '/say as mine', wait: true }),
  )
  const [x, y, z] = resultsIn(daemon.asked.at(-1)).slice(-3)
  t.deepEqual([(await agentOf(daemon, x.agent_id)).cwd, (await agentOf(daemon, z.agent_id)).cwd], ['a/b', 'a'])
  t.is(y.error.code, 'agent_widened')
  t.is((await daemon.read(x.session_id, 'deep.txt')).content, 'deep')
  const rows: any[] = (await daemon.request('GET', `/v1/agents/${child.agent_id}/audit`)).body
  t.deepEqual(rows.at(-1).narrowed, ['credential_scope', 'cwd'])
  const line = createCommandLine(daemon)
  t.regex((await line('agents', 'explain', daemon.parent, '--cwd', 'a/b')).out, /folder +a\/b/u)
  t.regex((await line('agents', 'spawn', daemon.parent, 'n', '/say hi', '--cwd', 'nope')).err, /no folder nope/u)
})

test('agents-21: what is not a folder within that of the parent is refused, and nothing is made', async (t) => {
  const workspace = await folderOf(t)
  const root = join(workspace, 'a', 'state')
  const daemon = await start(t, workspace, { root })
  const count = (await rowsOf(daemon)).length
  const wide = ['..', '../x', 'a/../..', '/', '/etc', 'a/out', 'a/state', 'a/state/data']
  for (const cwd of wide) t.deepEqual(codeOf(await spawn(daemon, daemon.parent, { cwd })), [400, 'agent_widened'], cwd)
  for (const cwd of ['nope', 'top.txt', 'a/b/deep.txt'])
    t.deepEqual(codeOf(await spawn(daemon, daemon.parent, { cwd })), [400, 'agent_folder_not_found'], cwd)
  for (const cwd of ['', 'a\u0000b', 7]) t.is((await spawn(daemon, daemon.parent, { cwd })).status, 400)
  t.is((await rowsOf(daemon)).length, count)
  const below = (await spawn(daemon, daemon.parent, { cwd: join(workspace, 'a') })).body.agent_id
  for (const cwd of ['..', 'up', join(workspace, 'a', '..'), workspace])
    t.deepEqual(codeOf(await spawn(daemon, below, { cwd })), [400, 'agent_widened'], cwd)
  const { body } = await daemon.request('POST', `/v1/agents/${below}/sidechains/explain`, { cwd: 'b' })
  t.like(body, { allowed: true, cwd: 'a/b' })
  t.is((await agentOf(daemon, (await spawn(daemon, daemon.parent, { cwd: 'a/up' })).body.agent_id)).cwd, undefined)
})

test('agents-21: a run whose folder is gone, or leads elsewhere by now, fails and does nothing', async (t) => {
  const workspace = await folderOf(t)
  const outside = await folderOf(t)
  const daemon = await start(t, workspace)
  const { body: child } = await spawn(daemon, daemon.parent, { cwd: 'a/b' })
  const swap = `cd .. && mv b ${join(workspace, 'kept')} && ln -s ${outside} b`
  const calls = [call('read_file', { path: 'top.txt' }), call('write_file', { path: 'new.txt', content: 'x' })]
  await does(
    daemon,
    child.session_id,
    call('bash', { command: swap }),
    '---',
    ...calls,
    call('bash', { command: 'pwd' }),
  )
  t.deepEqual(
    resultsIn(daemon.asked.at(-1))
      .slice(-3)
      .map(({ error }) => error.code),
    Array.from({ length: 3 }, () => 'run_folder_not_found'),
    'while it goes on',
  )
  t.false(existsSync(join(outside, 'new.txt')))
  rmSync(join(workspace, 'a', 'b'))
  renameSync(join(workspace, 'kept'), join(workspace, 'a', 'b'))
  const body = {
    content: call('bash', { command: swap }),
    completion_requirements: [{ type: 'workspace_file', path: 'top.txt' }],
  }
  const { run_id } = (await daemon.request('POST', `/v1/sessions/${child.session_id}/runs`, body)).body
  const { error } = await until(daemon, run_id, 'failed')
  t.regex(error, /top\.txt/u, 'what stands elsewhere is nothing that the run has made')
  rmSync(join(workspace, 'a', 'b'))
  renameSync(join(workspace, 'kept'), join(workspace, 'a', 'b'))
  renameSync(join(workspace, 'a', 'b'), join(workspace, 'kept'))
  const fails = async (): Promise<void> => {
    const run = await does(daemon, child.session_id, call('read_file', { path: 'deep.txt' }))
    t.is(run.status, 'failed')
    t.regex(run.error, /^run_folder_not_found: /u)
  }
  await fails()
  symlinkSync(outside, join(workspace, 'a', 'b'))
  await fails()
  rmSync(join(workspace, 'a', 'b'))
  renameSync(join(workspace, 'kept'), join(workspace, 'a', 'b'))
  t.is((await daemon.read(child.session_id, 'deep.txt')).content, 'deep')
})

test('agents-21, tools-21: the folder of an agent is none of git, and git is none of what its file tools change', async (t) => {
  const workspace = await folderOf(t)
  mkdirSync(join(workspace, 'a', '.Git', 'hooks'), { recursive: true })
  const daemon = await start(t, workspace)
  for (const cwd of ['a/.Git', 'a/.Git/hooks'])
    t.deepEqual(codeOf(await spawn(daemon, daemon.parent, { cwd })), [400, 'agent_widened'], cwd)
  const within = realpathSync(workspace)
  const inner = await openWorkspace({ workspace: join(within, 'a', '.Git'), within }, '/nowhere')
  t.is((await t.throwsAsync(locateToChange(inner, 'hooks/new')))?.message.includes('git'), true)
  await t.notThrowsAsync(locate(inner, 'hooks/new'))
  const elsewhere = openWorkspace({ workspace: join(within, 'a', 'link'), within }, '/nowhere')
  t.regex((await t.throwsAsync(elsewhere))?.message ?? '', /not inside/u)
})

test('agents-21, approvals-21: a path or a command that is granted in the workspace is another one in a folder of its own', async (t) => {
  const workspace = await folderOf(t)
  const daemon = await start(t, workspace, { flags: { 'workspace-root': workspace } })
  const input = { path: 'granted.txt', content: 'x' }
  t.is((await daemon.request('POST', '/v1/grants', { tool_name: 'write_file', input })).status, 201)
  const script = call('write_file', input)
  const { run_id } = await submit(daemon, 's1', script)
  await until(daemon, run_id, 'completed')
  t.true(existsSync(join(workspace, 'granted.txt')))
  const { body: child } = await spawn(daemon, daemon.parent, { cwd: 'a', ...told(script) })
  await untilAgent(daemon, child.agent_id, ({ status }) => status === 'waiting_for_approval')
  t.false(existsSync(join(workspace, 'a', 'granted.txt')))
  const [asking] = (await daemon.request('GET', `/v1/runs?session_id=${child.session_id}`)).body
  t.is(asking.pending_approvals[0].cwd, 'a', 'approvals-2')
  const line = createCommandLine(daemon)
  t.regex((await line('runs', 'get', asking.run_id)).out, /in +the folder a of the workspace/u)
  t.is(JSON.parse((await line('approvals', '--output', 'json')).out)[0].cwd, 'a')
})

test('agents-21, hooks-11: hooks are told the folder of an agent, of which paths of its calls are', async (t) => {
  const workspace = await folderOf(t)
  const daemon = await start(t, workspace)
  const command = 'cat > told.json'
  const hooks = { pre_tool_use: [{ name: 'look', matcher: 'read_file', executor: { type: 'command', command } }] }
  t.is((await daemon.request('POST', '/v1/runtime/hooks', { hooks })).status, 200)
  const toldOf = async (session_id: string, path: string): Promise<any> => {
    await does(daemon, session_id, call('read_file', { path }))
    return JSON.parse(readFileSync(join(workspace, 'told.json'), 'utf8')).cwd
  }
  t.is(await toldOf('s1', 'top.txt'), workspace)
  const { body: child } = await spawn(daemon, daemon.parent, { cwd: 'a' })
  t.is(await toldOf(child.session_id, 'mid.txt'), join(realpathSync(workspace), 'a'))
})

const inGit = hasGit ? test : test.skip
inGit('agents-21, worktrees-5: in a worktree it is the same folder of that', async (t) => {
  const workspace = await makeRepository(t, { 'a/one.txt': 'one\n', 'two.txt': 'two\n' })
  const daemon = await start(t, workspace)
  const fork = { parent_assistant_message: '', inherited_tool_call_ids: [], system_prompt: '', isolation: 'worktree' }
  const { body: child } = await spawn(daemon, daemon.parent, { cwd: 'a', fork_context: fork })
  writeFileSync(join(workspace, 'a', 'one.txt'), 'changed\n')
  t.is((await daemon.read(child.session_id, 'one.txt')).content, 'one\n', 'as it was committed')
  t.is((await daemon.read(child.session_id, '../two.txt')).error.code, 'path_outside_workspace')
  const { body: none } = await spawn(daemon, daemon.parent, { cwd: 'later', fork_context: fork })
  const run = await does(daemon, none.session_id, call('read_file', { path: 'one.txt' }))
  t.regex(run.error, /^run_folder_not_found: /u)
})
