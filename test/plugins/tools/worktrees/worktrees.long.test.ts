/** Runs with a git worktree of their own; docs/rules/worktrees.md. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { definePlugin } from '../../../../core/plugin.js'
import { Interceptors } from '../../../../plugins/execution/interception/contract.js'
import { scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { freshRoot, startTestDaemon, type TestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { createCommandLine } from '../../../support/command-line.js'
import { git, hasGit, makeRepository, worktreesOf, writeFiles } from '../../../support/repositories.js'
import { codeOf, openSession, until } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'

const clock = createClock()
/** Needs git: elsewhere ava says that these were skipped. */
const real = hasGit ? test : test.skip
const hasWalls =
  spawnSync('/usr/bin/bwrap', ['--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'])
    .status === 0
const walled = hasGit && hasWalls ? test : test.skip

const start = async (
  t: ExecutionContext,
  workspace: string,
  { flags, ...options }: TestDaemonOptions = {},
): Promise<TestDaemon> => {
  const daemon = await startTestDaemon(t, {
    ...options,
    flags: { 'workspace-root': workspace, 'permission-mode': 'bypassPermissions', ...flags },
  })
  await openSession(daemon)
  return daemon
}

const submit = async (daemon: TestDaemon, content: string, more: object = { isolation: 'worktree' }): Promise<any> =>
  daemon.request('POST', '/v1/sessions/s1/runs', { content, ...more })

const view = async (daemon: TestDaemon, run_id: string): Promise<any> =>
  (await daemon.request('GET', `/v1/runs/${run_id}`)).body

/** A run that has ended, when it is decided what becomes of its worktree. */
const run = async (daemon: TestDaemon, content: string, more?: object): Promise<any> => {
  const { body } = await submit(daemon, content, more)
  await until(daemon, body.run_id, 'completed', 'failed')
  return settled(daemon, body.run_id)
}
const settled = async (daemon: TestDaemon, run_id: string): Promise<any> => {
  for (;;) {
    const now = await view(daemon, run_id)
    if (now.worktree === undefined || now.worktree.state === 'kept') return now
    await clock.sleep(5)
  }
}

const outputs = async (daemon: TestDaemon, run_id: string): Promise<any[]> =>
  (await daemon.request('GET', `/v1/sessions/s1/events`)).body.session.journal
    .filter((entry: any) => entry.run_id === run_id && entry.type === 'outcome')
    .map(({ entry }: any) => entry.output)

const folders = (daemon: TestDaemon): string[] => {
  const top = join(daemon.root, 'worktrees')
  return existsSync(top) ? readdirSync(top) : []
}

real('worktrees-1: a run works in a worktree of its own, from HEAD of the workspace', async (t) => {
  const workspace = await makeRepository(t, { 'a.txt': 'one\n', 'deep/b.txt': 'two\n' })
  await writeFiles(workspace, { 'a.txt': 'not committed\n' })
  const daemon = await start(t, workspace)
  const done = await run(
    daemon,
    '/tool read_file {"path":"a.txt"}\n---\n/tool write_file {"path":"deep/b.txt","content":"changed"}\n---\n' +
      '/tool bash {"command":"pwd; cat deep/b.txt; git rev-parse HEAD"}',
  )
  t.is(done.status, 'completed')
  const [read, , shell] = await outputs(daemon, done.run_id)
  t.is(read.content, 'one\n')
  t.is(shell.stdout, `${done.worktree.path}\nchanged${done.worktree.base_commit}\n`)
  t.is(done.worktree.base_commit, git(workspace, 'rev-parse', 'HEAD'))
  t.is(readFileSync(join(workspace, 'deep/b.txt'), 'utf8'), 'two\n')
  t.is(readFileSync(join(workspace, 'a.txt'), 'utf8'), 'not committed\n')
})

real('worktrees-2: a run says whether it has one, else its session does; a retry has what its run had', async (t) => {
  const daemon = await start(t, await makeRepository(t))
  const set = await daemon.request('PUT', '/v1/sessions/s1/isolation', { isolation: 'worktree' })
  t.is(set.body.isolation, 'worktree')
  const alone = await run(daemon, '/tool write_file {"path":"b","content":""}', {})
  const shared = await run(daemon, 'hello', { isolation: 'shared' })
  t.deepEqual([alone.isolation, alone.worktree.state, shared.isolation], ['worktree', 'kept', undefined])
  t.is((await daemon.request('PUT', '/v1/sessions/s1/isolation', { isolation: 'branch' })).status, 400)
  const again = await daemon.request('POST', '/v1/sessions/s1/isolation', { isolation: 'worktree' })
  t.deepEqual([again.status, again.body.isolation], [200, 'worktree'], 'both methods set it')
  await daemon.request('DELETE', '/v1/sessions/s1/isolation')
  t.is((await run(daemon, 'hello', {})).isolation, undefined)
  const failed = await run(daemon, '/fail fatal no')
  t.is(failed.status, 'failed')
  const retried = await daemon.request('POST', `/v1/runs/${failed.run_id}/retry`)
  t.is(retried.body.isolation, 'worktree')
  await until(daemon, retried.body.run_id, 'failed')
  await settled(daemon, retried.body.run_id)
})

