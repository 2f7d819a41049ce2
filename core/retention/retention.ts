/** How much the root holds, and how much of it stays: put together for one daemon. Rules: docs/rules/retention.md. */
import type { Clock } from '../base/clock.js'
import { Problem } from '../base/errors.js'
import type { Warning } from '../base/health.js'
import type { Ids } from '../base/ids.js'
import type { Progress } from '../base/text/progress.js'
import type { Log } from '../base/text/log.js'
import type { State } from '../state/contract.js'
import type { Disk } from '../state/disk/disk.js'
import { storageErrors } from '../state/storage-errors.js'
import { createAnnouncements, type Announcements } from './announcements.js'
import { dueNow, type Due, type DueNow } from './due.js'
import { letAllFall, type Failed, type Fell } from './falls.js'
import { limitsFor } from './kinds.js'
import { lookNowAndThen } from './looks.js'
import type { Policy } from './policy.js'
import { policyFaults, unfinishedCode } from './policy-faults.js'
import { reportOf, type RetentionReport } from './report.js'
import { openDocument, type RetentionDocument } from './retention-document.js'
import { createUsage, type Usage } from './usage.js'
import { messageOf } from '../base/text/thrown.js'

export interface RetentionParts {
  readonly root: string
  /** Id of the state root. */
  readonly rootId: string
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly state: State
  readonly policy: Policy
  /** Why nothing falls by itself, whatever the policy says; absent where it does. */
  readonly fault?: Warning
  /** Told how far an archive is, in about as many bytes as fall. */
  readonly progress?: Progress
  /** Once it aborts nothing more falls, and what is not known yet rejects with its reason. */
  readonly signal?: AbortSignal
}

export interface Outcome extends Fell {
  /** Behind what fell. */
  readonly stays: DueNow['stays']
}

export interface Retention {
  readonly usage: Usage
  /** Looks now and then from now on. Returns the end, which waits for a fall under way. */
  begin(): () => Promise<void>
  /** What would fall now under a policy, that of the start if none is given, and what stays though it is due. */
  due(policy?: Policy): Promise<DueNow>
  /** Bytes of what goes by itself behind what fell, and is still there. */
  leaving(): Promise<number>
  /** Lets fall what is due, told before or not. Rejects where storage refuses changes: then nothing fell. */
  run(policy?: Policy): Promise<Outcome>
  /** The `retention` member of `/v1/status`. */
  report(): RetentionReport
  warnings(): readonly Warning[]
  /** What is wrong with a policy here and now. */
  faults(policy: Policy): readonly Warning[]
}

/** One after the other: a plan holds until what it says has fallen. */
const createTurn = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <R>(work: () => Promise<R>): Promise<R> => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

/** A look of so long ago still says what stays. Milliseconds on the monotonic clock. */
const freshMs = 10_000

const warningOf = ({ kind, error }: Failed): Warning => ({
  severity: 'warning',
  code: 'retention_failed',
  related_id: kind,
  message: error instanceof Problem ? error.message : `Of ${kind} nothing fell: ${messageOf(error)}`,
  action: (error instanceof Problem ? error.action : undefined) ?? 'Look at the log, then: holdfast state retention',
})

class Keeper implements Retention {
  readonly usage: Usage
  readonly #parts: RetentionParts
  readonly #document: RetentionDocument
  readonly #announcements: Announcements
  readonly #inTurn = createTurn()
  #failures: readonly Warning[] = []
  /** An archive that is not finished may be written just now. */
  #isFalling = false
  #found: { readonly at: number; readonly due: DueNow } | undefined
  /** Of the root, what stays of it, when that was measured last. */
  #bytes = 0
  /** What goes behind falls, by kind and partition, where something is due. */
  #beside: ReadonlyMap<string, ReadonlyMap<number, number>> = new Map()
  /** On the monotonic clock. */
  #checkpointedAt: number

