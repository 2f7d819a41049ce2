/** What is wrong with a policy here and now: no reason to end a start, and to be told before a fall. */
import { join } from 'node:path'
import type { Warning } from '../base/health.js'
import { shellWord } from '../base/text/command-text.js'
import type { Disk } from '../state/disk/disk.js'
import { isFree } from '../state/disk/outside.js'
import { findArchiveFolder } from './archive/folder.js'
import { isUnfinished } from './archive/names.js'
import type { Policy } from './policy.js'

export interface Surroundings {
  readonly root: string
  /** Id of the state root. */
  readonly rootId: string
  readonly disk: Disk
}

const unknownKind = (kind: string): Warning => ({
  severity: 'warning',
  code: 'retention_kind_unknown',
  related_id: kind,
  message: `config/retention.toml names kinds.${kind}, which no plugin that is loaded declares: nothing of it falls.`,
  action: 'Start with the plugin that it belongs to, or take it out.',
})

const archiveFault = (reason: string, path: string): Warning => ({
  severity: 'warning',
  code: 'archive_dir_unusable',
  message: `Nothing can fall, because what falls is to be kept in archive_dir, ${path}, and ${reason}.`,
  action: isFree(path)
    ? `Take archive_dir out, or make the folder as the user of the daemon: install -d -m 700 ${shellWord(path)}`
    : 'Make it a folder outside the state root that this daemon may write to, or take archive_dir out.',
})

/** Of what is no archive, and never will be where nobody writes it. */
export const unfinishedCode = 'archive_unfinished'

const unfinishedArchive = (path: string): Warning => ({
  severity: 'info',
  code: unfinishedCode,
  message: `${path} is an archive that was broken off: nothing fell for it, and what was to fall is still there.`,
  action: 'Remove it, or leave it: the next fall into this folder does.',
})

const unfinishedIn = (folder: string, { rootId, disk }: Surroundings): Warning[] => {
  const own = join(folder, rootId)
  return disk
    .list(own)
    .filter(isUnfinished)
    .map((name) => unfinishedArchive(join(own, name)))
}

export const policyFaults = ({ archiveDir, unknown }: Policy, here: Surroundings): readonly Warning[] => {
  const found = archiveDir === undefined ? undefined : findArchiveFolder(here, archiveDir)
  return [
    ...(archiveDir === undefined || found === undefined || found.ok ? [] : [archiveFault(found.reason, archiveDir)]),
    ...(found?.ok === true ? unfinishedIn(found.path, here) : []),
    ...unknown.map(unknownKind),
  ]
}
