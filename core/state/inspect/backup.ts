/**
 * Takes a root away as of one commit. In a running daemon the cut is made in
 * the commit queue, between two batches; what it names is then copied beside
 * the commits, because nothing that counts changes any more.
 */
import { dirname, join, relative, resolve } from 'node:path'
import type { Clock } from '../../base/clock.js'
import { count } from '../../base/text/command-text.js'
import { noInterrupts, type Interrupts } from '../../base/interrupts.js'
import { noProgress, type Progress } from '../../base/text/progress.js'
import { backupFileName, copyFolder, writeBackupFile, type BackupEntry, type BackupFile } from './backup-file.js'
import type { Disk } from '../disk/disk.js'
import { copyPieces, rangeOf, reading, sourceOf, type ByteSource } from '../disk/pieces.js'
import { Problem } from '../../base/errors.js'
import { codeOf, errors } from '../errors.js'
import { absentRoot } from '../root/root-check.js'
import { commitFolders, layout, type Layout } from '../format/layout.js'
import type { Manifest } from '../format/manifest.js'
import { readRoot } from '../root/root-document.js'
import { seal } from '../format/sealed.js'
import { isTemporary } from '../disk/temps.js'
import { namedFiles } from '../pages/sweep.js'

/** The state as of one commit: a manifest of which every length is known. */
export interface Cut {
  readonly manifest: Manifest
  readonly sequence: number
}

export interface BackupOptions {
  readonly root: string
  readonly to: string
  readonly disk: Disk
  readonly clock: Clock
  readonly cut: Cut
  readonly progress?: Progress
  readonly interrupts?: Interrupts
}

export interface BackupReport {
  readonly path: string
  readonly root_id: string
  readonly sequence: number
  readonly files: number
  readonly bytes: number
  readonly milliseconds: number
}

const reasons = new Map([
  ['EACCES', 'permission is denied'],
  ['EPERM', 'permission is denied'],
  ['EROFS', 'its file system is read-only'],
  ['ENOSPC', 'no space is left'],
  ['EDQUOT', 'no space is left'],
  ['ENAMETOOLONG', 'a name in it is too long'],
])

/**
 * Runs a step on the target: what its file system refuses is for the caller to put right, not a fault of the daemon.
 */
const onTarget = async <R>(path: string, step: () => R | Promise<R>): Promise<R> => {
  try {
    return await step()
  } catch (cause) {
    const code = codeOf(cause)
    if (cause instanceof Problem || code === undefined || code === 'EIO') throw cause
    throw errors.target_not_writable({
      details: { path, reason: reasons.get(code) ?? 'its file system refuses it' },
      cause,
    })
  }
}

/** What is written is written into a folder of its own, and none of it stays where it was not written whole. */
export interface Target {
  readonly disk: Disk
  readonly to: string
  /** Bytes that the copy takes. */
  readonly needed: number
}

/** What a kill amid a copy leaves: no file yet that says that it is whole. */
const isBrokenOff = (names: readonly string[]): boolean =>
  names.length > 0 && names.every((name) => name === copyFolder || commitFolders.some((folder) => folder === name))

/** Refuses to write where something is, or where there is no room. */
const checkTarget = ({ disk, to, needed }: Target): void => {
  const stat = disk.stat(to)
  const names = stat?.kind === 'folder' ? disk.list(to) : []
  if ((stat !== undefined && stat.kind !== 'folder') || names.length > 0) {
    const what = isBrokenOff(names) ? ': it holds a copy that was broken off' : ''
    throw errors.target_not_empty({ details: { path: to, what } })
  }
  if (disk.stat(dirname(to))?.kind !== 'folder') throw errors.target_without_folder({ details: { path: dirname(to) } })
  const { free, isOutOfFiles } = disk.space(stat === undefined ? dirname(to) : to)
  if (free >= needed) return
  const left = isOutOfFiles === true ? 'no more files' : count(free, 'byte')
  throw errors.target_too_small({ details: { path: to, needed: count(needed, 'byte'), free: left } })
}

const emptyFolder = async (disk: Disk, folder: string): Promise<void> => {
  for (const path of disk.list(folder).map((name) => join(folder, name)))
    if (disk.stat(path)?.kind === 'folder') {
      await emptyFolder(disk, path)
      await disk.removeFolder(path)
    } else await disk.unlink(path)
}

/** Makes the target and writes into it; where that fails, the target is as it was. */
export const inTarget = async <R>(target: Target, write: () => Promise<R>): Promise<R> => {
  const { disk, to } = target
  await onTarget(to, () => checkTarget(target))
  const wasThere = disk.stat(to) !== undefined
  const undo = async (): Promise<void> => {
    await emptyFolder(disk, to)
    if (!wasThere) await disk.removeFolder(to)
    await disk.syncFolder(dirname(to))
  }
  try {
    await onTarget(to, async () => {
      await disk.makeFolder(to)
      await disk.syncFolder(dirname(to))
    })
    return await write()
  } catch (error) {
    const isUndone = await undo().then(
      () => true,
      () => false,
    )
    if (isUndone || !(error instanceof Problem) || error.code !== errors.interrupted.code) throw error
    throw errors.interrupted({ details: { stands: `${to} holds a part of the copy, which is of no use: remove it.` } })
  }
}

const isInside = (folder: string, path: string): boolean => !/^\.\.(?:\/|$)/u.test(relative(folder, path))