real(
  'worktrees-3: one without changes goes with the end of its run, one with changes is kept until removed',
  async (t) => {
    const workspace = await makeRepository(t, { 'a.txt': 'one\n', '.gitignore': 'built/\n' })
    const daemon = await start(t, workspace)
    const idle = await run(daemon, '/tool write_file {"path":"built/x","content":"ignored"}')
    t.deepEqual([idle.isolation, idle.worktree], ['worktree', undefined])
    t.deepEqual([folders(daemon), worktreesOf(workspace)], [[], []])
    const busy = await run(daemon, '/tool write_file {"path":"new.txt","content":"new"}')
    const committed = await run(
      daemon,
      '/tool bash {"command":"echo 2 > a.txt && git -c user.name=a -c user.email=a@b commit -qam second && git status -s"}',
    )
    t.deepEqual([busy.worktree.state, committed.worktree.state], ['kept', 'kept'])
    t.is(readFileSync(join(busy.worktree.path, 'new.txt'), 'utf8'), 'new')
    const listed = await daemon.request('GET', '/v1/worktrees')
    t.deepEqual(
      listed.body.map(({ run_id, kept_for }: any) => [run_id, kept_for]),
      [
        [busy.run_id, 'changes'],
        [committed.run_id, 'changes'],
      ],
    )
    for (const { run_id } of [busy, committed])
      t.is((await daemon.request('DELETE', `/v1/worktrees/${run_id}`)).body.run_id, run_id)
    t.deepEqual([folders(daemon), worktreesOf(workspace)], [[], []])
    t.deepEqual(codeOf(await daemon.request('DELETE', `/v1/worktrees/${busy.run_id}`)), [404, 'worktree_not_found'])
  },
)

real('worktrees-4: where none can be made the run is refused with the reason, and nothing is accepted', async (t) => {
  const [plain, bare] = [await makeFolder(t), await makeFolder(t)]
  git(bare, 'init', '-q')
  for (const [workspace, reason] of [
    [plain, 'not a git repository'],
    [bare, 'has no commit yet'],
  ] as const) {
    const daemon = await start(t, workspace)
    const refused = await submit(daemon, 'hello')
    t.deepEqual(codeOf(refused), [409, 'isolation_unavailable'])
    t.true(refused.body.detail.includes(reason), refused.body.detail)
    t.regex(refused.body.action, /holdfast sessions set-isolation \S+ shared$/u)
    t.notRegex(refused.body.action, /SESSION_ID/u)
    t.deepEqual((await daemon.request('GET', '/v1/runs')).body, [])
    t.is((await submit(daemon, 'hello', { isolation: 'shared' })).status, 202)
    await daemon.stop()
  }
  const inside = join(await makeRepository(t), 'untracked')
  await mkdir(inside)
  const daemon = await start(t, inside)
  const failed = await run(daemon, 'hello')
  t.is(failed.status, 'failed')
  t.regex(failed.error, /^isolation_unavailable: .*not in the last commit/u)
  t.deepEqual(folders(daemon), [])
})

real('worktrees-4: without the plugin a run that wants one is refused', async (t) => {
  const { shipped } = await import('../../../../plugins/index.js')
  const daemon = await start(t, await makeRepository(t), { shipped: shipped.filter(({ id }) => id !== 'worktrees') })
  const refused = await submit(daemon, 'hello')
  t.deepEqual(codeOf(refused), [409, 'isolation_unavailable'])
  t.regex(refused.body.detail, /the plugin worktrees is off/u)
})

