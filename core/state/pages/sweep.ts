/** Files and bytes that the manifest does not name hold nothing that was acknowledged. */
import { join } from 'node:path'
import type { Disk } from '../disk/disk.js'
import { indexName, numberOf, pageName, segmentName, type Layout } from '../format/layout.js'
import type { Manifest, PagesRef } from '../format/manifest.js'
import { tombstonePath } from './tombstones.js'

/** Every file that the manifest names with the bytes that count; null for the segment that is written. */
export const namedFiles = (paths: Layout, manifest: Manifest): Map<string, number | null> => {
  const named = new Map<string, number | null>()
  for (const { no, length } of manifest.segments) named.set(join(paths.log, segmentName(no)), length)
  const addPages = (folder: string, refs: Readonly<Record<string, PagesRef>>): void => {
    for (const [name, { pages, tables }] of Object.entries(refs)) {
      for (const page of pages) named.set(join(folder, name, pageName(page.no)), page.length)
      for (const table of tables) named.set(join(folder, name, indexName(table.no)), table.length)
    }
  }
  addPages(paths.data, manifest.collections)
  addPages(paths.streams, manifest.streams)
  for (const [name, length] of Object.entries(manifest.tombstones))
    named.set(tombstonePath(paths.tombstones, name), length)
  return named
}

const numberedIn = (disk: Disk, folder: string): string[] =>
  disk
    .list(folder)
    .filter((name) => numberOf(name) !== undefined)
    .map((name) => join(folder, name))
const numberedBelow = (disk: Disk, folder: string): string[] =>
  disk.list(folder).flatMap((name) => numberedIn(disk, join(folder, name)))

/** What names files: the manifest, and the tables that are read from. Those that a start made again it names later. */
export interface Naming {
  readonly manifest: Manifest
  readonly inUse?: ReadonlySet<string>
}

/** Files with names of ours that nothing names. Other files are nobody's business here. */
export const unnamedFiles = (disk: Disk, paths: Layout, { manifest, inUse = new Set() }: Naming): string[] => {
  const named = namedFiles(paths, manifest)
  const tombstones = disk
    .list(paths.tombstones)
    .filter((name) => name.endsWith('.ndjson'))
    .map((name) => join(paths.tombstones, name))
  return [
    ...numberedIn(disk, paths.log),
    ...numberedBelow(disk, paths.data),
    ...numberedBelow(disk, paths.streams),
    ...tombstones,
  ].filter((path) => !named.has(path) && !inUse.has(path))
}

const cutTo = async (disk: Disk, path: string, length: number): Promise<void> => {
  const file = await disk.open(path, 'write')
  try {
    await file.truncate(length)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Removes unnamed files and cuts bytes that do not count. Returns what it touched. */
export const sweep = async (disk: Disk, paths: Layout, naming: Naming): Promise<string[]> => {
  const { manifest } = naming
  const swept = unnamedFiles(disk, paths, naming)
  for (const path of swept) await disk.unlink(path)
  for (const [path, length] of namedFiles(paths, manifest)) {
    if (length === null || (disk.stat(path)?.size ?? 0) <= length) continue
    await cutTo(disk, path, length)
    swept.push(path)
  }
  return swept
}
