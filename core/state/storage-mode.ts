/** Whether storage takes changes, and if not, why. */
import type { StorageHealth } from './contract.js'
import { readOnlyActions, storageErrors, type ReadOnlyReason } from './storage-errors.js'
import type { Problem } from '../errors.js'

/** Reasons that pass by themselves; the others last until a restart. */
const passing: ReadonlySet<ReadOnlyReason> = new Set(['disk_full', 'too_many_files', 'io_error'])

export const mayPass = (reason: string | undefined): boolean => [...passing].some((known) => known === reason)

export interface StorageMode {
  readonly mode: StorageHealth['mode']
  readonly reason: ReadOnlyReason | undefined
  readonly action: string | undefined
  readonly writeErrors: number
  /** True once nothing more may be written to the disk by this process. */
  readonly halted: boolean
  readonly passing: boolean
  /** Goes read-only; a lasting reason is never replaced by another one. */
  refuse(reason: ReadOnlyReason): void
  count(): void
  recover(): void
  close(): void
  /** The problem for a commit that is refused now. */
  problem(): Problem
}

export const createStorageMode = (): StorageMode => {
  let mode: StorageHealth['mode'] = 'read_only'
  let reason: ReadOnlyReason | undefined = 'halted'
  let writeErrors = 0
  let halted = false
  const refuse = (next: ReadOnlyReason): void => {
    halted ||= next === 'lock_lost'
    if (
      mode === 'closed' ||
      (mode === 'read_only' &&
        reason !== undefined &&
        reason !== 'halted' &&
        !passing.has(reason) &&
        next !== 'lock_lost')
    )
      return
    mode = 'read_only'
    reason = next
  }
  const recover = (): void => {
    if (mode === 'closed' || halted) return
    mode = 'ok'
    reason = undefined
  }
  const problem = (): Problem =>
    storageErrors.storage_read_only({
      details: { reason: reason ?? mode },
      retryAfter: 5,
      members: { reason: reason ?? mode },
    })
  return {
    get mode() {
      return mode
    },
    get reason() {
      return reason
    },
    get action() {
      return reason === undefined ? undefined : readOnlyActions[reason]
    },
    get writeErrors() {
      return writeErrors
    },
    get halted() {
      return halted
    },
    get passing() {
      return reason !== undefined && passing.has(reason)
    },
    refuse,
    count: () => {
      writeErrors += 1
    },
    recover,
    close: () => {
      mode = 'closed'
      reason = undefined
    },
    problem,
  }
}
