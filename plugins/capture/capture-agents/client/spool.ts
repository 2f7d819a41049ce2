/**
 * What was taken and is not with the daemon yet: a file each, in a folder of bounded size that only its user can read.
 * A file is there whole or not at all, and goes when the daemon has what is in it.
 */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { codeOf, Problem, type Disk, type HeldFolder, type Lasting } from '../../../../core/plugin.js'
import { clientErrors } from './errors.js'
import { readItem, writeItem, type Item, type ItemHead } from './item.js'
import { createNumbers } from './numbers.js'

/** An item that waits, by its number. */
export interface Waiting {
  readonly number: number
  readonly size: number
}

/** A capture that is to be kept. */
export interface NewItem {
  readonly head: Omit<ItemHead, 'sha256' | 'idempotency_key' | 'seq_no'> & {
    /** Made of the number of the item if absent. */
    readonly idempotency_key?: string
  }
  /** True for the next number of its stream. */
  readonly isNumbered: boolean
  readonly bytes: Uint8Array
}

/** `full`: there is no room on the disk, whatever else was dropped for it. */
export type Kept = { readonly ok: true; readonly dropped: number } | { readonly ok: false; readonly dropped: number }

export interface Spool {
  readonly folder: string
  /** What is started with this spool ends with it. */
  readonly programs: HeldFolder['programs']
  /** Those that wait, oldest first. */
  waiting(): readonly Waiting[]
  /** True if one more of this size fits without dropping another. */
  hasRoom(size: number): boolean
  /** Keeps a capture; the oldest ones are dropped where there is no room. Resolves when it is on disk. */
  add(item: NewItem): Promise<Kept>
  /** Undefined for what is no item, or not as it was written. */
  read(waiting: Waiting): Item | undefined
  /** No effect if it is gone. */
  remove(waiting: Waiting): Promise<void>
  /** Resolves when something was added since the last call. */
  added(): Promise<void>
  /** Lets others work with the folder. */
  close(): Promise<void>
}

export interface SpoolParts {
  readonly tools: Pick<Lasting, 'disk' | 'ids' | 'hold'>
  readonly folder: string
  readonly most: { readonly items: number; readonly bytes: number }
}

const itemName = /^(\d{16})\.item$/u
const nameOf = (number: number): string => `${String(number).padStart(16, '0')}.item`
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
/** Errors of a disk that has no room. */
const full: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Makes a folder and those above it, for its user alone. */
const makeFolders = async (disk: Disk, folder: string): Promise<void> => {
  if (disk.stat(folder)?.kind === 'folder') return
  const above = path.dirname(folder)
  if (above !== folder) await makeFolders(disk, above)
  await disk.makeFolder(folder)
}

/** Rights of others than the owner. */
const othersMay = process.platform === 'win32' ? 0 : 0o077
const refused = (folder: string, reason: string, cause?: unknown): Problem =>
  clientErrors.capture_spool_refused({ details: { path: folder, reason }, cause })

/** What goes wrong on the disk of a spool, told of the spool; anything else as it is. */
export const toldOfSpool = (folder: string, cause: unknown): unknown => {
  const reason = cause instanceof Problem ? noFileIn(cause) : codeOf(cause)
  return reason === undefined ? cause : refused(folder, reason, cause)
}
const noFileIn = ({ code, occurrence: { details } }: Problem): string | undefined =>
  code === 'state_root_not_regular' ? `${path.basename(String(details?.['path']))} is no file` : undefined

/** Removes whatever is there, with all that is in it: commands may make anything. No effect if it is gone. */
export const removeAll = async (disk: Disk, file: string): Promise<void> => {
  const kind = disk.stat(file)?.kind
  if (kind === undefined) return
  if (kind !== 'folder') return disk.unlink(file)
  for (const name of disk.list(file)) await removeAll(disk, path.join(file, name))
  await disk.removeFolder(file)
}

/** Rejects with `capture_spool_refused`, and `capture_spool_taken` where another process works with it. */
export const openSpool = async (parts: SpoolParts): Promise<Spool> => {
  const { tools, folder } = parts
  try {
    await makeFolders(tools.disk, folder)
    if (((tools.disk.stat(folder)?.mode ?? 0) & othersMay) !== 0)
      throw refused(folder, 'others than its owner may look into it: chmod 700')
    const held = await tools.hold(folder)
    if (held === undefined) throw clientErrors.capture_spool_taken({ details: { path: folder } })
    for (const name of tools.disk.list(folder))
      if (isLeftover(name)) await removeAll(tools.disk, path.join(folder, name))
    return createSpool(parts, held)
  } catch (cause) {
    throw toldOfSpool(folder, cause)
  }
}
/** What a kill leaves: a replacement that was cut off, what a command was putting out. */
const isLeftover = (name: string): boolean => /^(?:(?:\d{16}\.item|\w+\.json)\.\d+|take-.+)$/u.test(name)

const createSpool = ({ tools: { disk, ids }, folder, most }: SpoolParts, { programs, release }: HeldFolder): Spool => {
  const at = (name: string): string => path.join(folder, name)
  const items = new Map<number, Waiting>()
  let size = 0
  const take = (waiting: Waiting): void => {
    items.set(waiting.number, waiting)
    size += waiting.size
  }
  for (const name of disk.list(folder)) {
    const [, digits] = itemName.exec(name) ?? []
    if (digits !== undefined) take({ number: Number(digits), size: disk.stat(at(name))?.size ?? 0 })
  }
  const numbers = createNumbers({ disk, ids, file: at('numbers.json'), known: Math.max(0, ...items.keys()) })

  let [tell, told] = [(): void => {}, Promise.resolve()]
  const listen = (): void => {
    told = new Promise((resolve) => {
      tell = resolve
    })
  }
  listen()

  const remove = async ({ number }: Waiting): Promise<void> => {
    const known = items.get(number)
    if (known === undefined) return
    items.delete(number)
    size -= known.size
    await disk.unlink(at(nameOf(number))).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
    })
  }
  const hasRoom = (more: number): boolean => items.size < most.items && size + more <= most.bytes
  const dropOldest = async (): Promise<boolean> => {
    const [oldest] = items.values()
    if (oldest !== undefined) await remove(oldest)
    return oldest !== undefined
  }
  const write = async ({ head, bytes, isNumbered }: NewItem): Promise<void> => {
    const { own, ...given } = await numbers.take(head.stream_id, isNumbered)
    const file = writeItem({ head: { ...given, ...head, sha256: sha256(bytes) }, bytes })
    await disk.replace(at(nameOf(own)), file)
    take({ number: own, size: file.length })
    tell()
  }
  return {
    folder,
    programs,
    waiting: () => [...items.values()],
    hasRoom,
    async add(item) {
      let dropped = 0
      while (!hasRoom(item.bytes.length) && (await dropOldest())) dropped += 1
      for (;;)
        try {
          await write(item)
          return { ok: true, dropped }
        } catch (error) {
          if (!full.has(codeOf(error) ?? '')) throw error
          if (!(await dropOldest())) return { ok: false, dropped }
          dropped += 1
        }
    },
    read({ number: wanted }) {
      const file = disk.readFile(at(nameOf(wanted)))
      const item = file && readItem(file)
      return item !== undefined && sha256(item.bytes) === item.head.sha256 ? item : undefined
    },
    remove,
    async added() {
      await told
      listen()
    },
    close: release,
  }
}
