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

class Mode implements StorageMode {
  #mode: StorageHealth['mode'] = 'read_only'
  #reason: ReadOnlyReason | undefined = 'halted'
  #strained: ReadOnlyReason | undefined
  #writeErrors = 0
  #halted = false
  #leaving = false

  get mode(): StorageHealth['mode'] {
    return this.#mode
  }
  get shown(): StorageHealth['mode'] {
    return this.#leaving ? 'closed' : this.#mode
  }
  get reason(): ReadOnlyReason | undefined {
    return this.#reason ?? (this.#mode === 'ok' ? this.#strained : undefined)
  }
  get action(): string | undefined {
    return this.reason === undefined ? undefined : readOnlyActions[this.reason]
  }
  get writeErrors(): number {
    return this.#writeErrors
  }
  get halted(): boolean {
    return this.#halted
  }
  get passing(): boolean {
    return this.#reason !== undefined && passing.has(this.#reason)
  }
  get takesChanges(): boolean {
    return this.#mode === 'ok' && !this.#leaving
  }

  strain(reason: ReadOnlyReason | undefined): void {
    this.#strained = reason
  }

  refuse(reason: ReadOnlyReason): void {
    this.#halted ||= reason === 'lock_lost'
    if (this.#mode === 'closed' || (this.#isLasting() && reason !== 'lock_lost')) return
    this.#mode = 'read_only'
    this.#reason = reason
  }

  count(): void {
    this.#writeErrors += 1
  }

  begin(): void {
    if (this.#mode === 'read_only' && this.#reason === 'halted' && !this.#halted) this.#open()
  }

  recover(): boolean {
    if (this.#mode === 'read_only' && this.passing && !this.#halted) this.#open()
    return this.#mode === 'ok'
  }

  leave(): void {
    this.#leaving = true
  }

  close(): void {
    this.#mode = 'closed'
    this.#reason = undefined
  }

  problem(): Problem {
    const reason = this.#reason ?? this.shown
    return storageErrors.storage_read_only({ details: { reason }, retryAfter: 5, members: { reason } })
  }

  #open(): void {
    this.#mode = 'ok'
    this.#reason = undefined
  }

  #isLasting(): boolean {
    return this.#mode === 'read_only' && this.#reason !== undefined && this.#reason !== 'halted' && !this.passing
  }
}

export const createStorageMode = (): StorageMode => new Mode()
