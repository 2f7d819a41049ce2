/** Folders among those of people that the daemon keeps as its records say. No part of the state: made again from it. */
import { promises as fs } from 'node:fs'
import { dirname, join } from 'node:path'
import { assert } from '../../base/assert.js'
import { codeOf } from '../errors.js'
import { theirFolders } from '../format/layout.js'

/** Texts by their paths in a folder, with slashes. */
export type FolderTexts = Readonly<Record<string, string>>

export interface FollowedFolders {
  /** Absolute. */
  readonly path: string
  /** What is in it, whoever made that. */
  names(): Promise<readonly string[]>
  /** Has a folder hold these files, and nothing else. It comes to be whole at once; true if it was not so before. */
  keep(name: string, files: FolderTexts): Promise<boolean>
  /** Removes whatever has this name; links are not followed. True if there was something. */
  remove(name: string): Promise<boolean>
}

/** `kind` is a folder of people in the state root, `within` the one in it that is the daemon's. */
export const openFollowedFolders = (
  stateRoot: string,
  kind: (typeof theirFolders)[number],
  within: string,
): FollowedFolders => {
  const top = join(stateRoot, kind, within)
  /** Undefined if it is not there. What it leads to elsewhere is nothing that the daemon may change. */
  const look = async (): Promise<true | undefined> => {
    const stat = await orNothing(fs.lstat(top))
    assert(stat === undefined || stat.isDirectory(), `${top} must be a folder, and no link to one`)
    return stat === undefined ? undefined : true
  }
  const at = (name: string): string => {
    assert(!name.includes('/') && name !== '' && name !== '.' && name !== '..', 'a folder is named by a word')
    return join(top, name)
  }
  const wipe = (path: string): Promise<void> => fs.rm(path, { recursive: true, force: true, maxRetries: 3 })
  return {
    path: top,
    names: async () => ((await look()) === undefined ? [] : fs.readdir(top)),
    async keep(name, files) {
      const folder = at(name)
      if ((await look()) !== undefined && (await holds(folder, files))) return false
      await fs.mkdir(top, { recursive: true, mode: 0o700 })
      // Names that begin with a dot are looked at by nobody.
      const draft = at(`.${name}`)
      await wipe(draft)
      for (const [file, text] of Object.entries(files)) {
        await fs.mkdir(dirname(join(draft, file)), { recursive: true, mode: 0o700 })
        await fs.writeFile(join(draft, file), text, { mode: 0o600, flush: true })
      }
      await wipe(folder)
      await fs.rename(draft, folder)
      return true
    },
    async remove(name) {
      if ((await look()) === undefined || (await orNothing(fs.lstat(at(name)))) === undefined) return false
      await wipe(at(name))
      return true
    },
  }
}

const orNothing = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
    return undefined
  })

/** What is in a folder, by its paths: a text, or nothing for what is no file. */
const textsIn = async (folder: string, before = ''): Promise<ReadonlyMap<string, string | undefined>> => {
  const texts = new Map<string, string | undefined>()
  for (const entry of await fs.readdir(join(folder, before), { withFileTypes: true })) {
    const path = before === '' ? entry.name : `${before}/${entry.name}`
    if (entry.isDirectory()) for (const [inner, text] of await textsIn(folder, path)) texts.set(inner, text)
    else texts.set(path, entry.isFile() ? await textOf(join(folder, path)) : undefined)
  }
  return texts
}

/** Far above what the daemon writes: what is larger is somebody else's. */
const mostBytes = 1024 * 1024
const textOf = async (file: string): Promise<string | undefined> =>
  (await fs.stat(file)).size > mostBytes ? undefined : fs.readFile(file, 'utf8')

const holds = async (folder: string, files: FolderTexts): Promise<boolean> => {
  const stat = await orNothing(fs.lstat(folder))
  if (stat?.isDirectory() !== true) return false
  const texts = await textsIn(folder).catch(() => undefined)
  return (
    texts?.size === Object.keys(files).length && Object.entries(files).every(([path, text]) => texts.get(path) === text)
  )
}
