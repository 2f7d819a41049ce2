/** `POST /v1/backups`: a backup of the running daemon, consistent as of one commit. */
import path from 'node:path'
import type { Clock } from './base/clock.js'
import { defineRoute, jsonReply, type Route } from './http/routes/route.js'
import { doc, integer, named, object, optional, rule, string } from './base/schema.js'
import type { Disk } from './state/disk/disk.js'
import { errors } from './state/errors.js'
import type { Lock } from './state/root/lock.js'
import type { OpenState } from './state/store/root.js'

const Body = object({
  path: doc(
    rule(
      string({ min: 1, max: 4096 }),
      'must be an absolute path',
      (text) => path.isAbsolute(text) && !text.includes('\0'),
    ),
    "Folder on the daemon's machine to write to: absent or empty, in a folder that exists, outside the state root.",
  ),
  root_id: optional(doc(string({ min: 1, max: 64 }), 'Refuses unless the daemon holds the state root with this id.')),
})

export const Backup = named(
  'Backup',
  object({
    path: doc(string(), 'The file that names everything in the backup.'),
    root_id: string(),
    sequence: doc(integer({ min: 0 }), 'Last commit in the backup.'),
    files: integer({ min: 0 }),
    bytes: integer({ min: 0 }),
    milliseconds: integer({ min: 0 }),
  }),
)

export interface BackupRouteOptions {
  readonly opened: OpenState
  readonly lock: Lock
  readonly disk: Disk
  readonly clock: Clock
}

const problems = [
  errors.target_not_empty,
  errors.target_without_folder,
  errors.target_not_writable,
  errors.target_too_small,
  errors.target_in_root,
  errors.backup_root_differs,
]

export const createBackupRoute = ({ opened, lock: { root, facts }, disk, clock }: BackupRouteOptions): Route =>
  defineRoute({
    id: 'backups.create',
    method: 'POST',
    path: '/v1/backups',
    access: 'admin',
    durability: 'A',
    summary:
      'Writes a backup as of one commit while the daemon works. The key of secrets and what people put into the ' +
      'state root are not in it.',
    body: Body,
    reply: jsonReply(Backup, 201),
    problems,
    example: { body: { path: '/var/backups/holdfast/monday' } },
    handler: async ({ body: { path: to, root_id } }) => {
      if (root_id !== undefined && root_id !== facts.root_id)
        throw errors.backup_root_differs({ details: { held: facts.root_id, wanted: root_id } })
      const { writeBackup } = await import('./state/inspect/backup.js')
      return opened.snapshot((cut) => writeBackup({ root, to, disk, clock, cut }))
    },
  })
