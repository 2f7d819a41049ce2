/** Puts new bytes in the place of a file: whole old or whole new, on disk before it is told. */
import { createHash } from 'node:crypto'
import { constants, promises as fs } from 'node:fs'
import { basename } from 'node:path'
import { systemCode } from './answer.js'
import { readIn, sha256, type FileContent } from './content.js'
import { fileErrors } from './errors.js'
import { openFile, parentOf, withFolder, type Folder, type Place } from './workspace.js'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants

export interface Replacement {
  readonly place: Place
  /** Creates missing folders. */
  readonly make: boolean
  /** The call's stable key: a repeated call uses and removes what an interrupted one left. */
  readonly key: string
  /** The new bytes for the old content; undefined leaves the file as it is. */
  readonly change: (old: FileContent | undefined) => Promise<Buffer | undefined> | Buffer | undefined
}

const readOld = async (folder: Folder, name: string): Promise<FileContent | undefined> => {
  try {
    return await readIn(folder, name)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Removes a file if it is there. */
export const remove = async (path: string): Promise<void> => {
  await fs.unlink(path).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error
  })
}

/** A mode that is to be kept is set apart: the mask of the daemon takes from what a file is made with. */
const writeNew = async (path: string, bytes: Buffer, mode: number | undefined): Promise<void> => {
  const handle = await fs.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode ?? 0o644)
  try {
    if (mode !== undefined && ((await handle.stat()).mode & 0o777) !== mode) await handle.chmod(mode)
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

interface NewFile {
  readonly bytes: Buffer
  readonly mode: number | undefined
  readonly key: string
}

/** What a killed call left in a folder; a call that goes on wrote its own later than this before the newest one. */
const leftBy = /^\.holdfast-[0-9a-f]{16}\.tmp$/u
const surelyDeadMs = 600_000

/** Who writes into a folder clears what killed calls left there: nobody else knows of it. */
const clearLeftovers = async (folder: Folder, written: string): Promise<void> => {
  const { mtimeMs: now } = await fs.lstat(written)
  for (const name of await fs.readdir(folder.at('.'))) {
    if (!leftBy.test(name)) continue
    const found = await fs.lstat(folder.at(name)).catch(() => undefined)
    if (found?.isFile() === true && now - found.mtimeMs > surelyDeadMs) await remove(folder.at(name))
  }
}

/** Writes a file beside the one that it is for, to the disk; its path. */
export const stage = async (folder: Folder, name: string, { bytes, mode, key }: NewFile): Promise<string> => {
  const temporary = folder.at(
    `.holdfast-${createHash('sha256').update(`${key}\0${name}`).digest('hex').slice(0, 16)}.tmp`,
  )
  await remove(temporary)
  try {
    await writeNew(temporary, bytes, mode)
    await clearLeftovers(folder, temporary)
    return temporary
  } catch (error) {
    await remove(temporary)
    throw error
  }
}

const swap = async (folder: Folder, name: string, file: NewFile): Promise<void> => {
  const temporary = await stage(folder, name, file)
  try {
    await fs.rename(temporary, folder.at(name))
  } catch (error) {
    await remove(temporary)
    throw error
  }
  await folder.handle.sync()
}

/** What stays as it is may have been written by a call that was killed before it had synced. */
const settle = async (folder: Folder, name: string): Promise<void> => {
  const handle = await openFile(folder, name)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  await folder.handle.sync()
}

/** Runs `change` on what the file holds now and stores its answer. Returns the bytes that the file holds after. */
export const replaceFile = ({ place, make, key, change }: Replacement): Promise<Buffer> =>
  withFolder(parentOf(place), {
    make,
    use: async (folder) => {
      const name = basename(place.real)
      const old = await readOld(folder, name)
      const bytes = await change(old)
      if (bytes === undefined) {
        await settle(folder, name)
        return old?.bytes ?? Buffer.alloc(0)
      }
      await swap(folder, name, { bytes, mode: old === undefined ? undefined : old.mode & 0o777, key })
      return bytes
    },
  })

/** Throws `file_changed` unless the file has this SHA-256; no expectation is always met. */
export const expectDigest = (expected: string | undefined, old: FileContent | undefined): void => {
  if (expected === undefined) return
  const digest = old === undefined ? 'none, for there is no such file' : sha256(old.bytes)
  if (digest !== expected) throw fileErrors.file_changed({ details: { sha256: digest } })
}
