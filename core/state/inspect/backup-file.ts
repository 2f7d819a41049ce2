/** `backup.json`: what a backup holds, file by file. Its presence says that the backup is whole. */
import { join } from 'node:path'
import { parse } from '../../base/parse.js'
import { array, integer, literal, object, string, timestamp, type Infer } from '../../base/schema.js'
import type { Disk } from '../disk/disk.js'
import { errors } from '../errors.js'
import { seal, unseal } from '../format/sealed.js'

const inside = string({ pattern: '^(?!.*(^|/)\\.\\.?(/|$))[^/\\u0000]+(/[^/\\u0000]+)*$' })

const struct = object({
  v: literal(1),
  k: literal('backup'),
  root_id: string({ pattern: '^[0-9a-f]{32}$' }),
  generation: integer({ min: 1 }),
  /** Last commit in it. */
  sequence: integer({ min: 0 }),
  created_at_ms: timestamp(),
  files: array(object({ path: inside, bytes: integer({ min: 0 }), sha256: string({ pattern: '^[0-9a-f]{64}$' }) })),
})
export type BackupFile = Infer<typeof struct>
export type BackupEntry = BackupFile['files'][number]

export const backupFileName = 'backup.json'
/** The copied root is a folder of its own in the backup. */
export const copyFolder = 'root'

export const writeBackupFile = (disk: Disk, folder: string, file: BackupFile): Promise<void> =>
  disk.replace(join(folder, backupFileName), seal(file))

/**
 * Throws `backup_absent` or `backup_incomplete` where there is none, and `backup_damaged` where it is not as it was
 * written.
 */
export const readBackupFile = (disk: Disk, folder: string): BackupFile => {
  const path = join(folder, backupFileName)
  if (disk.stat(folder) === undefined) throw errors.backup_absent({ details: { path: folder } })
  const bytes = disk.readFile(path)
  if (bytes === undefined) throw errors.backup_incomplete({ details: { path: folder } })
  const parsed = parse(struct, unseal(bytes))
  if (!parsed.ok) throw errors.backup_damaged({ details: { path, rule: 'its bytes do not match its digest' } })
  return parsed.value
}
