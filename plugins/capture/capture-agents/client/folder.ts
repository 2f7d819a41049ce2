/**
 * Captures that others put into a folder. A file is taken once it is the same at two looks, and again when it has
 * become another; the folder itself is left as it is.
 */
import { createHash } from 'node:crypto'
import path from 'node:path'
import {
  array,
  integer,
  latestTime,
  lookInFolder,
  object,
  parse,
  Problem,
  readGivenBytes,
  string,
  unsafeCast,
  type Disk,
  type OutsideFile,
} from '../../../../core/plugin.js'
import { fitOf, mostBytes } from './media.js'
import { itemOf, keep, labelOf, type Way, type WayParts } from './way.js'

/** Of files that need not be looked at again: as they were, and a digest of what was in them. */
const Known = object({
  files: array(object({ name: string(), size: integer(), modified_at_ms: integer(), sha256: string() })),
})
type KnownFile = OutsideFile & { readonly sha256: string }

const digestOf = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
const isSame = (a: OutsideFile, b: OutsideFile | undefined): boolean =>
  a.size === b?.size && a.modified_at_ms === b.modified_at_ms

const readKnown = (disk: Disk, file: string): readonly KnownFile[] => {
  try {
    const parsed = parse(
      Known,
      unsafeCast<unknown>(JSON.parse(Buffer.from(disk.readFile(file) ?? []).toString('utf8'))),
    )
    return parsed.ok ? parsed.value.files : []
  } catch {
    return []
  }
}

export const createFolderWay = (parts: WayParts, folder: string): Way => {
  const { source, tools, spool, telling } = parts
  const { source_id } = source
  const knownFile = path.join(
    spool.folder,
    `known_${digestOf(source_id, '\n', source.stream_id, '\n', folder).slice(0, 16)}.json`,
  )
  let known = new Map(readKnown(tools.disk, knownFile).map((file) => [file.name, file] as const))
  let before: ReadonlyMap<string, OutsideFile> = new Map()

  const save = async (there: ReadonlyMap<string, OutsideFile>): Promise<void> => {
    known = new Map([...known].filter(([name]) => there.has(name)))
    await tools.disk.replace(knownFile, Buffer.from(`${JSON.stringify({ files: [...known.values()] })}\n`))
  }
  const leaveOut = (name: string, why: string): void =>
    telling.say('left_out', `${path.join(folder, name)} is left out: ${why}`)
  const read = (name: string): Uint8Array | undefined => {
    try {
      return readGivenBytes(path.join(folder, name), mostBytes)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      leaveOut(name, error.message)
      return undefined
    }
  }
  /** Captures that were kept of a file: none if it is as it was, or no capture. */
  const take = async (file: OutsideFile): Promise<number> => {
    const bytes = read(file.name)
    const sha256 = bytes === undefined ? '' : digestOf(bytes)
    const isNews = bytes !== undefined && known.get(file.name)?.sha256 !== sha256
    const fit = isNews ? fitOf(source, bytes) : undefined
    if (fit?.ok === false) leaveOut(file.name, `it ${fit.problem}.`)
    const isWanted = isNews && fit?.ok === true
    if (isWanted && !(await keepFile(file, { bytes, sha256, media_type: fit.media_type }))) return 0
    known.set(file.name, { ...file, sha256 })
    return fit?.ok === true ? 1 : 0
  }
  /** Under a key of its own, and without a number: what a kill lets be taken twice is one for the daemon. */
  const keepFile = (
    { name, modified_at_ms }: OutsideFile,
    { bytes, sha256, media_type }: { bytes: Uint8Array; sha256: string; media_type: string },
  ): Promise<boolean> => {
    const idempotency_key = `file-${digestOf([source_id, name, modified_at_ms, sha256].join('\n'))}`
    const captured_at_ms = Math.min(Math.max(0, modified_at_ms), latestTime)
    const head = itemOf(source, { file_name: name, media_type, captured_at_ms, idempotency_key })
    return keep(parts, { head, bytes, isNumbered: false })
  }
  return {
    async take() {
      const files = lookInFolder(folder)
      telling.state(labelOf(source), files === undefined ? `${folder} is no folder that can be read` : undefined)
      if (files === undefined) return { type: 'failed', count: 0 }
      const there = new Map(files.map((file) => [file.name, file] as const))
      const fresh = files.filter((file) => !isSame(file, known.get(file.name)))
      const settled = fresh.filter((file) => isSame(file, before.get(file.name)))
      before = there
      const fitting = settled.filter(({ size }) => spool.hasRoom(Math.min(size, mostBytes)))
      const isFull = fitting.length < settled.length
      telling.state('spool', isFull ? 'it is full, so files of folders wait.' : undefined)
      let count = 0
      for (const file of fitting) if (spool.hasRoom(file.size) || file.size > mostBytes) count += await take(file)
      if (fitting.length > 0 || known.size > there.size) await save(there)
      return { type: fresh.length > settled.length || isFull ? 'unsettled' : 'took', count }
    },
  }
}
