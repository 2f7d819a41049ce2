/**
 * A disk in memory that knows what is safe. Every call that changes something
 * is numbered; before each one the image can be copied, and any one of them
 * can fail. `replace` is the steps it consists of.
 */
import { basename, dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fault } from '../../core/base/assert.js'
import type { Disk, DiskFile, FileStat } from '../../core/state/disk/disk.js'
import {
  applyNames,
  applyWrite,
  emptyFile,
  emptyFolder,
  emptyImage,
  rootNode,
  type FileNode,
  type FolderNode,
  type Image,
  type Names,
  type Node,
  type Write,
} from './image.js'
import type { Random } from './random.js'

export type Call =
  | 'create'
  | 'open'
  | 'write'
  | 'sync'
  | 'truncate'
  | 'rename'
  | 'unlink'
  | 'link'
  | 'makeFolder'
  | 'removeFolder'
  | 'syncFolder'
export interface Operation {
  readonly number: number
  readonly call: Call
  readonly path: string
}
/**
 * `short`: a part of the bytes is written, then there is no space. A failed sync loses what it should have made safe
 * and says so once.
 */
export type FaultKind = 'EIO' | 'ENOSPC' | 'EMFILE' | 'short'

export interface SimulationOptions {
  readonly image?: Image
  /** Where the image's root is; a path above it does not exist. */
  readonly root: string
  /** Called before each operation: what is on the disk now would survive a crash between two operations. */
  readonly before?: (operation: Operation) => void
  /** The fault of an operation, if it fails. */
  readonly fail?: (operation: Operation) => FaultKind | undefined
  /** Operations that succeed and do nothing: a careless disk, or a store that does not ask. */
  readonly forget?: (operation: Operation) => boolean
  /** Decides how much of a failed call took effect. */
  readonly random?: Random
  /** Waits a turn of the event loop before each operation, so that promises that are due settle first. */
  readonly paced?: boolean
}

export interface SimulatedDisk extends Disk {
  /** The image as it is now; it will not change. */
  image(): Image
  readonly operations: number
  /** Files that are open. */
  readonly opened: number
}

const systemError = (code: string, path: string): Error => Object.assign(fault(`${code}: ${path}`), { code })

/** Paths come again and again. */
const known = new Map<string, readonly string[] | undefined>()
const namesOf = (root: string, path: string): readonly string[] | undefined => {
  if (known.has(path)) return known.get(path)
  const names = path === root ? [] : path.startsWith(`${root}/`) ? path.slice(root.length + 1).split('/') : undefined
  if (known.size > 50_000) known.clear()
  known.set(path, names)
  return names
}

export const createSimulatedDisk = (options: SimulationOptions): SimulatedDisk => new Simulation(options).disk()

class Simulation {
  private readonly nodes: Map<number, Node>
  private readonly options: SimulationOptions
  private number = 0
  private nextNode: number
  private opened = 0

  constructor(options: SimulationOptions) {
    this.options = options
    this.nodes = new Map(options.image ?? emptyImage())
    this.nextNode = 1 + Math.max(...this.nodes.keys())
  }

  disk(): SimulatedDisk {
    const operations = (): number => this.number
    const opened = (): number => this.opened
    return {
      image: () => new Map(this.nodes),
      get operations() {
        return operations()
      },
      get opened() {
        return opened()
      },
      open: (path, how) => this.open(path, how),
      openSync: (path) => this.handle(path, this.file(path), false),
      readFile: (path, most) => this.read(path)?.subarray(0, most),
      replace: (path, bytes) => this.replace(path, bytes),
      rename: (from, to) => this.rename(from, to),
      unlink: (path) => this.unlink(path),
      link: (from, to) => this.link(from, to),
      makeFolder: (path) => this.makeFolder(path),
      removeFolder: (path) => this.removeFolder(path),
      restrict: async () => {},
      syncFolder: (path) => this.syncFolder(path),
      list: (path) => this.list(path),
      stat: (path) => this.stat(path),
      space: () => ({ free: 1e12, type: 0xef53 }),
    }
  }

  /** Numbers an operation, and throws its fault unless only a part of it fails. */
  private async operate(call: Call, path: string): Promise<FaultKind | 'forget' | undefined> {
    if (this.options.paced === true) await setImmediate()
    this.number += 1
    const operation = { number: this.number, call, path }
    this.options.before?.(operation)
    if ((call === 'sync' || call === 'syncFolder') && this.options.forget?.(operation) === true) return 'forget'
    const kind = this.options.fail?.(operation)
    if (kind === undefined) return undefined
    if ((call === 'write' && kind === 'short') || call === 'sync' || call === 'syncFolder') return kind
    throw systemError(kind === 'short' ? 'ENOSPC' : kind, path)
  }

