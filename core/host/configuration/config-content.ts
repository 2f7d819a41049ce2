import { hash } from 'node:crypto'
import path from 'node:path'
import type { Disk } from '../../state/disk/disk.js'
import { boundedBytes } from '../load/config-bytes.js'

const digestOf = (bytes: Uint8Array | number = Buffer.alloc(0)): string =>
  typeof bytes === 'number' ? 'too large' : hash('sha256', bytes)

/** A digest of every file of `config/` by its name without `.toml`, to tell whether any has changed. */
export const configContent = (disk: Disk, root: string): ReadonlyMap<string, string> => {
  const folder = path.join(root, 'config')
  const files = disk.list(folder).filter((file) => file.endsWith('.toml'))
  return new Map(
    files.map((file) => [file.replace(/\.toml$/u, ''), digestOf(boundedBytes(disk, path.join(folder, file)))]),
  )
}
