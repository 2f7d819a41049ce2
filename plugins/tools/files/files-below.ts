/** The files below a folder, sorted by path, as ripgrep walks them: in a process of its own, following no link. */
import type { Processes } from '../../../core/plugin.js'
import { below, fenceBelow } from './base.js'
import { excluding, ripgrep, type Found } from './ripgrep.js'
import { withFolder, type Place } from './workspace.js'

export interface FileList {
  readonly processes: Processes
  /** What ripgrep is told about which files are meant. */
  readonly args: readonly string[]
  readonly limit: number
  readonly signal: AbortSignal
}

/** Paths relative to the workspace, those of the daemon's state left out. */
export const filesBelow = (place: Place, { processes, args, limit, signal }: FileList): Promise<Found<string>> =>
  withFolder(place, {
    use: (folder) =>
      ripgrep({
        processes,
        args: ['--files', '--null', '--hidden', '--sort=path', ...args, ...excluding(fenceBelow(place))],
        cwd: folder.outside,
        separator: '\0',
        limit,
        signal,
        read: (record) => below(place, record),
      }),
  })
