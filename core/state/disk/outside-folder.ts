/** Folders that people asked for, outside of the state root and with the rights that their other files have. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
