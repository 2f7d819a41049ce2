/** Digests of files: of large ones beside the event loop, and once for as long as a file is unchanged. */
import { createCache } from '../../base/memory/cache.js'
import { createThread } from '../../processes/thread.js'
import type { DiskFile } from '../disk/disk.js'
import { rangeOf } from '../disk/pieces.js'
import { digestInTurns, pieceBytes, type Digested } from './blob-pieces.js'
import type { DigestAnswer, DigestOrder } from './digest-thread.js'

export interface FileDigests {
  /** The file must stay open meanwhile. */
  digest(file: DiskFile): Promise<Digested>
  close(): Promise<void>
}

/** Files whose digests are remembered: 3 KiB each at most. */
const remembered = 1000

const program = new URL('./digest-thread.js', import.meta.url)

export const createFileDigests = (): FileDigests => {
  const thread = createThread<Omit<DigestOrder, 'id'>, DigestAnswer>({
    program,
    name: 'digests',
    does: 'digests files',
  })
  const known = createCache<Promise<Digested>>(remembered)
  const digestBeside = async (file: DiskFile, fd: number): Promise<Digested> => {
    const { digested } = await thread.ask({ fd, length: file.size() })
    // Read here it fails with what is wrong.
    return digested ?? digestInTurns(rangeOf(file))
  }
  return {
    digest(file) {
      const { system } = file
      if (system === undefined || file.size() <= pieceBytes) return digestInTurns(rangeOf(file))
      const name = `${file.path} ${system.stamp}`
      const made = known.get(name) ?? digestBeside(file, system.fd)
      known.set(name, made)
      made.catch(() => known.delete(name))
      return made
    },
    close: thread.close,
  }
}
