/**
 * A git folder of the daemon's own beside a worktree, for the commands that read and write its files: settings of the
 * repository name programs that git runs on each of them, and whoever may write files there could name some.
 */
import { join } from 'node:path'
import type { WorkFolders } from '../../../core/plugin.js'
import type { Git, GitAnswer } from './git.js'
import type { WorktreeRecord } from './store.js'

interface Parts {
  readonly git: Git
  readonly folders: WorkFolders
}

/** Settings of a repository that say how its files look on this disk, and the values that they have. */
const looks = '^core\\.(autocrlf|eol|filemode|ignorecase|precomposeunicode|symlinks)$'
const lookLine = /^core\.([a-z]+) (true|false|input|lf|crlf|native)$/u

const looksOf = async ({ git }: Parts, { repository }: WorktreeRecord, signal: AbortSignal): Promise<string[]> => {
  const args = [`--git-dir=${repository}`, 'config', '--local', '--get-regexp', looks]
  const answer = await git({ folder: '/', args, signal })
  const lines = answer.ok ? answer.said.split('\n') : []
  return lines.flatMap((line) => {
    const [, name, value] = lookLine.exec(line) ?? []
    return name === undefined ? [] : [`${name} = ${value}`]
  })
}

/** Of a commit named by SHA-256 the objects are named so too. */
const configOf = ({ base_commit }: WorktreeRecord, settings: readonly string[]): string =>
  [
    '[core]',
    `repositoryformatversion = ${base_commit.length === 64 ? 1 : 0}`,
    'bare = false',
    ...settings,
    ...(base_commit.length === 64 ? ['[extensions]', 'objectformat = sha256'] : []),
    '',
  ].join('\n')

const nameOf = ({ name }: WorktreeRecord): string => `${name}.git`

const makeFolder = async (parts: Parts, record: WorktreeRecord, signal: AbortSignal): Promise<string> => {
  await removeOwnGit(parts, record)
  await parts.folders.fill(nameOf(record), {
    HEAD: `${record.base_commit}\n`,
    config: configOf(record, await looksOf(parts, record, signal)),
    // Git takes no folder for its own that has none for refs.
    'refs/.none': '',
    'info/exclude': { copyOf: join(record.repository, 'info/exclude') },
  })
  return parts.folders.path(nameOf(record))
}

/** No effect if none is there. */
export const removeOwnGit = ({ folders }: Pick<Parts, 'folders'>, record: WorktreeRecord): Promise<void> =>
  folders.remove(nameOf(record))

/**
 * What git says of the files of a worktree, or does with them, as one that is at the commit with which it began. Its
 * index is the one that git keeps for it.
 */
export const askOwnGit = async (
  parts: Parts,
  record: WorktreeRecord & { readonly git_dir: string },
  { args, signal }: { readonly args: readonly string[]; readonly signal: AbortSignal },
): Promise<GitAnswer> => {
  const path = parts.folders.path(record.name)
  try {
    const variables = {
      GIT_DIR: await makeFolder(parts, record, signal),
      GIT_WORK_TREE: path,
      GIT_INDEX_FILE: join(record.git_dir, 'index'),
      GIT_OBJECT_DIRECTORY: join(record.repository, 'objects'),
    }
    return await parts.git({ folder: path, args, signal, variables })
  } finally {
    await removeOwnGit(parts, record)
  }
}