  private find(path: string): number | undefined {
    const { root } = this.options
    let at: number | undefined = rootNode
    for (const name of namesOf(root, path) ?? ['/']) {
      const node: Node | undefined = at === undefined ? undefined : this.nodes.get(at)
      at = node?.kind === 'folder' ? node.names.get(name) : undefined
    }
    return at
  }
  private folder(path: string): { readonly at: number; readonly node: FolderNode } {
    const at = this.find(path)
    const node = at === undefined ? undefined : this.nodes.get(at)
    if (at === undefined || node === undefined) throw systemError('ENOENT', path)
    if (node.kind !== 'folder') throw systemError('ENOTDIR', path)
    return { at, node }
  }
  private file(path: string): number {
    const at = this.find(path)
    if (at === undefined) throw systemError('ENOENT', path)
    this.fileNode(at)
    return at
  }
  private fileNode(at: number): FileNode {
    const node = this.nodes.get(at)
    if (node?.kind !== 'file') throw systemError('EISDIR', String(at))
    return node
  }

  /** Changes names, in one or two folders, as one step. */
  private name(...changes: readonly { readonly folder: string; readonly set: Names }[]): void {
    const step = {}
    for (const { folder, set } of changes) {
      const { at, node } = this.folder(folder)
      this.nodes.set(at, {
        ...node,
        names: applyNames(node.names, set),
        pending: [...node.pending, { set, step, kept: false }],
      })
    }
  }
  private nameOne(path: string, node: number | undefined): void {
    this.name({ folder: dirname(path), set: new Map([[basename(path), node]]) })
  }

  private async open(path: string, how: 'read' | 'write' | 'create'): Promise<DiskFile> {
    await this.operate(how === 'create' ? 'create' : 'open', path)
    if (how !== 'create') return this.handle(path, this.file(path), how === 'write')
    if (this.find(path) !== undefined) throw systemError('EEXIST', path)
    this.folder(dirname(path))
    const at = this.nextNode++
    this.nodes.set(at, emptyFile)
    this.nameOne(path, at)
    return this.handle(path, at, true)
  }

  private handle(path: string, at: number, writable: boolean): DiskFile {
    this.opened += 1
    const mayWrite = (): void => {
      if (!writable) throw systemError('EBADF', path)
    }
    return {
      path,
      write: async (bytes, position) => {
        mayWrite()
        await this.write({ path, at }, bytes, position)
      },
      sync: async () => {
        mayWrite()
        await this.sync(path, at)
      },
      truncate: async (length) => {
        mayWrite()
        await this.operate('truncate', path)
        this.change(at, { length })
      },
      size: () => this.fileNode(at).data.length,
      read: (position, length) => this.fileNode(at).data.slice(position, position + length),
      close: async () => {
        this.opened -= 1
      },
    }
  }
  private change(at: number, write: Write): void {
    const node = this.fileNode(at)
    this.nodes.set(at, { ...node, data: applyWrite(node.data, write), pending: [...node.pending, write] })
  }
  private async write(
    { path, at }: { readonly path: string; readonly at: number },
    bytes: Uint8Array,
    position: number,
  ): Promise<void> {
    const copy = Uint8Array.from(bytes)
    const kind = await this.operate('write', path)
    const part = kind === undefined ? copy.length : this.below(copy.length)
    if (part > 0) this.change(at, { at: position, bytes: copy.subarray(0, part) })
    if (kind !== undefined) throw systemError('ENOSPC', path)
  }
  private below(limit: number): number {
    return this.options.random?.below(Math.max(1, limit)) ?? Math.floor(limit / 2)
  }
  /**
   * A failed sync leaves the bytes readable and calls them clean, though any of them may not be on the disk: no later
   * sync writes them.
   */
  private async sync(path: string, at: number): Promise<void> {
    const kind = await this.operate('sync', path)
    if (kind === 'forget') return
    const node = this.fileNode(at)
    const { pending } = node
    if (kind === undefined) {
      this.nodes.set(at, {
        ...node,
        safe: pending.length === 0 ? node.safe : pending.reduce(applyWrite, node.safe),
        pending: [],
      })
      return
    }
    const arrived = pending.slice(0, this.below(pending.length + 1))
    this.nodes.set(at, { ...node, safe: arrived.slice(0, -1).reduce(applyWrite, node.safe), pending: [] })
    throw systemError(kind === 'short' ? 'ENOSPC' : kind, path)
  }

