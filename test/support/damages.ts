/** Each way in which a root can be damaged, and where that is found. */
import type { ExecutionContext } from 'ava'
import {
  chmodSync,
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { keptRoot } from './kept-root.js'

export const flip = (file: string, at: number): void => {
  const bytes = readFileSync(file)
  bytes[at] = (bytes[at] ?? 0) ^ 0x10
  writeFileSync(file, bytes)
}
/** The one file in a folder whose name begins so. */
export const only = (folder: string, start = ''): string =>
  join(
    folder,
    readdirSync(folder)
      .filter((name) => name.startsWith(start))
      .at(-1) ?? '',
  )
export const lineAt = (file: string, line: number): number =>
  readFileSync(file, 'latin1').split('\n').slice(0, line).join('\n').length + 1

type Place = { file: string; offset: number }
export interface Damage {
  readonly what: string
  readonly kind: string
  readonly make: (root: string, t: ExecutionContext<any>) => Place | Promise<Place>
}

/** Flips a bit of a file; what is found there begins at `offset`. */
const flipIn = (file: string, { at, offset = 0 }: { at: number; offset?: number }): Place => {
  flip(file, offset + at)
  return { file, offset }
}
/** Flips a bit of a line; the first is line 0. */
const flipLine = (file: string, line: number, at: number): Place => flipIn(file, { at, offset: lineAt(file, line) })
const remove = (file: string): Place => {
  rmSync(file)
  return { file, offset: 0 }
}
const notesPage = (root: string): string => only(join(root, 'data/notes'), 'page')

export const damages: readonly Damage[] = [
  {
    what: 'a flipped bit in a page',
    kind: 'page',
    make: (root) => flipLine(notesPage(root), 3, 20),
  },
  {
    what: 'a flipped bit in the header of a page',
    kind: 'page',
    make: (root) => flipIn(notesPage(root), { at: 8 }),
  },
  {
    what: 'a page that was cut',
    kind: 'page',
    make: (root) => {
      const file = only(join(root, 'data/notes'), 'page')
      const offset = lineAt(file, 20)
      truncateSync(file, offset)
      return { file, offset }
    },
  },
  {
    what: 'a page that is gone',
    kind: 'page',
    make: (root) => remove(notesPage(root)),
  },
  {
    what: 'a flipped bit in a stream page',
    kind: 'page',
    make: (root) => flipLine(only(join(root, 'streams/journal'), 'page'), 1, 30),
  },
  {
    what: 'pages that were swapped',
    kind: 'page',
    make: (root) => {
      const [ours, theirs] = [only(join(root, 'data/notes'), 'page'), only(join(root, 'streams/journal'), 'page')]
      copyFileSync(ours, `${root}-swap`)
      copyFileSync(theirs, ours)
      renameSync(`${root}-swap`, theirs)
      return { file: theirs, offset: 0 }
    },
  },
  {
    what: 'the page of another root',
    kind: 'page',
    make: async (root, t) => {
      const file = only(join(root, 'data/notes'), 'page')
      copyFileSync(only(join(await keptRoot(t), 'data/notes'), 'page'), file)
      return { file, offset: 0 }
    },
  },
  {
    what: 'a flipped bit in an index',
    kind: 'index',
    make: (root) => flipLine(only(join(root, 'data/notes'), 'index'), 1, 12),
  },
  {
    what: 'a flipped bit in the tombstones',
    kind: 'tombstones',
    make: (root) => flipLine(join(root, 'tombstones/notes.ndjson'), 1, 4),
  },
  {
    what: 'a flipped bit in the middle of the log',
    kind: 'log',
    make: (root) => flipLine(only(join(root, 'log')), 4, 9),
  },
  {
    what: 'a log that is gone',
    kind: 'log',
    make: (root) => remove(only(join(root, 'log'))),
  },
  {
    what: 'the log of another root',
    kind: 'log',
    make: async (root, t) => {
      const file = only(join(root, 'log'))
      copyFileSync(only(join(await keptRoot(t), 'log')), file)
      return { file, offset: 0 }
    },
  },
  {
    what: 'a flipped bit in the manifest',
    kind: 'manifest',
    make: (root) => flipIn(join(root, 'manifest.json'), { at: 50 }),
  },
  {
    what: 'a manifest that is gone',
    kind: 'manifest',
    make: (root) => remove(join(root, 'manifest.json')),
  },
  {
    what: 'a flipped bit in root.json',
    kind: 'root',
    make: (root) => flipIn(join(root, 'root.json'), { at: 30 }),
  },
  {
    what: 'a flipped bit in the watermark',
    kind: 'watermark',
    make: (root) => flipIn(join(root, 'watermark.json'), { at: 30 }),
  },
  {
    what: 'a flipped bit in a document',
    kind: 'document',
    make: (root) => flipIn(join(root, 'documents/settings.json'), { at: 8 }),
  },
  {
    what: 'a flipped bit in a blob',
    kind: 'blob',
    make: (root) => flipIn(only(only(join(root, 'blobs/pictures'))), { at: 3 }),
  },
  {
    what: 'a flipped bit in the header of a spool',
    kind: 'spool',
    make: (root) => flipIn(only(join(root, 'spools/tasks')), { at: 12 }),
  },
  {
    what: 'a file that anyone may read',
    kind: 'mode',
    make: (root) => {
      const file = only(join(root, 'log'))
      chmodSync(file, 0o644)
      return { file, offset: 0 }
    },
  },
  {
    what: 'a folder that anyone may enter',
    kind: 'mode',
    make: (root) => {
      chmodSync(join(root, 'data'), 0o755)
      return { file: join(root, 'data'), offset: 0 }
    },
  },
  {
    what: 'a file that nobody knows',
    kind: 'stranger',
    make: (root) => {
      const file = join(root, 'data/notes/notes.bak')
      writeFileSync(file, 'x', { mode: 0o600 })
      return { file, offset: 0 }
    },
  },
  {
    what: 'a link in the place of a folder',
    kind: 'stranger',
    make: (root, t) => {
      renameSync(join(root, 'blobs'), `${root}-blobs`)
      t.teardown(() => rmSync(`${root}-blobs`, { recursive: true, force: true }))
      symlinkSync(`${root}-blobs`, join(root, 'blobs'))
      return { file: join(root, 'blobs'), offset: 0 }
    },
  },
]
