/**
 * Reads everything a root holds: tables, stream pages, the log behind them, tombstones, record pages. Of what is on
 * pages hardly anything is in memory: sorted tables say which lines count, where they are sound. Looks only. Checking,
 * showing and salvage are visitors of this one walk.
 */
import { join } from 'node:path'
import { tombstoneIdentity } from '../../format/identity.js'
import { indexName, segmentName } from '../../format/layout.js'
import { valueOf } from '../../format/line-file.js'
import { replayLog, type Replay } from '../../log/replay.js'
import type { LinePlace, LogLine } from '../../format/segment.js'
import { isRemovedRow } from '../../pages/record-codec.js'
import { tombstonePath } from '../../pages/tombstones.js'
import { readLines } from './lines.js'
import { createFinder, createKnown, createTableRoom, type Lookup } from './lookup.js'
import { pageStores, readCollection, readStream, readTablesOf } from './pages.js'
import type { SurveyOptions } from './visitor.js'

/** The newest table of a collection. */
const indexPath = ({ paths, manifest }: SurveyOptions, name: string): string =>
  join(paths.data, name, indexName(manifest.collections[name]?.tables.at(-1)?.no ?? 0))

/** Ids of collections whose tables cannot tell what is there are kept. */
const readEveryTombstone = (
  options: SurveyOptions,
  tables: Lookup['tables'],
): ReadonlyMap<string, ReadonlySet<string>> => {
  const { paths, manifest, visitor } = options
  const tombstones = new Map<string, Set<string>>()
  for (const [of, length] of Object.entries(manifest.tombstones)) {
    const sound = tables.get(of)
    const find = sound === undefined ? undefined : createFinder(sound)
    const deleted = sound === undefined ? new Set<string>() : undefined
    const index = indexPath(options, of)
    if (deleted !== undefined) tombstones.set(of, deleted)
    const file = tombstonePath(paths.tombstones, of)
    const header = tombstoneIdentity({ of, root: manifest.root })
    readLines(options, { path: file, length, kind: 'tombstones', header }, (line) => {
      const { id, reason } = valueOf<{ id: string; reason: string }>(line)
      deleted?.add(id)
      const row = find?.(id)
      if (row !== undefined && !isRemovedRow(row))
        visitor.fault('index', { file: index, offset: 0, rule: `a row names ${id}, whose id was buried` })
      visitor.tombstone?.(of, id, { reason, place: { file, offset: line.offset } })
      visitor.count?.({ items: 1 })
    })
  }
  return tombstones
}

const readLog = ({
  disk,
  paths,
  manifest,
  watermark,
  visitor,
}: SurveyOptions): { replay: Replay; written: Lookup['written'] } => {
  const written = new Map<string, Map<string, boolean>>()
  const visit = (line: LogLine, place: LinePlace): void => {
    visitor.count?.({ items: 1 })
    for (const op of line.ops) {
      if (op[0] !== 'app') {
        const ids = written.get(op[1]) ?? new Map<string, boolean>()
        written.set(op[1], ids.set(op[2], op[0] === 'put'))
      }
      visitor.op?.(op, line, place)
    }
  }
  const replay = replayLog({ disk, folder: paths.log, manifest, watermark, visit })
  for (const { segment, length, size } of replay.sound) {
    visitor.count?.({ files: 1, bytes: length })
    const path = join(paths.log, segmentName(segment.no))
    if (segment.length !== null && size > segment.length)
      visitor.fault('behind', {
        file: path,
        offset: segment.length,
        rule: 'bytes behind those that count: a write failed',
      })
  }
  if (replay.torn !== undefined) visitor.fault('torn', replay.torn)
  if (replay.damage !== undefined) visitor.fault('log', replay.damage)
  return { replay, written }
}

/** What is read, and by which manifest. */
export type SurveyPlace = Pick<SurveyOptions, 'disk' | 'paths' | 'manifest' | 'watermark'>

/** Walks what the manifest names; returns what the log said. Nothing of the root stays open. */
export const survey = (given: Omit<SurveyOptions, 'room'>): Replay => {
  const room = createTableRoom()
  try {
    const replay = walk({ ...given, room })
    given.visitor.finish?.()
    return replay
  } finally {
    room.files.shutAll()
  }
}

const walk = (options: SurveyOptions): Replay => {
  const look = <R>(area: string, run: () => R): R =>
    options.visitor.look === undefined ? run() : options.visitor.look(area, run)
  const [inStreams, tables] = look('indexes', () => [readTablesOf(options, 'streams'), readTablesOf(options, 'data')])
  look('streams', () => {
    for (const pageStore of pageStores('streams', options))
      readStream(options, pageStore, inStreams.get(pageStore.name))
  })
  const { replay, written } = look('log', () => readLog(options))
  const tombstones = look('tombstones', () => readEveryTombstone(options, tables))
  const paged = new Set(pageStores('data', options).flatMap(({ name, ref }) => (ref.pages.length > 0 ? [name] : [])))
  const lookup: Lookup = { tombstones, written, tables, paged }
  options.visitor.found?.(createKnown(lookup))
  look('data', () => {
    for (const pageStore of pageStores('data', options)) readCollection(options, pageStore, lookup)
  })
  return replay
}
