/**
 * What a disk holds: for every file the bytes a reader sees and the bytes that
 * are safe, with the writes between them; for every folder its names in the
 * same way. Images never change: each operation makes a new node, so a copy of
 * the map of nodes is a copy of the disk.
 */
import type { Random } from './random.js'

/** One change of a file since its last sync. */
export type Write = { readonly at: number; readonly bytes: Uint8Array } | { readonly length: number }
export interface FileNode {
  readonly kind: 'file'
  readonly data: Uint8Array
  readonly safe: Uint8Array
  readonly pending: readonly Write[]
}
/** Names that one step sets or, with undefined, removes. */
export type Names = ReadonlyMap<string, number | undefined>
/** One change of a folder since its last sync. */
export interface NameChange {
  readonly set: Names
  /** The step it belongs to: a move between two folders is a change of both, and survives in both or in none. */
  readonly step: object
  /** The other folder of the step was synced. */
  readonly kept: boolean
}
export interface FolderNode {
  readonly kind: 'folder'
  readonly names: ReadonlyMap<string, number>
  readonly safe: ReadonlyMap<string, number>
  readonly pending: readonly NameChange[]
}
export type Node = FileNode | FolderNode
export type Image = ReadonlyMap<number, Node>

export const rootNode = 1
const nothing = new Uint8Array(0)
export const emptyFile: FileNode = { kind: 'file', data: nothing, safe: nothing, pending: [] }
export const emptyFolder: FolderNode = { kind: 'folder', names: new Map(), safe: new Map(), pending: [] }
export const emptyImage = (): Image => new Map<number, Node>([[rootNode, emptyFolder]])

export const applyWrite = (before: Uint8Array, write: Write): Uint8Array => {
  if ('length' in write) {
    const cut = new Uint8Array(write.length)
    cut.set(before.subarray(0, write.length))
    return cut
  }
  const after = new Uint8Array(Math.max(before.length, write.at + write.bytes.length))
  after.set(before)
  after.set(write.bytes, write.at)
  return after
}
const applyAll = (before: Uint8Array, writes: readonly Write[]): Uint8Array => writes.reduce(applyWrite, before)

export const applyNames = (before: ReadonlyMap<string, number>, set: Names): Map<string, number> => {
  const after = new Map(before)
  for (const [name, node] of set) {
    if (node === undefined) after.delete(name)
    else after.set(name, node)
  }
  return after
}

/** What a power cut does to everything that was not synced. */
export const policies = ['drop', 'keep', 'tear', 'reorder', 'zero', 'names'] as const
export type Policy = (typeof policies)[number]

const sector = 512

const tearFile = (node: FileNode, random: Random): Uint8Array => {
  const whole = random.below(node.pending.length + 1)
  const before = applyAll(node.safe, node.pending.slice(0, whole))
  const torn = node.pending[whole]
  if (torn === undefined || 'length' in torn) return before
  const at = random.below(torn.bytes.length + 1)
  const sectors = random.chance(0.5) ? at - ((torn.at + at) % sector) : at
  return applyWrite(before, { at: torn.at, bytes: torn.bytes.subarray(0, Math.max(0, sectors)) })
}
/**
 * Sectors of a write reach the disk in any order: any of them may be missing, with what was there before or nothing in
 * its place.
 */
const scatter = (write: Write, random: Random): Write[] => {
  if ('length' in write) return random.chance(0.5) ? [write] : []
  const parts: Write[] = []
  for (let from = 0, to = 0; from < write.bytes.length; from = to) {
    to = Math.min(write.bytes.length, from + sector - ((write.at + from) % sector))
    if (random.chance(0.6)) parts.push({ at: write.at + from, bytes: write.bytes.subarray(from, to) })
  }
  return parts
}
/** The length arrived, the bytes did not, from a random place on. */
const zeroFile = (node: FileNode, random: Random): Uint8Array => {
  const after = new Uint8Array(node.data)
  const from = node.safe.length + random.below(Math.max(1, after.length - node.safe.length + 1))
  return after.length > node.safe.length ? after.fill(0, from) : after
}

const surviveFile = (node: FileNode, policy: Policy, random: Random): Uint8Array => {
  if (node.pending.length === 0 || policy === 'drop') return node.safe
  switch (policy) {
    case 'keep':
      return applyAll(node.safe, node.pending)
    case 'tear':
      return tearFile(node, random)
    case 'reorder':
      return applyAll(
        node.safe,
        node.pending.flatMap((write) => scatter(write, random)),
      )
    case 'zero':
      return zeroFile(node, random)
    default:
      return applyAll(
        node.safe,
        node.pending.filter(() => random.chance(0.5)),
      )
  }
}

const surviveNames = (node: FolderNode, survives: (step: object) => boolean): ReadonlyMap<string, number> => {
  if (node.pending.length === 0) return node.safe
  return node.pending.reduce(
    (names, { set, step, kept }) => (kept || survives(step) ? applyNames(names, set) : names),
    node.safe,
  )
}

/** Name changes survive all, none, up to a point, or each on its own. */
const nameChoice = (image: Image, policy: Policy, random: Random): ((step: object) => boolean) => {
  if (policy === 'drop') return () => false
  if (policy === 'keep') return () => true
  const each = policy === 'names' || random.chance(0.5)
  const ordered = [
    ...new Set(
      [...image.values()].flatMap((node) => (node.kind === 'folder' ? node.pending.map(({ step }) => step) : [])),
    ),
  ]
  const until = random.below(ordered.length + 1)
  const kept = new Set(ordered.filter((_, at) => (each ? random.chance(0.5) : at < until)))
  return (step) => kept.has(step)
}

/** True if a power cut now can leave only one image. */
export const isSettled = (image: Image): boolean => {
  for (const node of image.values()) if (node.pending.length > 0) return false
  return true
}

/** The disk after a power cut: everything on it is durable, and what no name reaches is gone. */
export const crash = (image: Image, policy: Policy, random: Random): Image => {
  const survives = nameChoice(image, policy, random)
  const after = new Map<number, Node>()
  const visit = (at: number): void => {
    const node = image.get(at)
    if (node === undefined || after.has(at)) return
    if (node.kind === 'file') {
      const data = surviveFile(node, policy, random)
      after.set(at, { kind: 'file', data, safe: data, pending: [] })
      return
    }
    const names = surviveNames(node, survives)
    after.set(at, { kind: 'folder', names, safe: names, pending: [] })
    for (const child of names.values()) visit(child)
  }
  visit(rootNode)
  return after
}

/** Every file of an image by its path, for comparing and for people. */
export const filesOf = (image: Image, at = rootNode, path = ''): Map<string, Uint8Array> => {
  const node = image.get(at)
  if (node === undefined) return new Map()
  if (node.kind === 'file') return new Map([[path, node.data]])
  return new Map(
    [...node.names]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, child]) => [...filesOf(image, child, `${path}/${name}`)]),
  )
}
