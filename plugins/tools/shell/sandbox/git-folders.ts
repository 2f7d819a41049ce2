/**
 * Git folders that a command behind walls may write to (tools-58): it commits there, and changes nothing that makes
 * git run a program, for that would run outside of the walls when a person next uses git.
 */
import { promises as fs } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export interface GitFolders {
  /** Nothing can take their place. Absolute paths, links resolved, as all here. */
  readonly kept: readonly string[]
  /** They, and all that is in them, are read-only. */
  readonly closed: readonly string[]
  /** Are not there, and git would heed them. */
  readonly absent: readonly string[]
}

/** Settings, hooks, and what names a folder in which git looks for them. */
const closedNames = ['config', 'config.worktree', 'commondir', 'gitdir', 'hooks', 'info/attributes']
/** Git folders of submodules and of other worktrees, which have the same in them. */
const innerFolders = ['modules', 'worktrees']
const heededNames: ReadonlySet<string> = new Set(['config.worktree', 'commondir', 'hooks'])

const nothing: GitFolders = { kept: [], closed: [], absent: [] }
const together = (all: readonly GitFolders[]): GitFolders => ({
  kept: all.flatMap(({ kept }) => kept),
  closed: all.flatMap(({ closed }) => closed),
  absent: all.flatMap(({ absent }) => absent),
})

const look = (path: string) => fs.lstat(path).catch(() => undefined)
const isThere = async (path: string): Promise<boolean> => (await look(path)) !== undefined

/** A git folder. In the place of a link anything could be put: there all is closed. */
const ofFolder = async (folder: string, mayCommit: boolean): Promise<GitFolders> => {
  const whole: GitFolders = { ...nothing, closed: [folder] }
  if (!mayCommit) return whole
  const names = [...closedNames, ...innerFolders]
  const found = await Promise.all(names.map(async (name) => ({ name, stats: await look(join(folder, name)) })))
  if (found.some(({ stats }) => stats?.isSymbolicLink() === true)) return whole
  const pathsOf = (some: typeof found): string[] => some.map(({ name }) => join(folder, name))
  return {
    kept: [folder],
    closed: pathsOf(found.filter(({ stats }) => stats !== undefined)),
    absent: pathsOf(found.filter(({ name, stats }) => stats === undefined && heededNames.has(name))),
  }
}

const isWithinRepository = async (folder: string): Promise<boolean> => {
  const parent = dirname(folder)
  return parent !== folder && ((await isThere(join(parent, '.git'))) || (await isWithinRepository(parent)))
}

/** The folder that a file `.git` names. */
const namedBy = async (file: string): Promise<string | undefined> => {
  const [, path] = /^gitdir: (.+)\n?$/u.exec(await fs.readFile(file, 'utf8').catch(() => '')) ?? []
  return path === undefined ? undefined : fs.realpath(resolve(dirname(file), path)).catch(() => undefined)
}

/** What is at `.git` of a folder. One that comes into being within a repository would be taken for the repository. */
const atDotGit = async (folder: string, mayCommit: boolean): Promise<GitFolders> => {
  const path = join(folder, '.git')
  const real = await fs.realpath(path).catch(() => undefined)
  const stats = real === undefined ? undefined : await look(real)
  if (real === undefined || stats === undefined)
    return (await isWithinRepository(folder)) ? { ...nothing, absent: [path] } : nothing
  if (stats.isDirectory()) return ofFolder(real, mayCommit)
  const named = await namedBy(real)
  return together([{ ...nothing, closed: [real] }, named === undefined ? nothing : await ofFolder(named, mayCommit)])
}

const isGitFolder = async (folder: string): Promise<boolean> =>
  (await isThere(join(folder, 'HEAD'))) &&
  ((await isThere(join(folder, 'objects'))) || (await isThere(join(folder, 'commondir'))))

/** Of folders that may be written, links resolved: each may be a git folder itself, or have one at `.git`. */
export const findGitFolders = async (folders: readonly string[], mayCommit: boolean): Promise<GitFolders> =>
  together(
    await Promise.all(
      folders.map(async (folder) =>
        (await isGitFolder(folder)) ? ofFolder(folder, mayCommit) : atDotGit(folder, mayCommit),
      ),
    ),
  )

/** Renames those that have come into being, so that git does not heed them; gives what they were. */
export const takeAway = async (absent: readonly string[]): Promise<string[]> => {
  const taken: string[] = []
  for (const path of absent) {
    if (!(await isThere(path))) continue
    await fs.rm(`${path}.refused`, { recursive: true, force: true })
    await fs.rename(path, `${path}.refused`)
    taken.push(path)
  }
  return taken
}