  constructor(parts: RetentionParts) {
    const { state, log, clock, policy } = parts
    this.#parts = parts
    this.#checkpointedAt = clock.elapsed()
    for (const [kind, own] of policy.kinds) state.retention.closeAt(kind, limitsFor(own, policy))
    this.#document = openDocument(state, log)
    this.usage = createUsage({ ...parts, document: this.#document, retention: state.retention })
    this.#announcements = createAnnouncements({
      document: this.#document,
      policy,
      now: clock.now,
      tell: (sentence) => log.warn(sentence, { code: 'retention_announced' }),
    })
  }

  report(): RetentionReport {
    const { state, policy } = this.#parts
    return reportOf({
      policy,
      kinds: state.retention.kinds(),
      fallen: this.#document.value.fallen,
      found: this.#known(freshMs),
      growthOf: this.usage.growthOf,
      fallsAt: this.#announcements.fallsAt,
    })
  }

  begin(): () => Promise<void> {
    const { log, policy, fault } = this.#parts
    if (fault !== undefined) return () => Promise.resolve()
    for (const { message, code, action } of this.faults(policy)) log.warn(message, { code, action })
    return lookNowAndThen(this.#parts, (which) => this.#inTurn(() => this.#look(which)))
  }

  due(policy = this.#parts.policy): Promise<DueNow> {
    return this.#inTurn(() => this.#findAnew(policy))
  }

  async leaving(): Promise<number> {
    const { state, policy } = this.#parts
    let bytes = 0
    for (const kind of policy.kinds.keys()) bytes += (await state.retention.beside(kind)).gone
    return bytes
  }

  run(policy = this.#parts.policy): ReturnType<Retention['run']> {
    const fall = async (): ReturnType<Retention['run']> => {
      const { falls } = await this.#findAnew(policy)
      const { fallen, failed, left } = await this.#letFall(falls, policy)
      const handled = falls.map(({ kind }) => kind).filter((kind) => !left.includes(kind))
      await this.#announcements.settle(handled, policy)
      const { stays } = await this.#foundBehind(policy)
      return { fallen, failed, left, stays: this.#isBroken() ? [] : stays }
    }
    return this.#inTurn(() => this.#parts.state.retention.withRoom(fall))
  }

  faults(policy: Policy): readonly Warning[] {
    const found = policyFaults(policy, this.#parts)
    return this.#isFalling ? found.filter(({ code }) => code !== unfinishedCode) : found
  }

  warnings(): readonly Warning[] {
    const { fault } = this.#parts
    return [
      ...(fault === undefined ? [] : [fault]),
      ...this.usage.warnings(),
      ...this.#known(Infinity).bound,
      ...this.faults(this.#parts.policy),
      ...this.#announcements.warnings(),
      ...this.#failures,
    ]
  }

  #isBroken(): boolean {
    return this.#parts.signal?.aborted === true
  }

  async #look(which: 'first' | 'later'): Promise<void> {
    this.usage.expire()
    await this.usage.sample()
    if (this.#parts.state.health.mode !== 'ok') return
    const { falls } = this.#isStale() ? await this.#findDue() : await this.#foundSoFar()
    const ripe = await this.#announcements.ripe(falls, which !== 'first')
    if (ripe.length === 0) return
    await this.#letFall(ripe)
    await this.#foundBehind()
  }

  /** Something may be older, or more, than the state knows that it is, because it is still in the log. */
  #isStale(): boolean {
    const { clock, policy } = this.#parts
    const kinds = [...policy.kinds.values()]
    if (kinds.some(({ maxCount }) => maxCount !== undefined)) return true
    const aged = kinds.filter(({ maxAge }) => maxAge !== undefined)
    const least = Math.min(...aged.map((own) => limitsFor(own, policy).age))
    return clock.elapsed() - this.#checkpointedAt >= least
  }

  /** As of the last checkpoint. */
  async #foundSoFar(policy = this.#parts.policy): Promise<DueNow> {
    this.#bytes = await this.usage.staying()
    this.#beside = new Map()
    const { falls, stays } = this.#see(policy)
    const isOver = this.#bytes > (policy.maxBytes ?? Infinity)
    // To count what goes behind falls, all of it is read.
    if (isOver || falls.length > 0 || stays.length > 0) await this.#countBeside(policy)
    return this.#see(policy)
  }

  /** Of what goes behind a fall by itself some is still there: whoever asks next has all counted anew. */
  async #foundBehind(policy = this.#parts.policy): Promise<DueNow> {
    const found = await this.#foundSoFar(policy)
    this.usage.expire()
    return found
  }

