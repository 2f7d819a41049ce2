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

export interface Damage {
  readonly what: string
  readonly kind: string
  readonly make: (
    root: string,
    t: ExecutionContext<any>,
  ) => { file: string; offset: number } | Promise<{ file: string; offset: number }>
}

export const damages: readonly Damage[] = [
  {
    what: 'a flipped bit in a page',
    kind: 'page',
    make: (root) => {
      const file = only(join(root, 'data/notes'), 'page')
      const offset = lineAt(file, 3)
      flip(file, offset + 20)
      return { file, offset }
    },
  },
  {
    what: 'a flipped bit in the header of a page',
    kind: 'page',
    make: (root) => {
      const file = only(join(root, 'data/notes'), 'page')
      flip(file, 8)
      return { file, offset: 0 }
    },
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
    make: (root) => {
      const file = only(join(root, 'data/notes'), 'page')
      rmSync(file)
      return { file, offset: 0 }
    },
  },
  {
    what: 'a flipped bit in a stream page',
    kind: 'page',
    make: (root) => {
      const file = only(join(root, 'streams/journal'), 'page')
      const offset = lineAt(file, 1)
      flip(file, offset + 30)
      return { file, offset }
    },
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
    make: (root) => {
      const file = only(join(root, 'data/notes'), 'index')
      const offset = lineAt(file, 1)
      flip(file, offset + 12)
      return { file, offset }
    },
  },
  {
    what: 'a flipped bit in the tombstones',
    kind: 'tombstones',
    make: (root) => {
      const file = join(root, 'tombstones/notes.ndjson')
      const offset = lineAt(file, 1)
      flip(file, offset + 4)
      return { file, offset }
    },
  },
  {
    what: 'a flipped bit in the middle of the log',
    kind: 'log',
    make: (root) => {
      const file = only(join(root, 'log'))
      const offset = lineAt(file, 4)
      flip(file, offset + 9)
      return { file, offset }
    },
  },
  {
    what: 'a log that is gone',
    kind: 'log',
    make: (root) => {
      const file = only(join(root, 'log'))
      rmSync(file)
      return { file, offset: 0 }
    },
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
    make: (root) => {
      flip(join(root, 'manifest.json'), 50)
      return { file: join(root, 'manifest.json'), offset: 0 }
    },
  },
  {
    what: 'a manifest that is gone',
    kind: 'manifest',
    make: (root) => {
      rmSync(join(root, 'manifest.json'))
      return { file: join(root, 'manifest.json'), offset: 0 }
    },
  },
  {
    what: 'a flipped bit in root.json',
    kind: 'root',
    make: (root) => {
      flip(join(root, 'root.json'), 30)
      return { file: join(root, 'root.json'), offset: 0 }
    },
  },
  {
    what: 'a flipped bit in the watermark',
    kind: 'watermark',
    make: (root) => {
      flip(join(root, 'watermark.json'), 30)
      return { file: join(root, 'watermark.json'), offset: 0 }
    },
  },
  {
    what: 'a flipped bit in a document',
    kind: 'document',
    make: (root) => {
      flip(join(root, 'documents/settings.json'), 8)
      return { file: join(root, 'documents/settings.json'), offset: 0 }
    },
  },
  {
    what: 'a flipped bit in a blob',
    kind: 'blob',
    make: (root) => {
      const file = only(only(join(root, 'blobs/pictures')))
      flip(file, 3)
      return { file, offset: 0 }
    },
  },
  {
    what: 'a flipped bit in the header of a spool',
    kind: 'spool',
    make: (root) => {
      const file = only(join(root, 'spools/tasks'))
      flip(file, 12)
      return { file, offset: 0 }
    },
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
    make: (root) => {
      renameSync(join(root, 'blobs'), `${root}-blobs`)
      symlinkSync(`${root}-blobs`, join(root, 'blobs'))
      return { file: join(root, 'blobs'), offset: 0 }
    },
  },
]
