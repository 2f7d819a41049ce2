/** What every file tool works with. */
import type { Processes } from '../../../core/plugin.js'
import { locate, locateToChange, openWorkspace, type Place } from './workspace.js'
import type { ToolCall } from '../../execution/tools/contract.js'
import type { Normalisers } from './shown.js'
import { createPathLocks, type PathLocks } from './path-locks.js'

export interface FileSurroundings {
  /** Where a path of a call leads. Throws `path_outside_workspace`. */
  readonly locate: (call: ToolCall, path: string) => Promise<Place>
  /** The same for what is to be changed. Throws `path_of_git` besides. */
  readonly locateToChange: (call: ToolCall, path: string) => Promise<Place>
  readonly locks: PathLocks
  /** Where searches run. */
  readonly processes: Processes
  /** What reads files that are no text. */
  readonly normalisers: Normalisers
}

export const createSurroundings = (
  stateRoot: string,
  processes: Processes,
  normalisers: Normalisers = () => [],
): FileSurroundings => ({
  processes,
  normalisers,
  locate: async (call, path) => locate(await openWorkspace(call, stateRoot), path),
  locateToChange: async (call, path) => locateToChange(await openWorkspace(call, stateRoot), path),
  locks: createPathLocks(),
})
