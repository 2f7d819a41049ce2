/** Where skills are looked for, the first root first. Pure. */
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isThere, type HostView } from '../../../core/plugin.js'
import type { SkillSummary } from '../../execution/memory/contract.js'

export interface SkillRoot {
  readonly folder: string
  readonly scope: SkillSummary['scope']
  /** An operator named it: it is told if it is not there. */
  readonly isNamed: boolean
  /** That of the state root: the daemon writes what is in `promotedFolder` of it. */
  readonly isOfState?: true
}

/** The folder in `skills/` of the state root that the daemon writes: what is in it counts where a guard says so. */
export const promotedFolder = 'procedural'

export interface RootWish {
  readonly stateRoot: string
  readonly workspace: string
  /** Of the user; undefined if there is none. */
  readonly home: string | undefined
  readonly named: readonly string[]
  /** Skills of the workspace and of what is around it. */
  readonly repository: boolean
  readonly user: boolean
  /** True for the top of a repository. */
  readonly isTop: (folder: string) => boolean
}

const conventional = ['skills', '.claude/skills', '.agents/skills']
const ofUser = ['skills', '.agents/skills', '.claude/skills']

const above = (folder: string): string[] => {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...above(parent)]
}

/**
 * The workspace and what is above it: below the home of the user all of it, elsewhere up to the top of the repository.
 * Anybody may have made a folder above that.
 */
export const repositoryFolders = ({ workspace, home, isTop }: RootWish): string[] => {
  const folders = above(resolve(workspace))
  const atHome = home === undefined ? -1 : folders.indexOf(resolve(home))
  if (atHome >= 0) return folders.slice(0, atHome)
  const top = folders.findIndex(isTop)
  return folders.slice(0, Math.max(0, top) + 1)
}

export const skillRoots = (wish: RootWish): SkillRoot[] => {
  const { stateRoot, home, named, repository, user } = wish
  const all: SkillRoot[] = [
    { folder: join(stateRoot, 'skills'), scope: 'explicit', isNamed: false, isOfState: true },
    ...named.map((folder) => ({ folder: resolve(folder), scope: 'explicit' as const, isNamed: true })),
    ...(repository ? repositoryFolders(wish) : []).flatMap((folder) =>
      conventional.map((name) => ({ folder: join(folder, name), scope: 'repo' as const, isNamed: false })),
    ),
    ...(user && home !== undefined ? ofUser : []).map((name) => ({
      folder: join(home ?? '', name),
      scope: 'user' as const,
      isNamed: false,
    })),
  ]
  return [...new Map(all.toReversed().map((root) => [root.folder, root])).values()].toReversed()
}

/** What an operator says of the roots. */
export interface RootSettings {
  readonly roots: readonly string[]
  readonly repository: boolean
  readonly user: boolean
  readonly home: string
}

export const rootsOf = (host: HostView, { roots, repository, user, home }: RootSettings): SkillRoot[] =>
  skillRoots({
    stateRoot: host.stateRoot,
    workspace: host.workspaceRoot,
    home: home === '' ? homedir() : home,
    named: roots,
    repository,
    user,
    isTop: (folder) => isThere(join(folder, '.git')),
  })
