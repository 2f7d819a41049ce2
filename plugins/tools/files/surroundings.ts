/** What every file tool works with. */
import type { Processes } from '../../../core/plugin.js'
import { openWorkspace, locate, type Place } from './workspace.js'
import type { ToolCall } from '../../execution/tools/contract.js'
import { createPathLocks, type PathLocks } from './path-locks.js'

export interface FileSurroundings {
  /** Where a path of a call leads. Throws `path_outside_workspace`. */
  readonly locate: (call: ToolCall, path: string) => Promise<Place>
  readonly locks: PathLocks
  /** Where searches run. */
  readonly processes: Processes
}

export const createSurroundings = (stateRoot: string, processes: Processes): FileSurroundings => ({
  processes,
  locate: async ({ workspace }, path) => locate(await openWorkspace(workspace, stateRoot), path),
  locks: createPathLocks(),
})
