/** Every name under a state root: who may read it, whose it is, and whether anything counts on it. */
import { basename, join } from 'node:path'
import type { Disk, FileStat } from '../disk/disk.js'
import { digestFile } from '../disk/pieces.js'
import {
  indexName,
  numberOf,
  ownFiles,
  ownFolders,
  pageName,
  programFolders,
  segmentName,
  theirFolders,
  type Layout,
} from '../format/layout.js'
import type { Manifest, PagesRef } from '../format/manifest.js'
import { unseal } from '../format/sealed.js'
import { isSpoolName } from '../side/spool.js'
import { spoolFault } from '../side/spool-sweep.js'
import { isTemporary } from '../disk/temps.js'
import { tombstonePath } from '../pages/tombstones.js'
import type { Inspection } from './verify-findings.js'

export interface TreeOptions {
  readonly disk: Disk
  readonly paths: Layout
  /** Absent where it cannot be read: then no file can be called left over. */
  readonly manifest: Manifest | undefined
  /** A daemon is at work: files that nothing names yet are its own. */
  readonly live: boolean
  readonly inspection: Inspection
}

const theirs: ReadonlySet<string> = new Set([...theirFolders, ...programFolders, 'lost+found', 'README.md'])
const files: ReadonlySet<string> = new Set(ownFiles)
const folders: ReadonlySet<string> = new Set(ownFolders)

/** Behind the rule of a name that is strange: it is a folder, a link, a pipe or a device. */
export const norFile = ', and it is no file'

const exposed = ({ mode, uid }: FileStat): string | undefined => {
  if (uid !== (process.getuid?.() ?? uid)) return `it belongs to user ${uid}`
  return (mode & 0o077) === 0 ? undefined : `other users have rights to it: its mode is ${mode.toString(8)}`
}

/** A look at one name; undefined if it went away or is not what it should be. */
const lookAt = ({ disk, inspection }: TreeOptions, path: string, kind: 'file' | 'folder'): FileStat | undefined => {
  const stat = disk.stat(path)
  if (stat === undefined) return undefined
  inspection.count(kind === 'file' ? { files: 1, bytes: stat.size } : { items: 1 })
  if (stat.kind !== kind)
    return (inspection.add('stranger', { file: path, offset: 0, rule: `it should be a ${kind}` }), undefined)
  const rule = exposed(stat)
  if (rule !== undefined) inspection.add('mode', { file: path, offset: 0, rule })
  return stat
}

/** There, and no file. */
const isOther = (disk: Disk, path: string): boolean => (disk.stat(path)?.kind ?? 'file') !== 'file'

/** A repair sets files aside, and nothing else. */
const addStranger = ({ disk, inspection }: TreeOptions, path: string): void => {
  const rule = `no file of the daemon has this name${isOther(disk, path) ? norFile : ''}`
  inspection.add('stranger', { file: path, offset: 0, rule })
}

/** `leftover`: the daemon made it and nothing names it. */
type Naming = (name: string) => 'named' | 'leftover' | 'stranger'

const numberedIn =
  (named: ReadonlySet<string>): Naming =>
  (name) => {
    if (named.has(name)) return 'named'
    return numberOf(name) === undefined ? 'stranger' : 'leftover'
  }

const lookInside = (options: TreeOptions, folder: string, naming: Naming): void => {
  const { disk, inspection, live, manifest } = options
  for (const name of disk.list(folder)) {
    const path = join(folder, name)
    const found = isTemporary(name) ? 'leftover' : naming(name)
    if (found !== 'named' && isOther(disk, path)) {
      addStranger(options, path)
      continue
    }
    if (lookAt(options, path, 'file') === undefined) continue
    if (found === 'stranger') addStranger(options, path)
    else if (found === 'leftover' && !live && manifest !== undefined)
      inspection.add('leftover', {
        file: path,
        offset: 0,
        rule: isTemporary(name) ? 'a replacement that was cut off' : 'the manifest does not name it',
      })
  }
}

const pageFileNames = (ref: PagesRef | undefined): ReadonlySet<string> =>
  new Set([...(ref?.pages ?? []).map(({ no }) => pageName(no)), ...(ref?.tables ?? []).map(({ no }) => indexName(no))])

