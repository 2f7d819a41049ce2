import { defineErrors, Problem } from '../base/errors.js'
import { codeOf } from './errors.js'
import { defaultTuning } from './tuning.js'

/** Problems of the store. */
export const storageErrors = defineErrors({
  storage_read_only: {
    status: 503,
    detail: 'Storage refuses changes: {reason}.',
    action: 'Read on; the reason and what to do about it are in GET /v1/status under storage.',
  },
  storage_write_failed: {
    status: 503,
    detail: 'The change could not be written and was undone.',
    action: 'Retry with the same idempotency key once storage is writable again.',
  },
  storage_sync_failed: {
    status: 503,
    detail: 'The disk did not confirm the change; whether it survives is unknown until a restart.',
    action: 'Check the disk, restart the daemon, then retry with the same idempotency key.',
  },
  storage_not_clean: {
    status: 503,
    detail: 'The state was closed without its clean mark.',
    action: 'Nothing to do: the next start reads the log to its end and says what it found.',
  },
  storage_damaged: {
    status: 503,
    detail: 'Stored data is damaged: nothing is changed any more, and what could not be loaded is not served.',
    action: 'holdfast state verify names file and byte; restore a backup, or let holdfast state repair decide.',
  },
  id_taken: {
    status: 409,
    detail: 'The id is in use or was used before.',
    action: 'Choose another id; an id is never used twice.',
  },
  commit_too_large: {
    status: 413,
    detail: 'The change is larger than one line of the log may be.',
    action: 'Send less at once.',
  },
  commit_not_serialisable: {
    status: 400,
    detail: 'The change holds a value that cannot be stored as JSON.',
    action: 'Send plain JSON with less nesting.',
  },
})

/** Why storage refuses writes. Stable: shown in status. */
export type ReadOnlyReason =
  | 'disk_full'
  | 'too_many_files'
  | 'io_error'
  | 'sync_failed'
  | 'lock_lost'
  | 'damaged'
  | 'halted'

const leastFree = `${defaultTuning.freeBytes / 1024 ** 2} MiB`

/** What the operator can do, by reason. */
export const readOnlyActions: Readonly<Record<ReadOnlyReason, string>> = {
  disk_full: `Free space on the file system of the state root: writing resumes by itself when ${leastFree} are free.`,
  too_many_files: 'Raise the limit of open files or close connections; writing resumes by itself.',
  io_error: 'Check the disk and its mount; writing resumes by itself when it answers again.',
  sync_failed: 'Check the disk, then restart the daemon: it re-verifies everything from disk.',
  lock_lost: 'Another process may own the state root: stop this daemon and look at owner.json in it.',
  damaged: 'Run state verify, then restore a backup or run state repair.',
  halted: 'Restart the daemon.',
}

/** The reason a failed file operation gives. */
export const reasonOf = (error: unknown): ReadOnlyReason => {
  const code = codeOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'disk_full'
  return code === 'EMFILE' || code === 'ENFILE' ? 'too_many_files' : 'io_error'
}

/** The reason that lasts until a restart; undefined for a failure that can pass. */
export const lastingReason = (error: unknown): ReadOnlyReason | undefined => {
  const code = codeOf(error)
  if (code === 'storage_damaged') return 'damaged'
  return code === 'storage_sync_failed' ? 'sync_failed' : undefined
}

/** What every change is answered with once the root is no longer ours. */
export const behindLoss = (): Problem =>
  storageErrors.storage_read_only({ details: { reason: 'lock_lost' }, retryAfter: 5, members: { reason: 'lock_lost' } })

/** Whether something failed only because the root is no longer ours, which the lock has told. */
export const isBehindLoss = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'storage_read_only' && error.occurrence.details?.['reason'] === 'lock_lost'

/** The problem of a change that the disk did not take. */
export const unwritten = (cause: unknown): Error => storageErrors.storage_write_failed({ cause, retryAfter: 5 })
