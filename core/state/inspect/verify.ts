/**
 * Checks a state root and changes nothing: every checksum, every number, every
 * name, and with the plugins' declarations every record and every reference.
 * On a root that a daemon writes to, what it reads is a consistent prefix.
 */
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../base/clock.js'
import { Problem } from '../../base/errors.js'
import { noInterrupts, type Interrupts } from '../../base/interrupts.js'
import { noProgress, type Progress } from '../../base/text/progress.js'
import { blobPath } from '../side/blobs.js'
import type { BlobRef } from '../contract.js'
import type { Disk } from '../disk/disk.js'
import { errors } from '../errors.js'
import { layout, type Layout } from '../format/layout.js'
import { namedFiles } from '../pages/sweep.js'
import { checkIsRoot } from './is-root.js'
import { readManifest, type Manifest } from '../format/manifest.js'
import { mayLive } from '../root/owner.js'
import { readRoot, type RootFacts } from '../root/root-document.js'
import { survey, type SurveyPlace } from './survey/survey.js'
import { fallenOf } from './survey/fallen.js'
import type { SurveyVisitor } from './survey/visitor.js'
import { forgets } from '../memory/removals.js'
import { watchChains } from './verify-chains.js'
import { createInspection, type Checked, type Finding, type Inspection } from './verify-findings.js'
import { noDeclarations, watchRecords, type Declarations } from './verify-records.js'
import { watchTombstones } from './verify-pages.js'
import { watchStreams } from './verify-streams.js'
import { readSuspects } from './verify-suspects.js'
import { watchTables } from './verify-tables.js'
import { verifyBlobs, verifySpools, verifyDocuments, verifyTree } from './verify-tree.js'
import { readWatermark, type Watermark } from '../format/watermark.js'

export type { Declarations } from './verify-records.js'
export type { Checked, Finding } from './verify-findings.js'

export interface VerifyOptions {
  readonly root: string
  readonly disk: Disk
  readonly clock: Clock
  /** What the plugins declare; without it no record is held against its struct. */
  readonly declared?: Declarations
  /** Whether a daemon writes to the root meanwhile; asked from the owner's record when absent. */
  readonly live?: boolean
  readonly progress?: Progress
  readonly interrupts?: Interrupts
}

export interface VerifyReport {
  readonly root: string
  readonly live: boolean
  /** Last commit that was read. */
  readonly sequence: number
  readonly records: Readonly<Record<string, number>>
  readonly entries: Readonly<Record<string, number>>
  readonly findings: readonly Finding[]
  readonly checked: readonly Checked[]
  /** Nothing but what the next start clears by itself. */
  readonly clean: boolean
}

interface Check {
  readonly disk: Disk
  readonly paths: Layout
  readonly live: boolean
  readonly inspection: Inspection
  readonly declared: Declarations
}

const checkRootFacts = ({ disk, paths, inspection }: Check): RootFacts | undefined => {
  const file = join(paths.root, 'root.json')
  try {
    const facts = readRoot({ root: paths.root, disk })
    if (facts === undefined) inspection.add('root', { file, offset: 0, rule: 'the file is missing' })
    return facts
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== errors.state_root_damaged.code) throw error
    inspection.add('root', { file, offset: 0, rule: 'its bytes do not match its digest' })
    return undefined
  }
}

const checkWatermark = ({ disk, paths, inspection }: Check, manifest: Manifest | undefined): Watermark | undefined => {
  const { watermark, broken } = readWatermark(disk, paths.watermark)
  const wrong = broken
    ? 'its bytes do not match its digest'
    : watermark !== undefined && manifest !== undefined && watermark.root !== manifest.root
      ? 'it is that of another root'
      : undefined
  if (wrong !== undefined) inspection.add('watermark', { file: paths.watermark, offset: 0, rule: wrong })
  return wrong === undefined ? watermark : undefined
}

const checkManifest = ({ disk, paths, inspection }: Check, facts: RootFacts | undefined): Manifest | undefined => {
  const read = readManifest(disk, paths.manifest)
  if (!read.ok) return (inspection.add('manifest', read.fault), undefined)
  const { manifest } = read
  if (manifest === undefined) {
    const used = [paths.log, paths.data, paths.streams].some((folder) => disk.list(folder).length > 0)
    if (used) inspection.add('manifest', { file: paths.manifest, offset: 0, rule: 'the file is missing' })
    return undefined
  }
  if (facts !== undefined && manifest.root !== facts.root_id)
    inspection.add('manifest', { file: paths.manifest, offset: 0, rule: 'it is that of another root' })
  return manifest
}

interface Content {
  readonly sequence: number
  readonly records: Record<string, number>
  readonly entries: Record<string, number>
}

const isForgettingIn =
  ({ collections }: Declarations) =>
  (collection: string): boolean => {
    const spec = collections.get(collection)
    return spec !== undefined && forgets(spec)
  }

