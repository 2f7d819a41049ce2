/**
 * Writes everything that can still be read as a new log behind an empty
 * checkpoint, then swaps the manifest. Pages, indexes and the old log are
 * derived from it again by the next checkpoint.
 */
import { join } from 'node:path'
import type { Ids } from '../../base/ids.js'
import { linkAside, type AsideOptions } from './repair-aside.js'
import type { Disk } from '../disk/disk.js'
import { checkLineAt, createFileLines } from '../format/file-lines.js'
import { numberOf, type Layout } from '../format/layout.js'
import { createLineBuffer, lineValue, type Fault } from '../format/line.js'
import { emptyManifest, readManifest, type Manifest, type SegmentRef, type PagesRef } from '../format/manifest.js'
import { seal } from '../format/sealed.js'
import type { SegmentHeader } from '../format/segment.js'
import { createSegmentFile } from '../log/segment-file.js'
import { createNumbers, guessKept, keepKinds, type FallenEntries } from './salvage-kept.js'
import { survey } from './survey/survey.js'
import { unnamedFiles } from '../pages/sweep.js'
import { readWatermark, writeWatermark } from '../format/watermark.js'

export interface SalvageOptions extends AsideOptions {
  readonly ids: Ids
  readonly rootId: string
  readonly generation: number
  readonly fault: Fault
}

const sizeOf = (disk: Disk, path: string): number => disk.stat(path)?.size ?? 0

/** Every page there is, as if a manifest named it. */
const pagesIn = (disk: Disk, folder: string): Record<string, PagesRef> =>
  Object.fromEntries(
    disk.list(folder).map((name) => {
      const pages = disk
        .list(join(folder, name))
        .filter((file) => file.startsWith('page-') && numberOf(file) !== undefined)
      return [
        name,
        {
          pages: pages.map((file) => ({
            no: numberOf(file) ?? 0,
            length: sizeOf(disk, join(folder, name, file)),
            live: 0,
          })),
          tables: [],
          index: null,
        },
      ]
    }),
  )

const segmentsIn = (disk: Disk, folder: string): SegmentRef[] =>
  disk.list(folder).flatMap((name) => {
    const lines = createFileLines(disk, join(folder, name))
    const { line, ...check } = checkLineAt(lines, 0, { seed: 0, end: lines.length })
    const header = check.ok && line !== undefined ? lineValue<SegmentHeader>(line, 0, line.length) : undefined
    return header?.k === 'segment' && numberOf(name) === header.no
      ? [{ no: header.no, first: header.first, length: lines.length }]
      : []
  })

/** What the manifest would say, had it not been lost. */
const guessManifest = ({ disk, paths, rootId, generation }: SalvageOptions): Manifest => {
  const segments = segmentsIn(disk, paths.log)
  const tombstones = disk.list(paths.tombstones).filter((name) => name.endsWith('.ndjson'))
  return {
    ...emptyManifest(rootId, generation),
    segments,
    sequence: (segments[0]?.first ?? 1) - 1,
    collections: pagesIn(disk, paths.data),
    streams: pagesIn(disk, paths.streams),
    tombstones: Object.fromEntries(
      tombstones.map((name) => [name.slice(0, -'.ndjson'.length), sizeOf(disk, join(paths.tombstones, name))]),
    ),
  }
}

interface Salvaged {
  readonly ops: readonly string[]
  readonly sequence: number
  readonly t: number
  readonly fallen: readonly FallenEntries[]
}

const text = (...op: readonly unknown[]): string => JSON.stringify(op)

