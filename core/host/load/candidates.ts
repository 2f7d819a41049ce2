/** Whether there are third-party plugins, asked before any of their code or ours for them is loaded. */
import path from 'node:path'
import type { Disk } from '../../state/disk/disk.js'
import type { Candidate } from './candidate.js'
import type { ThirdPartyPlace } from './third-party.js'

/** Whether `config/plugins.toml` may name plugins. */
export const mayHaveThirdParty = (disk: Disk, root: string): boolean =>
  disk.stat(path.join(root, 'config', 'plugins.toml')) !== undefined

/** What the operator added in `config/plugins.toml`. */
export const thirdParty = async (place: ThirdPartyPlace): Promise<readonly Candidate[]> => {
  if (!mayHaveThirdParty(place.disk, place.root)) return []
  const { thirdPartyCandidates } = await import('./third-party.js')
  return thirdPartyCandidates(place)
}
