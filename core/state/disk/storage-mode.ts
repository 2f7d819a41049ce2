/** Whether storage takes changes, and if not, why. */
import type { StorageHealth } from '../contract.js'
import { readOnlyActions, storageErrors, type ReadOnlyReason } from '../storage-errors.js'
import type { Problem } from '../../base/errors.js'

/** Reasons that pass by themselves; the others last until a restart. */
const passing: ReadonlySet<ReadOnlyReason> = new Set(['disk_full', 'too_many_files', 'io_error'])

export const mayPass = (reason: string | undefined): boolean => [...passing].some((known) => known === reason)

export interface StorageMode {
  readonly mode: StorageHealth['mode']
  /** As everybody else sees it: `closed` as soon as it closes. */
  readonly shown: StorageHealth['mode']
  readonly reason: ReadOnlyReason | undefined
  readonly action: string | undefined
  readonly writeErrors: number
  /** True once nothing more may be written to the disk by this process. */
  readonly halted: boolean
  readonly passing: boolean
  /** False while changes are refused, for whatever reason. */
  readonly takesChanges: boolean
  /** What stands beside the log cannot be written, and why; undefined: it can again. Changes are still taken. */
  strain(reason: ReadOnlyReason | undefined): void
  /** Goes read-only; a lasting reason is never replaced by another one. */
  refuse(reason: ReadOnlyReason): void
  count(): void
  /** Takes changes from now on, unless something was found meanwhile that speaks against it. */
  begin(): void
  /** Leaves a reason that can pass; false if a lasting one came meanwhile. */
  recover(): boolean
  /** No further change is taken, so that what was taken can be closed. */
  leave(): void
  close(): void
  /** The problem for a commit that is refused now. */
  problem(): Problem
}

export const createStorageMode = (): StorageMode => {
  let mode: StorageHealth['mode'] = 'read_only'
  let reason: ReadOnlyReason | undefined = 'halted'
  let strained: ReadOnlyReason | undefined
  let writeErrors = 0
  let halted = false
  let leaving = false
  const isPassing = (): boolean => reason !== undefined && passing.has(reason)
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
  const open = (): void => {
    mode = 'ok'
    reason = undefined
  }
  const shownReason = (): ReadOnlyReason | undefined => reason ?? (mode === 'ok' ? strained : undefined)
  const recover = (): boolean => {
    if (mode === 'read_only' && isPassing() && !halted) open()
    return mode === 'ok'
  }
  const shown = (): StorageHealth['mode'] => (leaving ? 'closed' : mode)
  const problem = (): Problem =>
    storageErrors.storage_read_only({
      details: { reason: reason ?? shown() },
      retryAfter: 5,
      members: { reason: reason ?? shown() },
    })
  return {
    get mode() {
      return mode
    },
    get reason() {
      return shownReason()
    },
    get action() {
      const why = shownReason()
      return why === undefined ? undefined : readOnlyActions[why]
    },
    strain: (why) => {
      strained = why
    },
    get writeErrors() {
      return writeErrors
    },
    get halted() {
      return halted
    },
    get shown() {
      return shown()
    },
    get takesChanges() {
      return mode === 'ok' && !leaving
    },
    get passing() {
      return isPassing()
    },
    refuse,
    count: () => {
      writeErrors += 1
    },
    begin: () => {
      if (mode === 'read_only' && reason === 'halted' && !halted) open()
    },
    recover,
    leave: () => {
      leaving = true
    },
    close: () => {
      mode = 'closed'
      reason = undefined
    },
    problem,
  }
}
