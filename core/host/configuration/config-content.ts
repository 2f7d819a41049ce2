import path from 'node:path'
import type { Disk } from '../../state/disk/disk.js'
import { configBytes } from '../load/toml.js'

/** Every file of `config/` by its name without `.toml`, to tell whether any has changed. */
export const configContent = (disk: Disk, root: string): ReadonlyMap<string, string> => {
  const folder = path.join(root, 'config')
  const files = disk.list(folder).filter((file) => file.endsWith('.toml'))
  return new Map(
    files.map((file) => [
      file.replace(/\.toml$/u, ''),
      Buffer.from(configBytes(disk, path.join(folder, file)) ?? []).toString('base64'),
    ]),
  )
}
