/**
 * Files of people outside the state root, found below one folder: bounded in depth, number and bytes, and never out of
 * the folder, whatever links it holds.
 */
import { constants, promises as fs, type Dirent } from 'node:fs'
import path from 'node:path'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** What is looked for, and how far. */
export interface OutsideWish {
  /** Name of the files. */
  readonly name: string
  /** Folders below each other, the first one not counted. */
  readonly depth: number
  /** Folders in all. */
  readonly folders: number
  /** Entries of folders in all. */
  readonly entries: number
}

/** What was found below a folder. Paths are relative to it, with slashes. */
export interface OutsideFind {
  /** Absolute, with every link resolved. */
  readonly root: string
  readonly files: readonly string[]
  /** Links that lead out of the folder. */
  readonly strays: readonly string[]
  /** The folders that were seen, also those too deep to be looked at; absolute, with every link resolved. */
  readonly within: readonly string[]
  /** True if there was more than was looked at. */
  readonly isCut: boolean
}

/** A text, or why there is none, in words that follow the name of the file. */
export type OutsideText =
  | { readonly ok: true; readonly text: string; readonly modified_at_ms: number }
  | { readonly ok: false; readonly rule: string }

const isWithin = (root: string, real: string): boolean =>
  real === root || real.startsWith(root.endsWith(path.sep) ? root : root + path.sep)

interface Place {
  readonly at: string
  readonly depth: number
}
type Kind = 'folder' | 'file' | 'stray' | 'other'

/** What a link leads to, if it stays inside. */
const targetOf = async (root: string, at: string): Promise<Kind> => {
  try {
    const real = await fs.realpath(path.join(root, at))
    if (!isWithin(root, real)) return 'stray'
    const stat = await fs.stat(real)
    if (stat.isDirectory()) return 'folder'
    return stat.isFile() ? 'file' : 'other'
  } catch {
    return 'other'
  }
}

const kindOf = (root: string, at: string, entry: Dirent): Kind | Promise<Kind> => {
  if (entry.isDirectory()) return 'folder'
  if (entry.isSymbolicLink()) return targetOf(root, at)
  return entry.isFile() ? 'file' : 'other'
}

/** At most so many entries, by name; one more where the folder has more. */
const entriesOf = async (folder: string, most: number): Promise<Dirent[]> => {
  const entries: Dirent[] = []
  try {
    for await (const entry of await fs.opendir(folder, { bufferSize: 1_000 })) if (entries.push(entry) > most) break
  } catch {
    return []
  }
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * The files of a name below a folder, nearer ones first and by name; entries that begin with a dot are skipped. A
 * folder that is reached twice is looked at once. Undefined if there is no such folder.
 */
export const findOutside = async (folder: string, wish: OutsideWish): Promise<OutsideFind | undefined> => {
  const root = await fs.realpath(folder).catch(() => undefined)
  if (root === undefined || !(await fs.stat(root)).isDirectory()) return undefined
  const [files, strays, within]: [string[], string[], string[]] = [[], [], []]
  const seen = new Set<string>()
  const left: Place[] = [{ at: '', depth: 0 }]
  let [room, isCut] = [wish.entries, false]
  for (let place = left.shift(); place !== undefined; place = left.shift()) {
    const real = await fs.realpath(path.join(root, place.at)).catch(() => root)
    if (seen.has(real)) continue
    isCut = seen.size >= wish.folders
    if (isCut) break
    seen.add(real)
    within.push(real)
    if (place.depth > wish.depth) continue
    const entries = await entriesOf(real, room)
    room -= entries.length
    isCut = room < 0
    if (isCut) break
    for (const entry of entries.filter(({ name }) => !name.startsWith('.'))) {
      const at = place.at === '' ? entry.name : `${place.at}/${entry.name}`
      const kind = await kindOf(root, at, entry)
      if (kind === 'stray') strays.push(at)
      if (kind === 'file' && entry.name === wish.name) files.push(at)
      if (kind === 'folder') left.push({ at, depth: place.depth + 1 })
    }
  }
  return { root, files, strays, within, isCut }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The text of a file below a folder, whose own links are resolved already; undefined if it is not there.
 */
export const readOutside = async (root: string, at: string, most: number): Promise<OutsideText | undefined> => {
  const real = await fs.realpath(path.join(root, at)).catch(() => undefined)
  if (real === undefined) return undefined
  if (!isWithin(root, real)) return { ok: false, rule: 'must not lead out of its folder' }
  const file = await fs.open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return { ok: false, rule: 'must be readable' }
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return { ok: false, rule: 'must be a file' }
    if (stat.size > most) return { ok: false, rule: `must have at most ${most} bytes` }
    const bytes = Buffer.alloc(stat.size + 1)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    if (bytesRead > stat.size) return { ok: false, rule: 'must not grow while it is read' }
    return { ok: true, text: decoder.decode(bytes.subarray(0, bytesRead)), modified_at_ms: Math.trunc(stat.mtimeMs) }
  } catch {
    return { ok: false, rule: 'must be UTF-8 text' }
  } finally {
    await file.close()
  }
}
