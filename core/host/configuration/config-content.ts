import path from 'node:path'
import type { Disk } from '../../state/disk/disk.js'
import { configBytes } from '../load/toml.js'

/** Every file of `config/` as one text, to tell whether any has changed. */
export const configContent = (disk: Disk, root: string): string => {
  const folder = path.join(root, 'config')
  const names = disk.list(folder).filter((name) => name.endsWith('.toml'))
  return names
    .map((name) => `${name}\n${Buffer.from(configBytes(disk, path.join(folder, name)) ?? []).toString('base64')}`)
    .join('\n')
}