/** Collects what counts, as operations on an empty root. */
const collect = ({ disk, paths }: SalvageOptions, manifest: Manifest): Salvaged => {
  const tombstones = new Map<string, string>()
  const written = new Map<string, string>()
  const records: string[] = []
  const entries: string[] = []
  const numbers = createNumbers(manifest)
  const keep = (
    at: { readonly stream: string; readonly owner: string; readonly seq: number },
    entry: unknown,
  ): void => {
    const number = numbers.next(at.stream, at.owner, at.seq)
    if (number !== undefined) entries.push(text('app', at.stream, at.owner, number, entry))
  }
  const replay = survey({
    disk,
    paths,
    manifest,
    watermark: undefined,
    visitor: {
      fault: () => {},
      // What the log writes of a tombstone's id came when it was forgotten.
      tombstone: (collection, id, { reason }) => {
        const key = text(collection, id)
        if (!written.has(key)) tombstones.set(key, text('del', collection, id, reason))
      },
      entries: (stream, { owner, from, entries: found }) => {
        numbers.begin(stream, owner, from)
        found.forEach((entry, at) => keep({ stream, owner, seq: from + at }, entry))
      },
      op: (op) => {
        if (op[0] === 'app') return keep({ stream: op[1], owner: op[2], seq: op[3] }, op[4])
        const key = text(op[1], op[2])
        if (op[0] !== 'put') written.delete(key)
        else {
          written.set(key, text(...op))
          tombstones.delete(key)
        }
        if (op[0] === 'del') tombstones.set(key, text(...op))
      },
      record: (collection, { id, r }, { counts }) => {
        if (counts) records.push(text('put', collection, id, r))
      },
    },
  })
  const alive = [...written].filter(([key]) => !tombstones.has(key)).map(([, op]) => op)
  const ops = [...tombstones.values(), ...records, ...alive, ...entries]
  return { ops, sequence: replay.sequence, t: replay.t, fallen: numbers.fallen }
}

const lineCharacters = 64 * 1024
const segmentBytes = 16 * 1024 * 1024

/** Operations in lines that a reader can still look at. */
const linesOf = function* (ops: readonly string[]): Iterable<readonly string[]> {
  let line: string[] = []
  let size = 0
  for (const op of ops) {
    line.push(op)
    size += op.length
    if (size < lineCharacters) continue
    yield line
    line = []
    size = 0
  }
  if (line.length > 0) yield line
}

const writeLog = async (
  { disk, paths, ids, rootId, generation }: SalvageOptions,
  { ops, sequence, t }: Salvaged,
): Promise<{ segments: SegmentRef[]; last: number }> => {
  const segments: SegmentRef[] = []
  const lines = linesOf(ops)[Symbol.iterator]()
  let no = Math.max(0, ...disk.list(paths.log).map((name) => numberOf(name) ?? 0))
  let s = sequence + 1
  for (let next = lines.next(); next.done !== true;) {
    no += 1
    const first = s
    const segment = await createSegmentFile(disk, paths.log, {
      no,
      root: rootId,
      first,
      salt: ids.random(4),
      generation,
    })
    const buffer = createLineBuffer()
    for (; next.done !== true && buffer.length < segmentBytes; next = lines.next(), s += 1)
      buffer.add(`{"s":${s},"b":${s},"t":${t},"ops":[${next.value.join(',')}]`, segment.seed)
    await segment.append(buffer.bytes(), () => {})
    segments.push({ no, first, length: segment.length })
    await segment.close()
  }
  return { segments, last: s - 1 }
}

const soundManifest = (disk: Disk, paths: Layout, rootId: string): Manifest | undefined => {
  const read = readManifest(disk, paths.manifest)
  return read.ok && read.manifest?.root === rootId ? read.manifest : undefined
}

export const salvage = async (options: SalvageOptions): Promise<void> => {
  const { disk, paths, rootId, generation, fault } = options
  const known = soundManifest(disk, paths, rootId)
  const manifest = known ?? guessKept(options, guessManifest(options))
  const found = collect(options, manifest)
  const sequence = Math.max(found.sequence, readWatermark(disk, paths.watermark).watermark?.sequence ?? 0)
  const old = unnamedFiles(disk, paths, { manifest: emptyManifest(rootId, generation) })
  const { segments, last } = await writeLog(options, { ...found, sequence })
  const left = await keepKinds(options, manifest, found.fallen)
  const drops = []
  for (const file of old)
    drops.push(
      await linkAside(options, {
        ...fault,
        file,
        offset: file === fault.file ? fault.offset : 0,
        rule: `salvaged because of ${fault.file} at byte ${fault.offset}: ${fault.rule}`,
      }),
    )
  if (known === undefined && disk.stat(paths.manifest) !== undefined)
    await linkAside(options, { ...fault, file: paths.manifest, offset: 0 })
  await writeWatermark(disk, paths.watermark, { root: rootId, generation, sequence, clean: false })
  const empty = { ...emptyManifest(rootId, generation), ...left, sequence, t: found.t, segments }
  await disk.replace(paths.manifest, seal(empty))
  await writeWatermark(disk, paths.watermark, { root: rootId, generation, sequence: last, clean: false })
  for (const drop of drops) await drop()
}