const checkContent = (
  { disk, paths, live, inspection, declared }: Check,
  manifest: Manifest,
  watermark: Watermark | undefined,
): Content => {
  const report: Inspection['add'] = (kind, fault) => {
    if (!live || (kind !== 'torn' && kind !== 'behind')) inspection.add(kind, fault)
  }
  const place: SurveyPlace = { disk, paths, manifest, watermark }
  const fallen = fallenOf(manifest)
  const [tombstones, entries, tables, chains] = [
    watchTombstones(report, isForgettingIn(declared)),
    watchStreams(report, place, fallen.stream),
    watchTables({ report, count: inspection.count }, declared.collections),
    watchChains({ streams: declared.streams, mayBegin: fallen.stream }),
  ]
  // On a live root a record may be read before, and its blob looked for after, both were removed.
  const hasBlob = (area: string, { sha256, bytes }: BlobRef): boolean =>
    live || disk.stat(blobPath(join(paths.blobs, area), sha256))?.size === bytes
  const records = watchRecords(report, declared, { read: chains.record, hasBlob, hasFallen: fallen.id })
  const visitor: SurveyVisitor = {
    fault: report,
    count: inspection.count,
    tables: (pageStore, sound) => {
      tables.tables(pageStore, sound)
      entries.tables(pageStore, sound)
    },
    row: (pageStore, row) => {
      tables.row(pageStore, row)
      entries.row(pageStore, row)
    },
    matched: entries.matched,
    found: records.found,
    look: (area, run) =>
      inspection.look(area, () => {
        if (area === 'data') records.settle()
        return run()
      }),
    tombstone: (collection, id) => {
      tombstones.tombstone(collection, id)
      tables.tombstone(collection)
    },
    dead: tables.dead,
    entries: (stream, line, at) => {
      const { owner, from } = line
      entries.entries(stream, line, at)
      chains.entries(stream, line)
      line.entries.forEach((entry, n) => records.entry(stream, { owner, seq: from + n, entry }, at))
    },
    op: (op, _line, at) => {
      tombstones.op(op, at)
      if (op[0] === 'put') return records.put(op[1], { id: op[2], record: op[3] }, at)
      if (op[0] !== 'app') return records.remove(op[1], op[2])
      const [, stream, owner, seq, entry] = op
      entries.append(stream, { owner, seq }, at)
      chains.entries(stream, { owner, from: seq, entries: [entry] })
      records.entry(stream, { owner, seq, entry }, at)
    },
    record: (collection, line, at) => {
      tables.record(collection, line)
      if (at.counts) records.record(collection, { id: line.id, record: line.r }, at)
    },
    finish: () => {
      inspection.look('indexes', tables.finish)
      inspection.look('references', records.finish)
      inspection.look('entries', entries.finish)
    },
  }
  const { sequence } = survey({ ...place, visitor })
  inspection.look('chains', () => chains.suspects(entries.owners).forEach((some) => readSuspects(place, some, report)))
  return { sequence, records: records.counts(), entries: entries.counts() }
}

/** Counts bytes that are read. */
const readingIn = (inspection: Inspection, { advance }: Progress): Inspection => ({
  ...inspection,
  count: (counts) => {
    inspection.count(counts)
    advance(counts.bytes ?? 0)
  },
})

/** Bytes of the files that are read line by line, and of blobs. */
const bytesOf = ({ disk, paths }: Check, manifest: Manifest | undefined): number => {
  const sizeOf = (path: string): number => disk.stat(path)?.size ?? 0
  const named = manifest === undefined ? [] : [...namedFiles(paths, manifest)]
  const below = (folder: string): string[] => disk.list(folder).map((name) => join(folder, name))
  const sum = (sizes: readonly number[]): number => sizes.reduce((a, b) => a + b, 0)
  // Names of one folder at a time: there may be more blobs than their paths have room in memory.
  const inBlobs = below(paths.blobs)
    .flatMap(below)
    .map((shard) => sum(below(shard).map(sizeOf)))
  return sum([...named.map(([path, length]) => length ?? sizeOf(path)), ...inBlobs])
}

const noContent: Content = { sequence: 0, records: {}, entries: {} }

const checkOnce = (options: VerifyOptions & { readonly live: boolean }): VerifyReport => {
  const { root, disk, clock, live, declared = noDeclarations } = options
  const { progress = noProgress } = options
  const inspection = createInspection(clock)
  const paths = layout(root)
  const check: Check = { disk, paths, live, inspection, declared }
  const { manifest, watermark } = inspection.look('root', () => {
    const facts = checkRootFacts(check)
    const found = checkManifest(check, facts)
    return { manifest: found, watermark: checkWatermark(check, found) }
  })
  const tree = { disk, paths, manifest, live, inspection }
  const reading = readingIn(inspection, progress)
  progress.begin('verify', bytesOf(check, manifest))
  inspection.look('names', () => verifyTree(tree))
  const content =
    manifest === undefined ? noContent : checkContent({ ...check, inspection: reading }, manifest, watermark)
  inspection.look('documents', () => verifyDocuments(tree))
  inspection.look('blobs', () => verifyBlobs({ ...tree, inspection: reading }))
  inspection.look('spools', () => verifySpools(tree))
  const { findings, checked } = inspection
  return { root, live, ...content, findings, checked, clean: findings.every(({ severity }) => severity === 'leftover') }
}

const mostTries = 8

/** Throws `state_root_absent` or `state_root_inner` where there is no root, else what keeps files from being read. */
export const verifyRoot = async (options: VerifyOptions): Promise<VerifyReport> => {
  const { root, disk, interrupts = noInterrupts } = options
  checkIsRoot(disk, root)
  const live = options.live ?? mayLive(root)
  for (let tries = 1; ; tries += 1) {
    // A whole turn: an interrupt that came until now is heard.
    await setImmediate()
    await setImmediate()
    interrupts.signal.throwIfAborted()
    const before = readManifest(disk, layout(root).manifest)
    const report = await interrupts.inOneGo(() => checkOnce({ ...options, live }))
    const after = readManifest(disk, layout(root).manifest)
    // A checkpoint moved files while they were read: what was found missing may only have moved.
    if (report.clean || !live || tries === mostTries || JSON.stringify(before) === JSON.stringify(after)) return report
  }
}