  private async replace(path: string, bytes: Uint8Array): Promise<void> {
    const temporary = `${path}.${this.nextNode}`
    try {
      const file = await this.open(temporary, 'create')
      try {
        await file.write(bytes, 0)
        await file.sync()
      } finally {
        await file.close()
      }
      await this.rename(temporary, path)
    } catch (cause) {
      await this.unlink(temporary).catch(() => undefined)
      throw cause
    }
    await this.syncFolder(dirname(path))
  }
  private async rename(from: string, to: string): Promise<void> {
    await this.operate('rename', from)
    const at = this.find(from)
    if (at === undefined) throw systemError('ENOENT', from)
    this.folder(dirname(to))
    // Two names of one file: POSIX leaves both.
    if (this.find(to) === at) return
    const gone: [string, undefined] = [basename(from), undefined]
    const come: [string, number] = [basename(to), at]
    if (dirname(from) === dirname(to))
      this.name({ folder: dirname(to), set: new Map<string, number | undefined>([gone, come]) })
    else this.name({ folder: dirname(from), set: new Map([gone]) }, { folder: dirname(to), set: new Map([come]) })
  }
  private async unlink(path: string): Promise<void> {
    await this.operate('unlink', path)
    this.file(path)
    this.nameOne(path, undefined)
  }
  private async link(from: string, to: string): Promise<void> {
    await this.operate('link', to)
    if (this.find(to) !== undefined) throw systemError('EEXIST', to)
    this.nameOne(to, this.file(from))
  }
  private async makeFolder(path: string): Promise<void> {
    const found = this.find(path)
    if (found !== undefined && this.nodes.get(found)?.kind === 'folder') return
    await this.operate('makeFolder', path)
    if (found !== undefined) throw systemError('EEXIST', path)
    this.folder(dirname(path))
    const at = this.nextNode++
    this.nodes.set(at, emptyFolder)
    this.nameOne(path, at)
  }
  private async removeFolder(path: string): Promise<void> {
    await this.operate('removeFolder', path)
    if (this.folder(path).node.names.size > 0) throw systemError('ENOTEMPTY', path)
    this.nameOne(path, undefined)
  }
  /**
   * Names are metadata of a journal that gives up as a whole: after a failed sync those that did not arrive still wait.
   */
  private async syncFolder(path: string): Promise<void> {
    const kind = await this.operate('syncFolder', path)
    if (kind === 'forget') return
    const { at, node } = this.folder(path)
    const arrived = kind === undefined ? node.pending : node.pending.slice(0, this.below(node.pending.length))
    const safe = arrived.reduce((names, { set }) => applyNames(names, set), node.safe)
    for (const { step } of arrived) this.keepElsewhere(step)
    this.nodes.set(at, { ...node, safe, pending: node.pending.slice(arrived.length) })
    if (kind !== undefined) throw systemError(kind === 'short' ? 'ENOSPC' : kind, path)
  }

  /** The other half of a move is as safe as this one. */
  private keepElsewhere(step: object): void {
    for (const [at, node] of this.nodes) {
      if (node.kind !== 'folder' || !node.pending.some((change) => change.step === step)) continue
      this.nodes.set(at, {
        ...node,
        pending: node.pending.map((change) => (change.step === step ? { ...change, kept: true } : change)),
      })
    }
  }

  private read(path: string): Uint8Array | undefined {
    const at = this.find(path)
    return at === undefined ? undefined : this.fileNode(at).data.slice()
  }
  private list(path: string): string[] {
    const at = this.find(path)
    const node = at === undefined ? undefined : this.nodes.get(at)
    return node?.kind === 'folder' ? [...node.names.keys()].toSorted() : []
  }
  private stat(path: string): FileStat | undefined {
    const at = this.find(path)
    const node = at === undefined ? undefined : this.nodes.get(at)
    if (at === undefined || node === undefined) return undefined
    const size = node.kind === 'file' ? node.data.length : 0
    return {
      kind: node.kind,
      size,
      mode: node.kind === 'file' ? 0o600 : 0o700,
      uid: process.getuid?.() ?? 0,
      dev: 1,
      ino: at,
      links: 1,
    }
  }
}
