/** What commands behind walls may do in the git folders of the workspace. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createSandbox } from '../../../../../plugins/tools/shell/sandbox/sandbox.js'
import { takeAway } from '../../../../../plugins/tools/shell/sandbox/git-folders.js'
import { supervisedFor } from '../../../../support/processes.js'
import { checkSound, git, hasGit, makeRepository, writeFiles } from '../../../../support/repositories.js'
import { makeFolder } from '../../../../support/tools.js'

const hasWalls =
  spawnSync('/usr/bin/bwrap', ['--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'])
    .status === 0
/** Needs git and bubblewrap: elsewhere ava says that these were skipped. */
const walled = hasGit && hasWalls ? test : test.skip

interface Wish {
  readonly workspace: string
  readonly sandbox_writable?: string[]
  readonly isBackground?: boolean
}

/** Runs commands in the sandbox of a workspace; gives what they said, and what was taken away behind each. */
const openWalls = async (t: ExecutionContext, { workspace, sandbox_writable = [], isBackground = false }: Wish) => {
  const stateRoot = await makeFolder(t)
  const listener = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(listener))
  const settings = { sandbox: 'required', sandbox_network: false, sandbox_writable, sandbox_hidden: [] } as const
  const sandbox = createSandbox({ supervised: supervisedFor(t, stateRoot), settings, stateRoot })
  const name = ['AUTHOR', 'COMMITTER'].map((who) => [`GIT_${who}_NAME`, 'n'] as const)
  const mail = ['AUTHOR', 'COMMITTER'].map((who) => [`GIT_${who}_EMAIL`, 'e'] as const)
  const environment = { PATH: '/usr/bin:/bin', HOME: '/nowhere', ...Object.fromEntries([...name, ...mail]) }
  return async (command: string) => {
    const wrapped = await sandbox.wrap({ command, workspace, folder: workspace, environment, isBackground })
    if (wrapped.type === 'refused' || typeof wrapped.run === 'string') return t.fail(JSON.stringify(wrapped))
    const [program = '', ...args] = wrapped.run
    const { stdout, stderr, status } = spawnSync(program, args, { encoding: 'utf8', env: wrapped.environment })
    return { stdout, stderr, status, taken: await takeAway(wrapped.absent) }
  }
}
type Walls = Awaited<ReturnType<typeof openWalls>>

const refuses = async (t: ExecutionContext, run: Walls, commands: readonly string[]): Promise<void> => {
  for (const command of commands) {
    const end = await run(command)
    t.true(end?.status !== 0 || end.taken.length > 0, `${command}: ${JSON.stringify(end)}`)
  }
}

walled('tools-58: in the sandbox git commits, and changes neither settings nor hooks', async (t) => {
  const workspace = await makeRepository(t)
  const run = await openWalls(t, { workspace })
  const before = readdirSync(join(workspace, '.git'))
  const work =
    'echo 2 > a.txt && git add a.txt && git commit -qm second && git switch -qc other && echo 3 > a.txt && ' +
    'git stash -q && git stash pop -q && git commit -qam third && git tag x && git gc -q 2>/dev/null; git log --format=%s'
  t.like(await run(work), { stdout: 'third\nsecond\nfirst\n', status: 0, taken: [] })
  t.like(await run('git config a.b c'), { status: 4, taken: [] })
  await refuses(t, run, [
    'git remote add origin /x',
    'echo x > .git/config',
    'echo x > .git/hooks/pre-commit',
    'rm .git/config',
    'mv .git/hooks .git/h',
    'mv .git g',
    'rm -rf .git/hooks/*; rmdir .git/hooks',
  ])
  t.is(git(workspace, 'log', '-1', '--format=%s'), 'third')
  checkSound(workspace)
  const made = ['COMMIT_EDITMSG', 'ORIG_HEAD', 'AUTO_MERGE', 'packed-refs', 'logs', 'gc.log', 'gc.pid']
  const left = readdirSync(join(workspace, '.git')).filter((name) => !before.includes(name) && !made.includes(name))
  t.deepEqual(left, [], 'the walls leave nothing behind')
})

walled('tools-58: what git would heed and was not there is taken away when the command has ended', async (t) => {
  const workspace = await makeRepository(t)
  const run = await openWalls(t, { workspace })
  await rm(join(workspace, '.git/hooks'), { recursive: true })
  const names = ['commondir', 'config.worktree', 'hooks']
  for (const name of names) {
    const path = join(workspace, '.git', name)
    for (const make of [`echo x > .git/${name}`, `mkdir -p .git/${name}/x`, `ln -s ../x .git/${name}`]) {
      t.deepEqual((await run(make))?.taken, [path], make)
      t.false(existsSync(path), make)
    }
  }
  t.is(git(workspace, 'status', '--short'), '')
  const later = await openWalls(t, { workspace, isBackground: true })
  await refuses(t, later, ['echo x > .git/commondir', 'git commit -q --allow-empty -m x', 'mkdir .git/hooks'])
  await writeFiles(workspace, { '.git/elsewhere/x': '' })
  spawnSync('ln', ['-s', 'elsewhere', join(workspace, '.git/hooks')])
  await refuses(t, run, ['rm .git/hooks', 'echo x > .git/elsewhere/pre-commit'])
})

walled('tools-58: below the top of a repository, in a worktree, and for submodules it is the same', async (t) => {
  const inner = await makeRepository(t)
  const top = await makeRepository(t, { 'deep/a.txt': 'one\n' })
  git(top, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner')
  git(top, 'commit', '-q', '-m', 'a submodule')
  const beside = join(await makeFolder(t), 'beside')
  git(top, 'worktree', 'add', '-q', '--detach', beside)
  const shared = await openWalls(t, { workspace: top })
  const gitDir = join(top, '.git/worktrees/beside')
  await refuses(t, shared, [
    'git -C inner config a.b c',
    'echo x > .git/modules/inner/hooks/pre-commit',
    `echo x > ${gitDir}/commondir`,
  ])
  const deep = await openWalls(t, { workspace: join(top, 'deep') })
  t.deepEqual((await deep('git init -q .'))?.taken, [join(top, 'deep/.git')])
  await refuses(t, deep, ['echo x > ../.git/hooks/pre-commit', 'echo x > ../.git/x'])
  const alone = await openWalls(t, { workspace: beside })
  await refuses(t, alone, ['rm .git', 'echo x > .git', 'mv .git g', 'git config a.b c'])
  const open = await openWalls(t, { workspace: beside, sandbox_writable: [join(top, '.git')] })
  t.like(await open('git commit -q --allow-empty -m there; git log -1 --format=%s'), { stdout: 'there\n' })
  await refuses(t, open, [`echo x > ${gitDir}/commondir`, `echo x > ${top}/.git/hooks/x`, 'git config a.b c'])
  const own = await openWalls(t, {
    workspace: beside,
    sandbox_writable: [gitDir, ...['objects', 'refs', 'logs'].map((name) => join(top, '.git', name))],
  })
  t.like(await own('git commit -q --allow-empty -m here; git log -1 --format=%s'), { stdout: 'here\n' })
  await refuses(t, own, [`echo x > ${gitDir}/commondir`, `echo x > ${gitDir}/gitdir`, 'rm .git'])
})
