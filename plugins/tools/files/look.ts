/** Where a path leads and what is there, for plugins that ask about files and never change them. */
import { Problem } from '../../../core/plugin.js'
import { basename } from 'node:path'
import { answerable } from './answer.js'
import { maxFileBytes, sha256 } from './content.js'
import type { FileState, FoundFile, WorkspaceFiles } from './contract.js'
import { fileErrors } from './errors.js'
import { locate, openFile, openWorkspace, parentOf, withFolder, type Place } from './workspace.js'

export const createWorkspaceFiles = (stateRoot: string): WorkspaceFiles => {
  const place = async (workspace: string, path: string): Promise<Place> =>
    locate(await openWorkspace(workspace, stateRoot), path)
  return {
    check: (workspace, path) =>
      answerable(async () => {
        const { shown } = await place(workspace, path)
        if (shown === '.' || path.endsWith('/')) throw fileErrors.path_not_a_file()
      }),
    async look(workspace, path) {
      try {
        return await answerable(async () => stateOf(await place(workspace, path)))
      } catch (error) {
        if (error instanceof Problem) return undefined
        throw error
      }
    },
  }
}

const stateOf = (place: Place): Promise<FoundFile> =>
  withFolder(parentOf(place), {
    use: async (folder) => {
      const handle = await openFile(folder, basename(place.real))
      try {
        const { size, mtimeNs, ino } = await handle.stat({ bigint: true })
        const state: FileState = {
          bytes: Number(size),
          changed_at_ns: String(mtimeNs),
          node: String(ino),
          ...(size <= maxFileBytes && { sha256: sha256(await handle.readFile()) }),
        }
        return { path: place.shown, state }
      } finally {
        await handle.close()
      }
    },
  })
