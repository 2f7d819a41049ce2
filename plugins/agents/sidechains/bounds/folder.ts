/** The folder that an agent works in: that of its parent, or one within it (agents-21). */
import path from 'node:path'
import { realFolder } from '../../../../core/plugin.js'
import { agentErrors } from './errors.js'

/** What the path of a folder may be made of. */
export const noControls = '^[^\\p{Cc}]*$'

export interface FolderWish {
  /** What is asked for, relative to the folder of the parent. */
  readonly cwd: string | undefined
  /** That of the parent, relative to the workspace; absent for the workspace itself. */
  readonly parent: string | undefined
  readonly workspace: string
  /** No agent works in it. */
  readonly stateRoot: string
  /** True where each run has a worktree of its own: what is in that shows when it is made. */
  readonly isApart: boolean
}

const isWithin = (folder: string, at: string): boolean => {
  const way = path.relative(folder, at)
  return way === '' || (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way))
}

const widened = (reason: string): Error =>
  agentErrors.agent_widened({
    details: { reason },
    errors: [{ path: 'body.cwd', rule: 'must be a folder within the one in which the parent works' }],
  })

/**
 * Relative to the workspace, with its links resolved where it is there; undefined for the workspace itself. Throws
 * `agent_widened`, and `agent_folder_not_found` where there is no such folder.
 */
export const narrowedFolder = (wish: FolderWish): string | undefined => {
  const { cwd, parent, isApart } = wish
  if (cwd === undefined) return parent
  const workspace = realFolder(wish.workspace)?.path ?? wish.workspace
  const home = path.join(workspace, parent ?? '')
  const wanted = path.resolve(home, cwd)
  if (!isWithin(home, wanted)) throw widened('its folder is not within that of its parent')
  const found = realFolder(wanted)
  if (!isApart && found?.isFolder !== true) throw agentErrors.agent_folder_not_found({ details: { cwd } })
  const at = isApart ? wanted : (found?.path ?? wanted)
  if (!isWithin(home, at)) throw widened('its folder is a link that leads out of that of its parent')
  if (isWithin(realFolder(wish.stateRoot)?.path ?? wish.stateRoot, at))
    throw widened('its folder is that of the daemon')
  const way = path.relative(workspace, at)
  if (way.split(path.sep).some((name) => name.toLowerCase() === '.git')) throw widened('its folder is one of git')
  return way || undefined
}
