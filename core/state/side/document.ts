/**
 * Small JSON files, one each, replaced whole. Every file carries its digest.
 * A damaged one is found when the root is opened, set aside with a reason and
 * treated as absent; damage that comes later is a problem of the reader.
 */
import { join } from 'node:path'
import { assert } from '../../base/assert.js'
import { unsafeCast, type JsonObject } from '../../base/schema.js'
import type { Document } from '../contract.js'
import type { Disk } from '../disk/disk.js'
import { errors } from '../errors.js'
import { seal, unseal } from '../format/sealed.js'
import { sweepTemps } from '../disk/temps.js'

export interface DocumentsOptions {
  /** Made on the first write. */
  readonly folder: string
  readonly disk: Disk
  /** Moves a file to quarantine and notes why. */
  readonly setAside: (path: string, reason: string) => Promise<void>
  /** Runs every change of the disk; refuses it while storage is read-only. */
  readonly write?: (change: () => Promise<void>) => Promise<void>
}

export interface Documents {
  /** Sweeps half-written files and sets damaged ones aside; returns their paths. Call once, before the first read. */
  load(): Promise<{ readonly swept: readonly string[]; readonly damaged: readonly string[] }>
  document<T extends JsonObject>(name: string): Document<T>
}

const validName = /^[a-z][a-z0-9_-]*$/u

export const createDocuments = (options: DocumentsOptions): Documents => {
  const { folder, disk, setAside } = options
  const open = new Map<string, Document<JsonObject>>()
  const load = async () => {
    const swept = await sweepTemps(disk, folder)
    // A killed daemon may have left a name that is not on the disk yet: what is read from here on must last.
    if (disk.stat(folder) !== undefined) await disk.syncFolder(folder)
    const damaged = disk
      .list(folder)
      .map((name) => join(folder, name))
      .filter((path) => path.endsWith('.json') && isDamaged(disk, path))
    for (const path of damaged) await setAside(path, 'its bytes do not match its digest')
    return { swept, damaged }
  }
  const document = <T extends JsonObject>(name: string): Document<T> => {
    assert(validName.test(name), `'${name}' is no name for a document`)
    const made = open.get(name) ?? createDocument(join(folder, `${name}.json`), options)
    open.set(name, made)
    return unsafeCast(made)
  }
  return { load, document }
}

const isDamaged = (disk: Disk, path: string): boolean => {
  const bytes = disk.readFile(path)
  return bytes !== undefined && unseal(bytes) === undefined
}

const createDocument = (
  path: string,
  { folder, disk, write: run = (change) => change() }: DocumentsOptions,
): Document<JsonObject> => {
  let known: { readonly value: JsonObject | undefined } | undefined
  let last: Promise<void> = Promise.resolve()
  const readDisk = (): JsonObject | undefined => {
    const bytes = disk.readFile(path)
    const value = bytes === undefined ? undefined : unseal(bytes)
    if (bytes !== undefined && value === undefined) throw errors.document_damaged({ details: { path } })
    return value
  }
  const replace = async (bytes: Uint8Array): Promise<void> => {
    await makeFolderFor(disk, folder)
    try {
      await disk.replace(path, bytes)
      known = { value: unseal(bytes) }
    } catch (error) {
      // A failed replace leaves the old or the new file: the next read looks.
      known = undefined
      throw error
    }
  }
  const write = (value: JsonObject): Promise<void> => {
    const bytes = seal(value)
    const turn = last.then(() => run(() => replace(bytes)))
    last = turn.catch(() => {})
    return turn
  }
  return { path, read: () => (known ??= { value: readDisk() }).value, write }
}

const makeFolderFor = async (disk: Disk, folder: string): Promise<void> => {
  if (disk.stat(folder) !== undefined) return
  await disk.makeFolder(folder)
  await disk.syncFolder(join(folder, '..'))
}
