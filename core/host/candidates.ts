/** Where plugins come from. */
import path from 'node:path'
import type { ShippedPlugin } from '../plugin.js'
import type { Disk } from '../state/disk/disk.js'
import type { Candidate } from './candidate.js'

/** The shipped list; core names no plugin. */
export const shippedPlugins = async (): Promise<readonly ShippedPlugin[]> =>
  (await import('../../plugins/index.js')).shipped

/** Whether `config/plugins.toml` may name plugins. */
export const mayHaveThirdParty = (disk: Disk, root: string): boolean =>
  disk.stat(path.join(root, 'config', 'plugins.toml')) !== undefined

/** What the operator added in `config/plugins.toml`. */
export const thirdParty = async (disk: Disk, root: string): Promise<readonly Candidate[]> => {
  if (!mayHaveThirdParty(disk, root)) return []
  const { thirdPartyCandidates } = await import('./third-party.js')
  return thirdPartyCandidates(disk, root)
}