/** Writes files below one folder; every folder is made once and synced at the end. */
export const createCopy = (
  { disk, to }: Omit<Target, 'needed'>,
  { progress = noProgress, interrupts = noInterrupts }: Pick<BackupOptions, 'progress' | 'interrupts'>,
) => {
  const advance = (bytes: number): void => {
    interrupts.signal.throwIfAborted()
    progress.advance(bytes)
  }
  const made = new Set([to])
  const makeFolder = async (folder: string): Promise<void> => {
    if (made.has(folder)) return
    await makeFolder(dirname(folder))
    await disk.makeFolder(folder)
    made.add(folder)
  }
  const write = (path: string, source: ByteSource): Promise<BackupEntry> =>
    onTarget(to, async () => {
      const target = join(to, path)
      await makeFolder(dirname(target))
      const file = await disk.open(target, 'create')
      try {
        const sha256 = await copyPieces(file, source, advance)
        await file.sync()
        return { path, bytes: source.length, sha256 }
      } finally {
        await file.close()
      }
    })
  const finish = (): Promise<void> =>
    onTarget(to, async () => {
      for (const folder of [...made].toReversed()) await disk.syncFolder(folder)
    })
  return { write, makeFolder: (path: string) => onTarget(to, () => makeFolder(join(to, path))), finish }
}
type Copy = ReturnType<typeof createCopy>

/** Copies the bytes of a file that count. */
const copyCounted = (
  { disk, root }: BackupOptions,
  copy: Copy,
  { path, length }: { path: string; length: number },
): Promise<BackupEntry> =>
  reading(disk, path, (file) => {
    if (file.size() < length) throw errors.state_root_damaged({ details: { path, root } })
    return copy.write(relative(root, path), rangeOf(file, 0, length))
  })

/** Copies a file as it is. */
export const copyWhole = (
  disk: Disk,
  copy: Copy,
  { from, path }: { from: string; path: string },
): Promise<BackupEntry> => reading(disk, join(from, path), (file) => copy.write(path, rangeOf(file)))

/** Documents and blobs: whole files that are replaced, never changed. */
const wholeFiles = (disk: Disk, { documents, blobs }: Layout): string[] => {
  const below = (folder: string): string[] => disk.list(folder).map((name) => join(folder, name))
  const shards = below(blobs).flatMap(below)
  return [...below(documents).filter((path) => path.endsWith('.json')), ...shards.flatMap(below)].filter(
    (path) => !isTemporary(path) && disk.stat(path)?.kind === 'file',
  )
}

const sumOf = (numbers: Iterable<number | null | undefined>): number =>
  Array.from(numbers).reduce((sum: number, one) => sum + (one ?? 0), 0)

const copiedBytes = (disk: Disk, paths: Layout, { manifest }: Cut): number =>
  sumOf(namedFiles(paths, manifest).values()) + sumOf(wholeFiles(disk, paths).map((path) => disk.stat(path)?.size))

const copyAll = async (options: BackupOptions, to: string): Promise<BackupEntry[]> => {
  const { root, disk, cut } = options
  const paths = layout(root)
  const copy = createCopy({ disk, to }, options)
  const files: BackupEntry[] = []
  for (const folder of commitFolders) await copy.makeFolder(folder)
  for (const [path, length] of namedFiles(paths, cut.manifest))
    files.push(await copyCounted(options, copy, { path, length: length ?? 0 }))
  for (const path of wholeFiles(disk, paths))
    if (disk.stat(path) !== undefined)
      files.push(await copyWhole(disk, copy, { from: root, path: relative(root, path) }))
  const { root: id, generation } = cut.manifest
  files.push(await copy.write('manifest.json', sourceOf(seal(cut.manifest))))
  files.push(
    await copy.write(
      'watermark.json',
      sourceOf(seal({ v: 1, k: 'watermark', root: id, generation, sequence: cut.sequence, clean: true })),
    ),
  )
  files.push(await copyWhole(disk, copy, { from: root, path: 'root.json' }))
  await copy.finish()
  return files
}

/**
 * Writes a backup of a cut. `backup.json` comes last: without it there is no backup. Where it fails or is interrupted,
 * nothing of it stays.
 */
export const writeBackup = async (options: BackupOptions): Promise<BackupReport> => {
  const { root, disk, clock, cut, progress = noProgress } = options
  const started = clock.elapsed()
  const to = resolve(options.to)
  const facts = readRoot({ root, disk })
  if (facts === undefined) throw absentRoot(root, disk)
  if (isInside(root, to)) throw errors.target_in_root({ details: { path: to } })
  const needed = copiedBytes(disk, layout(root), cut)
  const files = await inTarget({ disk, to, needed }, async () => {
    await onTarget(to, () => disk.makeFolder(join(to, copyFolder)))
    progress.begin('copy', needed)
    const copied = await copyAll(options, join(to, copyFolder))
    const { root_id, generation } = facts
    const file: BackupFile = {
      v: 1,
      k: 'backup',
      root_id,
      generation,
      sequence: cut.sequence,
      created_at_ms: clock.now(),
      files: copied,
    }
    await onTarget(to, () => writeBackupFile(disk, to, file))
    return copied
  })
  return {
    path: join(to, backupFileName),
    root_id: facts.root_id,
    sequence: cut.sequence,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    milliseconds: Math.round(clock.elapsed() - started),
  }
}
