/** One worktree on the disk: how git makes it, what it says of changes in it, and how it goes. */
import { realFolder, type WorkFolders } from '../../../core/plugin.js'
import { runErrors } from '../../execution/runs/contract.js'
import type { Git } from './git.js'
import { askOwnGit, removeOwnGit } from './own-git.js'
import type { WorktreeLoss } from './contract.js'
import type { WorktreeRecord } from './store.js'

export interface Ground {
  readonly git: Git
  readonly folders: WorkFolders
  /** The folder that runs share. */
  readonly workspace: string
}

/** Where the workspace is in its repository, and what is checked out there. */
export interface Place {
  readonly repository: string
  readonly prefix: string
  readonly base_commit: string
}

/** `isolation_unavailable` for a run of the session, with the end of a sentence. */
export const unavailable = (session_id: string, reason: string) =>
  runErrors.isolation_unavailable({ details: { reason, session_id } })

/** Throws `isolation_unavailable` where the workspace is in no repository with a commit. */
export const lookAt = async ({ git, workspace }: Ground, session_id: string, signal: AbortSignal): Promise<Place> => {
  const ask = async (...args: string[]): Promise<string> => {
    const answer = await git({ folder: workspace, args: ['rev-parse', ...args], signal })
    if (!answer.ok) throw unavailable(session_id, answer.reason)
    return answer.said.replace(/\n$/u, '')
  }
  if ((await ask('--is-inside-work-tree')) !== 'true')
    throw unavailable(session_id, 'the workspace is in no working tree of a git repository')
  const base = await git({ folder: workspace, args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], signal })
  if (!base.ok) throw unavailable(session_id, 'the repository of the workspace has no commit yet')
  return {
    repository: await ask('--path-format=absolute', '--git-common-dir'),
    prefix: await ask('--show-prefix'),
    base_commit: base.said.trim(),
  }
}

/** Where the run works: the workspace's own place within the worktree. */
export const folderOf = ({ folders }: Pick<Ground, 'folders'>, { name, prefix }: WorktreeRecord): string =>
  `${folders.path(name)}/${prefix}`.replace(/\/$/u, '')

/** True if the folder is there, and no link leads out of the worktree on the way to it. */
export const isWhole = (ground: Pick<Ground, 'folders'>, record: WorktreeRecord): boolean => {
  const [top, folder] = [realFolder(ground.folders.path(record.name)), realFolder(folderOf(ground, record))]
  return (
    top !== undefined && folder?.isFolder === true && `${top.path}/${record.prefix}`.replace(/\/$/u, '') === folder.path
  )
}

/** Has git make it; gives the git folder of the worktree. Throws `isolation_unavailable`. */
export const make = async (ground: Ground, record: WorktreeRecord, signal: AbortSignal): Promise<string> => {
  const { git, folders, workspace } = ground
  const { session_id } = record
  await folders.prepare()
  const path = folders.path(record.name)
  const made = await git({
    folder: workspace,
    args: ['worktree', 'add', '--no-checkout', '--detach', path, record.base_commit],
    signal,
  })
  if (!made.ok) throw unavailable(session_id, made.reason)
  const found = await git({ folder: path, args: ['rev-parse', '--absolute-git-dir'], signal })
  if (!found.ok) throw unavailable(session_id, found.reason)
  const git_dir = found.said.trim()
  const filled = await askOwnGit(ground, { ...record, git_dir }, { args: ['reset', '--quiet', '--hard'], signal })
  if (!filled.ok) throw unavailable(session_id, filled.reason)
  if (!isWhole(ground, record))
    throw unavailable(session_id, 'the workspace is a folder that is not in the last commit')
  return git_dir
}

const statusArgs = (untracked: 'all' | 'normal'): string[] => [
  'status',
  '--porcelain',
  `--untracked-files=${untracked}`,
  '--ignore-submodules=all',
]

/**
 * What a run left there beside what it began with: files that git would show, or commits. Asked of git folders that the
 * run has not made: what it has put in the place of `.git` counts for nothing.
 */
export const leftIn = async (
  ground: Ground,
  record: WorktreeRecord,
  signal: AbortSignal,
): Promise<'changes' | 'nothing' | 'unknown'> => {
  const { git_dir = '', base_commit } = record
  const args = [`--git-dir=${git_dir}`, 'rev-parse', '--verify', 'HEAD']
  const head = await ground.git({ folder: '/', args, signal })
  if (!head.ok) return 'unknown'
  if (head.said.trim() !== base_commit) return 'changes'
  const status = await askOwnGit(ground, { ...record, git_dir }, { args: statusArgs('normal'), signal })
  if (!status.ok) return 'unknown'
  return status.said === '' ? 'nothing' : 'changes'
}

const [mostFiles, mostCommits] = [200, 100]

/** What would go with it, files one by one where git would name their folder. Undefined where git cannot tell. */
export const lossOf = async (
  ground: Ground,
  record: WorktreeRecord,
  signal: AbortSignal,
): Promise<WorktreeLoss | undefined> => {
  const { git_dir = '', base_commit } = record
  const commits = ['rev-list', `--max-count=${mostCommits}`, `${base_commit}..HEAD`]
  const log = await ground.git({ folder: '/', args: [`--git-dir=${git_dir}`, ...commits], signal })
  const status = await askOwnGit(ground, { ...record, git_dir }, { args: statusArgs('all'), signal })
  if (!status.ok || !log.ok) return undefined
  const lines = linesOf(status.said).filter((line) => /^[ A-Z?]{2} /u.test(line))
  return {
    files: lines.slice(0, mostFiles),
    ...(lines.length > mostFiles && { files_truncated: true }),
    commits: linesOf(log.said),
  }
}

const linesOf = (said: string): string[] => said.split('\n').filter((line) => line !== '')

/** Removes it with all that is in it, and has git forget it. May be called again. */
export const discard = async (ground: Ground, record: WorktreeRecord, signal: AbortSignal): Promise<void> => {
  const { git, folders } = ground
  const { name, repository } = record
  await removeOwnGit(ground, record)
  await folders.remove(name)
  // Where the repository is gone, or git never knew of it, there is nothing to forget.
  await git({
    folder: '/',
    args: [`--git-dir=${repository}`, 'worktree', 'remove', '--force', '--force', folders.path(name)],
    signal,
  })
}

/** What git writes to beside a worktree when something is committed there: no hooks and no settings. */
export const besideOf = ({ repository, git_dir }: WorktreeRecord): string[] => [
  ...(git_dir === undefined ? [] : [git_dir]),
  ...['objects', 'refs', 'logs'].map((name) => `${repository}/${name}`),
]