  /** By a look that is not older than so many ms, or by one now. */
  #known(mostMs: number): DueNow {
    const found = this.#found
    return found !== undefined && this.#parts.clock.elapsed() - found.at < mostMs ? found.due : this.#see()
  }

  /** What is on its way out makes no room any more. */
  async #countBeside({ kinds }: Policy): Promise<void> {
    const found = new Map<string, ReadonlyMap<number, number>>()
    for (const kind of kinds.keys()) {
      if (this.#isBroken()) return
      const { gone, parts } = await this.#parts.state.retention.beside(kind)
      this.#bytes -= gone
      found.set(kind, parts)
    }
    this.#beside = found
  }

  /** Kept only of the policy that the daemon goes by: what was known of that is over behind a look by another. */
  #see(policy = this.#parts.policy): DueNow {
    const { state, clock } = this.#parts
    const due = dueNow({
      retention: state.retention,
      policy,
      bytes: this.#bytes,
      beside: this.#beside,
      now: clock.now(),
    })
    this.#found = policy === this.#parts.policy ? { at: clock.elapsed(), due } : undefined
    return due
  }

  async #findDue(policy = this.#parts.policy): Promise<DueNow> {
    if (await this.#parts.state.retention.checkpoint()) this.#checkpointedAt = this.#parts.clock.elapsed()
    return this.#foundSoFar(policy)
  }

  /** For whoever asks: what others removed since the last count is not taken once more. */
  async #findAnew(policy: Policy): Promise<DueNow> {
    this.usage.expire()
    const found = await this.#findDue(policy)
    this.#parts.signal?.throwIfAborted()
    return found
  }

  /** What is written to ends first, and then it is asked again: more may have come until then. */
  async #ended(falls: readonly Due[], policy: Policy): Promise<readonly Due[]> {
    const { retention } = this.#parts.state
    const newest = new Map(retention.kinds().map(({ kind, partitions }) => [kind, partitions.at(-1)?.no ?? 0]))
    const closing = new Set(falls.flatMap(({ kind, upto }) => (upto >= (newest.get(kind) ?? 0) ? [kind] : [])))
    if (closing.size === 0) return falls
    if (!(await retention.checkpoint(closing))) throw storageErrors.storage_write_failed()
    const wanted = new Map(falls.map(({ kind, upto }) => [kind, upto]))
    return (await this.#foundSoFar(policy)).falls.filter(({ kind, upto }) => upto <= (wanted.get(kind) ?? 0))
  }

  async #letFall(falls: readonly Due[], policy = this.#parts.policy): Promise<Fell> {
    const { retention } = this.#parts.state
    const todo = await this.#ended(falls, policy)
    this.#isFalling = true
    const fell = await letAllFall({ ...this.#parts, policy, retention, document: this.#document }, todo)
    this.#isFalling = false
    this.usage.expire()
    this.#tell(fell.failed)
    return fell
  }

  /** Once until something else is wrong; with what nobody has foreseen, whole. */
  #tell(failed: readonly Failed[]): void {
    const known = new Set(this.#failures.map(({ message }) => message))
    this.#failures = failed.map(warningOf)
    for (const [at, { message, code, related_id: kind }] of this.#failures.entries()) {
      const error = failed[at]?.error
      const detail = error instanceof Problem ? { problem: error.code } : { error }
      if (!known.has(message)) this.#parts.log.warn(message, { code, kind, ...detail })
    }
  }
}

export const createRetention = (parts: RetentionParts): Retention => new Keeper(parts)
