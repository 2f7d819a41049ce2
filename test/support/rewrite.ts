/** Changes what stands in a root as somebody would who knows the format: every checksum and manifest is right again. */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { saltSeed, sealedLine } from '../../core/state/format/line.js'
import { seal, unseal } from '../../core/state/format/sealed.js'

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').match(/[^\n]*\n/gu) ?? []
const files = (folder: string, start: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .toSorted()
    .map((name) => join(folder, name))
const pageFile = /(?:data|streams)\/(\w+)\/page-0*(\d+)\.ndjson$/u

/** Writes each line behind the header as `change` wants it; a line that becomes undefined is gone. */
const rewriteFile = (root: string, file: string, change: (value: any) => any): void => {
  const [header = '', ...lines] = linesOf(file)
  const seed = saltSeed(JSON.parse(header).salt)
  const changed = lines.map((line) => change(JSON.parse(line))).filter((value) => value !== undefined)
  const bytes = Buffer.concat([
    Buffer.from(header),
    ...changed.map((value) => sealedLine(JSON.stringify({ ...value, c: undefined }).slice(0, -1), seed)),
  ])
  writeFileSync(file, bytes)
  const found = pageFile.exec(file)
  if (found !== null) mendManifest(root, { file, of: found[1] ?? '', no: Number(found[2]), length: bytes.length })
}

/** The page has its new length, and its index is made again by the next start. */
const mendManifest = (
  root: string,
  { file, of, no, length }: { file: string; of: string; no: number; length: number },
): void => {
  const manifest: any = unseal(readFileSync(join(root, 'manifest.json')))
  const ref = (file.includes('/streams/') ? manifest.streams : manifest.collections)[of]
  ref.pages = ref.pages.map((page: any) => (page.no === no ? { ...page, length } : page))
  ref.tables = []
  writeFileSync(join(root, 'manifest.json'), seal(manifest))
  for (const index of files(join(file, '..'), 'index-')) rmSync(index)
}

const placesOf = (root: string, stream: string): string[] => {
  const folder = join(root, 'streams', stream)
  const pages = readdirSync(join(root, 'streams')).includes(stream) ? files(folder, 'page-') : []
  return [...pages, ...files(join(root, 'log'), '0')]
}

export interface Place {
  readonly file: string
  readonly offset: number
}
export interface Standing {
  readonly owner: string
  readonly entry: any
  readonly place: Place
}

const entriesIn = (line: any, stream: string): { owner: string; entry: any }[] =>
  line.entries === undefined
    ? (line.ops ?? []).flatMap((op: any) =>
        op[0] === 'app' && op[1] === stream ? [{ owner: op[2], entry: op[4] }] : [],
      )
    : line.entries.map((entry: any) => ({ owner: line.owner, entry }))

/** The entries of a stream in order, each with its place. */
export const standing = (root: string, stream: string): Standing[] =>
  placesOf(root, stream).flatMap((file) => {
    let offset = 0
    return linesOf(file).flatMap((text) => {
      const place = { file, offset }
      offset += Buffer.byteLength(text)
      return entriesIn(JSON.parse(text), stream).map((found) => ({ ...found, place }))
    })
  })

/**
 * Puts these entries in the place of an owner's: each keeps the line that its number stood on, and what is too many
 * stands on the last.
 */
export const rewriteEntries = (
  root: string,
  { stream, owner }: { stream: string; owner: string },
  entries: readonly any[],
): void => {
  let left = standing(root, stream).filter((found) => found.owner === owner).length
  let next = 0
  const take = (): any[] => {
    left -= 1
    const end = left === 0 ? entries.length : Math.min(next + 1, entries.length)
    const taken = entries.slice(next, end)
    next = end
    return taken
  }
  for (const file of placesOf(root, stream)) {
    rewriteFile(root, file, (line) => {
      if (line.entries !== undefined) {
        if (line.owner !== owner) return line
        const from = next + 1
        const taken = line.entries.flatMap(take)
        return taken.length === 0 ? undefined : { ...line, from, entries: taken }
      }
      return {
        ...line,
        ops: (line.ops ?? []).flatMap((op: any) => {
          if (op[0] !== 'app' || op[1] !== stream || op[2] !== owner) return [op]
          const from = next + 1
          return take().map((entry, at) => ['app', stream, owner, from + at, entry])
        }),
      }
    })
  }
}

/** Changes the newest form of a record wherever it stands. Returns the place of its last line. */
export const rewriteRecord = (
  root: string,
  { collection, id }: { collection: string; id: string },
  change: (record: any) => any,
): Place => {
  const pages = readdirSync(join(root, 'data')).includes(collection)
    ? files(join(root, 'data', collection), 'page-')
    : []
  for (const file of pages) rewriteFile(root, file, (line) => (line.id === id ? { ...line, r: change(line.r) } : line))
  for (const file of files(join(root, 'log'), '0'))
    rewriteFile(root, file, (line) => ({
      ...line,
      ops: line.ops.map((op: any) =>
        op[0] === 'put' && op[1] === collection && op[2] === id ? ['put', collection, id, change(op[3])] : op,
      ),
    }))
  let last: Place = { file: '', offset: 0 }
  for (const file of [...pages, ...files(join(root, 'log'), '0')]) {
    let offset = 0
    for (const text of linesOf(file)) {
      const line = JSON.parse(text)
      if (line.id === id || (line.ops ?? []).some((op: any) => op[0] === 'put' && op[1] === collection && op[2] === id))
        last = { file, offset }
      offset += Buffer.byteLength(text)
    }
  }
  return last
}
