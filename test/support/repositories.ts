/** Real git repositories for tests. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { makeFolder } from './tools.js'

export const hasGit = spawnSync('git', ['--version']).status === 0

const identity = {
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.org',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.org',
  GIT_CONFIG_GLOBAL: '/dev/null',
}

/** What git says, without the line end behind it. */
export const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...identity },
  }).trimEnd()

export const writeFiles = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
}

/** A repository with one commit that has these files. */
export const makeRepository = async (
  t: ExecutionContext<any>,
  files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' },
): Promise<string> => {
  const folder = await makeFolder(t)
  await writeFiles(folder, files)
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'first')
  return folder
}

/** Paths of the worktrees that git knows beside the first one. */
export const worktreesOf = (repository: string): string[] =>
  git(repository, 'worktree', 'list', '--porcelain')
    .split('\n')
    .flatMap((line) => (line.startsWith('worktree ') ? [line.slice(9)] : []))
    .slice(1)

/** Throws where git finds anything wrong with what it keeps. */
export const checkSound = (repository: string): void => void git(repository, 'fsck', '--full', '--strict')

/** What `git fsck` says of references alone, as its exit status: a worktree that is being made has none yet. */
const wrongReferences = 8

/** As `checkSound`, while git may still be at work, or has been ended in it. */
export const checkObjects = (repository: string): void => {
  const { status, stderr } = spawnSync('git', ['fsck', '--full', '--strict'], { cwd: repository, encoding: 'utf8' })
  if (status !== 0 && status !== wrongReferences) throw new TypeError(stderr)
}
