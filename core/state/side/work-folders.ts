/** Folders that programs fill: in the root, and no part of the state: no commit, checkpoint or backup looks in. */
import { constants, promises as fs } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../errors.js'
import type { programFolders } from '../format/layout.js'

export type FileContent = string | { readonly copyOf: string }

/** Folders of one kind, by name. */
export interface WorkFolders {
  /** Absolute. */
  path(name: string): string
  /** Makes the folder that holds them. */
  prepare(): Promise<void>
  /** Makes a folder with these files, by their paths in it: a text, or a copy of another file where that is there. */
  fill(name: string, files: Readonly<Record<string, FileContent>>): Promise<void>
  /**
   * Removes a folder with all that is in it, also what is closed to writing or lies deeper than a path can say; no
   * effect if it is not there. Rejects where something cannot be removed.
   */
  remove(name: string): Promise<void>
}

export const openWorkFolders = (stateRoot: string, kind: (typeof programFolders)[number]): WorkFolders => {
  const top = join(stateRoot, kind)
  const path = (name: string): string => join(top, name)
  return {
    path,
    async prepare() {
      await fs.mkdir(top, { recursive: true, mode: 0o700 })
    },
    async fill(name, files) {
      for (const [file, content] of Object.entries(files)) await put(join(path(name), file), content)
    },
    async remove(name) {
      try {
        await fs.rm(path(name), { recursive: true, force: true, maxRetries: 3 })
      } catch {
        await wipe(path(name), path(`${name}.deep`))
      }
    },
  }
}

const put = async (file: string, content: FileContent): Promise<void> => {
  await fs.mkdir(dirname(file), { recursive: true, mode: 0o700 })
  if (typeof content === 'string') return fs.writeFile(file, content, { mode: 0o600 })
  await fs.copyFile(content.copyOf, file).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
  })
}

/** Characters of a path, far below the 4,096 that the system takes. */
const longest = 2_000

/** Its owner may look into it and change it. No link is followed. */
const openUp = async (folder: string): Promise<void> => {
  const handle = await fs
    .open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    .catch(() => undefined)
  if (handle === undefined) return fs.chmod(folder, 0o700)
  await handle.chmod(0o700).finally(() => handle.close())
}

/** What lies too deep is removed from beside the folder, where its path is short. */
const wipe = async (folder: string, beside: string): Promise<void> => {
  await openUp(folder)
  for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
    const inner = join(folder, entry.name)
    if (!entry.isDirectory()) await fs.unlink(inner)
    else if (inner.length <= longest) await wipe(inner, beside)
    else {
      await openUp(inner)
      await fs.rename(inner, beside)
      await wipe(beside, `${beside}er`)
    }
  }
  await fs.rmdir(folder)
}
