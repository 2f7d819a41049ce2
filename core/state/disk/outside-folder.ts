/** Folders that people asked for, outside of the state root and with the rights that their other files have. */
import { linkSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The files of a folder as texts, by name; folders in it are left out. */
export const readFolder = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(path.join(folder, name), 'utf8')] as const),
  )

/** Makes a folder with these files. Throws what the system says, EEXIST if something is there, and leaves nothing. */
export const makeFolderOf = (folder: string, files: ReadonlyMap<string, string>): void => {
  mkdirSync(folder)
  try {
    for (const [name, text] of files) writeFileSync(path.join(folder, name), text, { flag: 'wx' })
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/**
 * Makes a file, which comes to be whole at once. Throws what the system says, EEXIST if something is there, and leaves
 * nothing.
 */
export const makeFile = (file: string, bytes: Uint8Array): void => {
  const folder = mkdtempSync(path.join(path.dirname(file), '.holdfast-'))
  const draft = path.join(folder, 'draft')
  try {
    writeFileSync(draft, bytes, { flush: true })
    // A link never takes the place of a file, as a rename would.
    linkSync(draft, file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A file of such a folder, as it is now. */
export interface OutsideFile {
  readonly name: string
  readonly size: number
  readonly modified_at_ms: number
}

/**
 * The files of a folder that do not begin with a dot, oldest first; links in it are left out. Undefined if it is no
 * folder or cannot be read.
 */
export const lookInFolder = (folder: string): readonly OutsideFile[] | undefined => {
  try {
    const found = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
    return found
      .flatMap((name) => {
        const stat = lstatSync(path.join(folder, name), { throwIfNoEntry: false })
        return stat?.isFile() === true ? [{ name, size: stat.size, modified_at_ms: Math.trunc(stat.mtimeMs) }] : []
      })
      .toSorted((a, b) => a.modified_at_ms - b.modified_at_ms)
  } catch {
    return undefined
  }
}