const lookAtPages = (options: TreeOptions, folder: string, refs: Readonly<Record<string, PagesRef>>): void => {
  for (const name of options.disk.list(folder)) {
    const path = join(folder, name)
    if (lookAt(options, path, 'folder') !== undefined) lookInside(options, path, numberedIn(pageFileNames(refs[name])))
  }
}

const lookAtFolders = (options: TreeOptions): void => {
  const { paths, manifest, disk } = options
  for (const name of ownFolders) if (name !== 'lock') lookAt(options, join(paths.root, name), 'folder')
  lookInside(options, paths.log, numberedIn(new Set((manifest?.segments ?? []).map(({ no }) => segmentName(no)))))
  lookAtPages(options, paths.data, manifest?.collections ?? {})
  lookAtPages(options, paths.streams, manifest?.streams ?? {})
  const tombstones = new Set(Object.keys(manifest?.tombstones ?? {}).map((of) => basename(tombstonePath('', of))))
  lookInside(options, paths.tombstones, (name) =>
    tombstones.has(name) ? 'named' : name.endsWith('.ndjson') ? 'leftover' : 'stranger',
  )
  lookInside(options, paths.quarantine, () => 'named')
  const secrets = join(paths.root, 'secrets')
  if (lookAt(options, secrets, 'folder') !== undefined)
    for (const name of disk.list(secrets)) lookAt(options, join(secrets, name), 'file')
}

/** Modes, owners and names of everything that is not a document or a blob. */
export const verifyTree = (options: TreeOptions): void => {
  const { disk, paths, inspection, live } = options
  lookAt(options, paths.root, 'folder')
  for (const name of disk.list(paths.root)) {
    const path = join(paths.root, name)
    if (files.has(name)) lookAt(options, path, 'file')
    else if (isTemporary(name) && !live)
      inspection.add('leftover', { file: path, offset: 0, rule: 'a replacement that was cut off' })
    else if (!isTemporary(name) && !folders.has(name) && !theirs.has(name)) addStranger(options, path)
  }
  lookAtFolders(options)
}

export const verifyDocuments = (options: TreeOptions): void => {
  const { disk, paths, inspection } = options
  const folder = join(paths.root, 'documents')
  lookInside(options, folder, (name) => (name.endsWith('.json') ? 'named' : 'stranger'))
  for (const name of disk.list(folder).filter((found) => found.endsWith('.json'))) {
    const file = join(folder, name)
    const bytes = disk.readFile(file)
    inspection.count({ items: 1 })
    if (bytes !== undefined && unseal(bytes) === undefined)
      inspection.add('document', { file, offset: 0, rule: 'its bytes do not match its digest' })
  }
}

const blobName = /^[0-9a-f]{64}$/u

const verifyShard = (options: TreeOptions, shard: string): void => {
  const { disk, inspection } = options
  lookInside(options, shard, (name) => (blobName.test(name) && name.startsWith(basename(shard)) ? 'named' : 'stranger'))
  for (const name of disk.list(shard).filter((found) => blobName.test(found))) {
    const file = join(shard, name)
    const found = digestFile(disk, file)
    inspection.count({ items: 1 })
    if (found !== undefined && found.sha256 !== name)
      inspection.add('blob', { file, offset: 0, rule: `its ${found.bytes} bytes are not those of its name` })
  }
}

export const verifyBlobs = (options: TreeOptions): void => {
  const { disk, paths } = options
  const top = join(paths.root, 'blobs')
  for (const area of disk.list(top).map((name) => join(top, name))) {
    if (lookAt(options, area, 'folder') === undefined) continue
    for (const shard of disk.list(area).map((name) => join(area, name)))
      if (lookAt(options, shard, 'folder') !== undefined) verifyShard(options, shard)
  }
}

export const verifySpools = (options: TreeOptions): void => {
  const { disk, paths, inspection, live } = options
  const top = join(paths.root, 'spools')
  for (const area of disk.list(top).map((name) => join(top, name))) {
    if (lookAt(options, area, 'folder') === undefined) continue
    lookInside(options, area, (name) => (isSpoolName(name) ? 'named' : 'stranger'))
    for (const file of disk
      .list(area)
      .filter(isSpoolName)
      .map((name) => join(area, name))) {
      inspection.count({ items: 1 })
      const fault = spoolFault(disk, file)
      if (fault !== undefined && !(live && fault.cut))
        inspection.add(fault.cut ? 'leftover' : 'spool', { file, offset: 0, rule: fault.rule })
    }
  }
}
