/** Judges whether a run has made or changed a file: by the file itself, and by what calls of the run wrote. */
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Problem } from '../../../core/plugin.js'
import type { CompletionCheck, WorkPlace } from '../../execution/runs/contract.js'
import { answerable } from './answer.js'
import { maxFileBytes, sha256 } from './content.js'
import { fileErrors } from './errors.js'
import { locate, openFile, openWorkspace, parentOf, withFolder, type Place } from './workspace.js'

/** A regular file as it is now. Two states that are equal are of a file that nobody wrote in between. */
type FileState = {
  /** Absent for files beyond 16 MiB, which are told apart by the rest. */
  readonly sha256?: string
  readonly bytes: number
  /** Nanoseconds since 1970, in decimal. */
  readonly changed_at_ns: string
  /** Number of the file on its file system. */
  readonly node: string
}

/** A file that was looked for: `path` is relative to the workspace with all links resolved. */
interface FoundFile {
  readonly path: string
  readonly state: FileState
}

/** Looks where the file tools may go, and nowhere else. */
export const workspaceFileCheck = (workspace: () => string, stateRoot: string): CompletionCheck => {
  const place = async (path: string, at: WorkPlace = { workspace: workspace() }): Promise<Place> =>
    locate(await openWorkspace(at, stateRoot), path)
  const find = (path: string, at: WorkPlace): Promise<FoundFile | undefined> =>
    orUndefined(() => answerable(async () => stateOf(await place(path, at))))
  const anyFile = async (paths: ReadonlySet<string>, at: WorkPlace): Promise<boolean> => {
    for (const path of paths) if ((await find(path, at)) !== undefined) return true
    return false
  }
  return {
    type: 'workspace_file',
    refusal: async ({ path }) => (path === undefined ? undefined : refusalOf(() => place(path), path)),
    async mark({ path }, at) {
      if (path === undefined) return undefined
      const file = await find(path, at)
      return { path, ...(file !== undefined && { state: file.state }) }
    },
    async isMet({ path }, { mark, written, at }) {
      if (path === undefined) return anyFile(written, at)
      const file = await find(path, at)
      return file !== undefined && (written.has(file.path) || !isDeepStrictEqual(mark?.state, file.state))
    },
  }
}

/** Why no run can make a file at a path; it need not exist. */
const refusalOf = async (place: () => Promise<Place>, path: string): Promise<string | undefined> => {
  try {
    await answerable(async () => {
      const { shown } = await place()
      if (shown === '.' || path.endsWith('/')) throw fileErrors.path_not_a_file()
    })
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

/** Undefined where there is no regular file, and where the file tools may not go. */
const orUndefined = async <T>(find: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await find()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
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