real('worktrees-5: paths of tools do not lead out of the worktree, not into the workspace either', async (t) => {
  const workspace = await makeRepository(t, { 'sub/a.txt': 'one\n', 'top.txt': 'top\n' })
  await symlink(workspace, join(workspace, 'sub/way-out'))
  git(workspace, 'add', '-A')
  git(workspace, 'commit', '-q', '-m', 'a link')
  const daemon = await start(t, join(workspace, 'sub'))
  const paths = ['../top.txt', join(workspace, 'sub/a.txt'), 'way-out/top.txt', '../../../../root.json']
  const done = await run(
    daemon,
    [...paths.map((path) => `/tool read_file ${JSON.stringify({ path })}`), '/tool read_file {"path":"a.txt"}'].join(
      '\n',
    ),
  )
  const answers = await outputs(daemon, done.run_id)
  t.deepEqual(
    answers.slice(0, 4).map(({ error }) => error?.code),
    paths.map(() => 'path_outside_workspace'),
  )
  t.is(answers[4].content, 'one\n')
})

real(
  'worktrees-6: no hook of the repository runs, submodules are left alone, and what a run puts at .git counts for nothing',
  async (t) => {
    const inner = await makeRepository(t)
    const workspace = await makeRepository(t)
    git(workspace, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner')
    git(workspace, 'commit', '-q', '-m', 'a submodule')
    await writeFiles(workspace, { 'nested/x': 'x' })
    git(join(workspace, 'nested'), 'init', '-q')
    for (const name of ['post-checkout', 'post-index-change', 'reference-transaction']) {
      const file = join(workspace, '.git/hooks', name)
      await writeFiles(workspace, { [`.git/hooks/${name}`]: `#!/bin/sh\ntouch ${workspace}/hook-ran\n` })
      chmodSync(file, 0o755)
    }
    const daemon = await start(t, workspace)
    const idle = await run(daemon, '/tool list_files {"path":"."}')
    t.is(idle.worktree, undefined)
    const tricked = await run(
      daemon,
      '/tool bash {"command":"echo new > a.txt; rm .git; git init -q .; git config core.fsmonitor \\"touch hook-ran\\""}',
    )
    t.is(tricked.worktree.state, 'kept')
    t.false(existsSync(join(workspace, 'hook-ran')))
    t.false(existsSync(join(tricked.worktree.path, 'hook-ran')))
    t.is((await daemon.request('DELETE', `/v1/worktrees/${tricked.run_id}`)).status, 200)
    t.deepEqual(worktreesOf(workspace), [])
  },
)

real(
  'worktrees-6: no filter that the repository names is run, neither to fill a worktree nor to look at it',
  async (t) => {
    const workspace = await makeRepository(t, { 'a.txt': 'one\n', '.gitattributes': '*.txt filter=x\n' })
    const mark = join(workspace, 'filter-ran')
    for (const kind of ['smudge', 'clean', 'process'])
      git(workspace, 'config', `filter.x.${kind}`, `touch ${mark}; cat`)
    await writeFiles(workspace, { '.git/info/attributes': '* filter=x\n', '.git/info/exclude': 'left-out\n' })
    const daemon = await start(t, workspace)
    const same = await run(
      daemon,
      '/tool bash {"command":"touch a.txt left-out; git symbolic-ref HEAD refs/heads/main"}',
    )
    t.is(same.worktree, undefined, 'what is left out by the repository is no change, and neither is a branch')
    const changed = await run(daemon, '/tool write_file {"path":"a.txt","content":"two"}')
    t.is(changed.worktree.state, 'kept')
    t.false(existsSync(mark))
    t.deepEqual(folders(daemon).length, 1)
  },
)

real('worktrees-7: a run that waits for a person finds its worktree again after a restart', async (t) => {
  const [root, workspace] = [await freshRoot(), await makeRepository(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const flags = { 'permission-mode': 'acceptEdits' }
  const first = await start(t, workspace, { root, flags })
  const { body } = await submit(
    first,
    '/tool write_file {"path":"b.txt","content":"kept"}\n---\n/tool bash {"command":"cat b.txt; pwd"}',
  )
  const waits = await until(first, body.run_id, 'waiting_for_approval')
  t.is(waits.worktree.state, 'in_use')
  t.deepEqual(codeOf(await first.request('DELETE', `/v1/worktrees/${body.run_id}`)), [409, 'worktree_in_use'])
  await first.stop()
  const second = await start(t, workspace, { root, flags })
  const [request_id] = waits.pending_approval_ids
  await second.request('POST', `/v1/runs/${body.run_id}/approvals`, {
    resolutions: [{ request_id, behavior: 'allow' }],
  })
  await until(second, body.run_id, 'completed')
  t.is((await outputs(second, body.run_id))[1].stdout, `kept${waits.worktree.path}\n`)
  t.is((await settled(second, body.run_id)).worktree.path, waits.worktree.path)
  await second.stop()
})

real('worktrees-7: a worktree that is gone fails its run, and a repository that is gone loses nothing', async (t) => {
  const workspace = await makeRepository(t)
  const daemon = await start(t, workspace, { flags: { 'permission-mode': 'default' } })
  const wait = async (): Promise<any> => {
    const { body } = await submit(daemon, '/tool bash {"command":"true"}')
    return until(daemon, body.run_id, 'waiting_for_approval')
  }
  const deny = ({ run_id, pending_approval_ids: [request_id] }: any) =>
    daemon.request('POST', `/v1/runs/${run_id}/approvals`, { resolutions: [{ request_id, behavior: 'deny' }] })
  const lost = await wait()
  await rm(lost.worktree.path, { recursive: true })
  await deny(lost)
  const failed = await until(daemon, lost.run_id, 'failed')
  t.regex(failed.error, /^isolation_unavailable: .* is gone/u)
  const alone = await wait()
  await rename(join(workspace, '.git'), join(workspace, 'git-elsewhere'))
  await deny(alone)
  await until(daemon, alone.run_id, 'completed')
  const kept = await settled(daemon, alone.run_id)
  t.is(kept.worktree.state, 'kept')
  t.true(existsSync(join(kept.worktree.path, 'a.txt')))
})

real('worktrees-8: no run gets one beyond worktrees.most, kept ones included', async (t) => {
  const daemon = await start(t, await makeRepository(t), { config: { worktrees: { most: 1 } } })
  const kept = await run(daemon, '/tool write_file {"path":"b","content":""}')
  const refused = await submit(daemon, 'hello')
  t.deepEqual(codeOf(refused), [409, 'isolation_unavailable'])
  t.regex(refused.body.detail, /there are 1 worktrees/u)
  await daemon.request('DELETE', `/v1/worktrees/${kept.run_id}`)
  t.is((await run(daemon, 'hello')).status, 'completed')
})

real('worktrees-9: a file that a run must make is looked for in its worktree', async (t) => {
  const workspace = await makeRepository(t)
  const daemon = await start(t, workspace)
  const completion_requirements = [{ type: 'workspace_file', path: 'b.txt' }]
  const made = await run(daemon, '/tool bash {"command":"echo made > b.txt"}', {
    isolation: 'worktree',
    completion_requirements,
  })
  t.deepEqual([made.status, made.worktree.state], ['completed', 'kept'])
  await writeFiles(workspace, { 'b.txt': 'of somebody else' })
  const missed = await run(daemon, '/sleep 1', { isolation: 'worktree', completion_requirements })
  t.is(missed.status, 'failed')
})

real('worktrees-10: it is kept while a background command of its run works on there', async (t) => {
  const [root, workspace] = [await freshRoot(), await makeRepository(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const first = await start(t, workspace, { root })
  const left = await run(first, '/tool bash {"command":"sleep 600","run_in_background":true}')
  t.is(left.worktree.state, 'kept')
  t.is((await first.request('GET', '/v1/worktrees')).body[0].kept_for, 'background_command')
  await first.stop()
  const second = await start(t, workspace, { root })
  t.is((await settled(second, left.run_id)).worktree, undefined)
  t.deepEqual(worktreesOf(workspace), [])
  await second.stop()
})

real('worktrees-11: the model is told where it works, and one that shares the workspace is not', async (t) => {
  const { plugin, config, requests } = scriptedProvider([[text('Done.')], [text('Done.')]])
  const daemon = await start(t, await makeRepository(t), { plugins: [plugin], config })
  await run(daemon, 'hello')
  await run(daemon, 'hello', {})
  t.regex(requests[0]?.system ?? '', /<worktree>[^]*of this run alone, at .*\/worktrees\//u)
  t.notRegex(requests[1]?.system ?? '', /<worktree>/u)
})

walled(
  'worktrees-12: in the sandbox a command writes to its worktree and can commit, and does not write to the workspace',
  async (t) => {
    const workspace = await makeRepository(t)
    const daemon = await start(t, workspace, {
      config: { shell: { sandbox: 'required' } },
    })
    const command =
      'echo 2 > a.txt && git -c user.name=a -c user.email=a@b commit -qam second && git log --format=%s -1; ' +
      `echo x > ${workspace}/x; echo x > ${workspace}/.git/hooks/pre-commit; ls ${workspace}/.git/hooks | grep -x pre-commit`
    const done = await run(daemon, `/tool bash ${JSON.stringify({ command })}`)
    const [output] = await outputs(daemon, done.run_id)
    t.like(output, { stdout: 'second\n', sandboxed: true }, JSON.stringify(output))
    t.false(existsSync(join(workspace, 'x')))
  },
)

real('worktrees-14: hooks are told of a worktree that was made and of one that was removed', async (t) => {
  const told: any[] = []
  const listener = definePlugin({
    id: 'listener',
    version: '1.0.0',
    api: 1,
    summary: 'Listens.',
    register: (ctx) => {
      ctx.contribute(Interceptors, {
        id: 'listener',
        rank: 1,
        wants: (event) => event.startsWith('worktree_'),
        intercept: (invocation) => {
          told.push(invocation)
          return Promise.resolve(undefined)
        },
      })
    },
  })
  const daemon = await start(t, await makeRepository(t), { plugins: [listener] })
  const { run_id } = await run(daemon, 'hello')
  t.deepEqual(
    told.map((one) => [one.event, one.run_id, one.payload.path === one.subject]),
    ['worktree_create', 'worktree_remove'].map((event) => [event, run_id, true]),
  )
})

real('worktrees-15: what would go with a worktree is told, and only --discard removes it', async (t) => {
  const workspace = await makeRepository(t, { 'a.txt': 'one\n' })
  const daemon = await start(t, workspace)
  const holdfast = createCommandLine(daemon)
  const { run_id, worktree } = await run(
    daemon,
    '/tool bash {"command":"git -c user.name=n -c user.email=e commit -q --allow-empty -m more; mkdir new; echo x > new/w.txt; echo two > a.txt"}',
  )
  const commit = git(worktree.path, 'rev-parse', 'HEAD')
  const plan = (await daemon.request('DELETE', `/v1/worktrees/${run_id}?dry_run=true`)).body
  t.deepEqual(plan.loss, { files: [' M a.txt', '?? new/w.txt'], commits: [commit] })
  const told = await holdfast('worktrees', 'remove', run_id)
  t.is(told.code, 1)
  for (const part of [
    'Nothing was removed',
    ' M a.txt',
    '?? new/w.txt',
    `commit ${commit}`,
    `remove --discard ${run_id}`,
  ])
    t.true(told.out.includes(part), part)
  const [, see = ''] = /^See it: (.*)$/mu.exec(told.out) ?? []
  t.true(spawnSync('sh', ['-c', see], { encoding: 'utf8' }).stdout.includes('new/w.txt'))
  t.true(existsSync(join(worktree.path, 'new/w.txt')))
  const done = await holdfast('worktrees', 'remove', run_id, '--discard')
  t.deepEqual([done.code, done.out], [0, `Removed: ${worktree.path}\n`])
  t.false(existsSync(worktree.path))
})

real('worktrees-16: the commands that are told for a worktree run nothing that its run has named', async (t) => {
  const workspace = await makeRepository(t, { 'a.txt': 'one\n', 'deep/b.txt': 'two\n' })
  const daemon = await start(t, join(workspace, 'deep'))
  const as = 'git -c user.name=n -c user.email=e'
  const command = [
    'echo two > ../a.txt; echo x > new.txt',
    `${as} commit -q --allow-empty -m more`,
    `git init -q ../inner; ${as} -C ../inner commit -q --allow-empty -m x; git add ../inner`,
    'git -C ../inner config core.fsmonitor "touch ran; false"; echo x > ../inner/x',
    'cd ..; rm .git; git init -q .; git config core.fsmonitor "touch ran; false"; git config alias.branch "!touch ran"',
  ].join('; ')
  const { run_id } = await run(daemon, `/tool bash ${JSON.stringify({ command })}`)
  const [row] = (await daemon.request('GET', '/v1/worktrees')).body
  const [worktree, path] = [row.work_tree, `${row.work_tree}/deep`]
  t.like(row, { path, git_dir: realpathSync(row.git_dir), repository: join(realpathSync(workspace), '.git') })
  const told = await createCommandLine(daemon)('worktrees', 'remove', run_id)
  const [see = '', keep = ''] = ['See it', 'Keep the commits'].map(
    (what) => new RegExp(`^${what}: (.*)$`, 'mu').exec(told.out)?.[1],
  )
  const shown = spawnSync('sh', ['-c', see], { encoding: 'utf8', cwd: worktree })
  t.deepEqual(shown.stdout.match(/(?<=^diff --git a\/)\S+/gmu), ['a.txt', 'deep/new.txt'], shown.stderr)
  spawnSync('sh', ['-c', keep], { cwd: worktree })
  t.is(git(workspace, 'log', '-1', '--format=%s', 'NAME'), 'more')
  t.is(git(workspace, 'status', '--short'), '', 'what is staged in the workspace is as it was')
  t.deepEqual(
    [worktree, `${worktree}/inner`, path].map((folder) => existsSync(join(folder, 'ran'))),
    [false, false, false],
  )
})
