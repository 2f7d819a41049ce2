/** How much the root holds, and how much of it stays: put together for one daemon. Rules: docs/rules/retention.md. */
import type { Clock } from '../base/clock.js'
import type { Warning } from '../base/health.js'
import type { Ids } from '../base/ids.js'
import type { Log } from '../base/text/log.js'
import type { State } from '../state/contract.js'
import type { Disk } from '../state/disk/disk.js'
import { createAnnouncements, type Announcements } from './announcements.js'
import { dueNow, type Due, type DueNow } from './due.js'
import { letFall } from './falls.js'
import { limitsFor } from './kinds.js'
import { lookNowAndThen } from './looks.js'
import type { Policy } from './policy.js'
import { reportOf, type RetentionReport } from './report.js'
import { openDocument, type Fallen, type RetentionDocument } from './retention-document.js'
import { createUsage, type Usage } from './usage.js'

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
}

export interface Retention {
  readonly usage: Usage
  /** Looks now and then from now on. Returns the end, which waits for a fall under way. */
  begin(): () => Promise<void>
  /** What would fall now, and what stays though it is due. */
  due(): Promise<DueNow>
  /** Lets fall what is due, told before or not. Rejects where the disk refuses; what fell until then fell. */
  run(): Promise<{ readonly fallen: readonly Fallen[]; readonly stays: DueNow['stays'] }>
  /** The `retention` member of `/v1/status`. */
  report(): RetentionReport
  warnings(): readonly Warning[]
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

class Keeper implements Retention {
  readonly usage: Usage
  readonly #parts: RetentionParts
  readonly #document: RetentionDocument
  readonly #announcements: Announcements
  readonly #inTurn = createTurn()
  #failure: Warning | undefined
  /** By the last look. */
  #found: DueNow = { falls: [], stays: [] }
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
      found: this.#found,
      growthOf: this.usage.growthOf,
      fallsAt: this.#announcements.fallsAt,
    })
  }

  begin(): () => Promise<void> {
    return lookNowAndThen(this.#parts, () => this.#inTurn(() => this.#look()))
  }

  due(): Promise<DueNow> {
    return this.#inTurn(() => this.#findDue())
  }

  run(): ReturnType<Retention['run']> {
    return this.#inTurn(async () => {
      const { falls, stays } = await this.#findDue()
      await this.#announcements.settle(falls.map(({ kind }) => kind))
      return { fallen: await this.#letFall(falls), stays }
    })
  }

  warnings(): readonly Warning[] {
    return [
      ...this.usage.warnings(),
      ...this.#announcements.warnings(),
      ...(this.#failure === undefined ? [] : [this.#failure]),
    ]
  }

  async #look(): Promise<void> {
    await this.usage.sample()
    if (this.#parts.state.health.mode !== 'ok') return
    const { falls } = this.#isStale() ? await this.#findDue() : await this.#foundSoFar()
    const ripe = await this.#announcements.ripe(falls)
    if (ripe.length > 0) await this.#letFall(ripe)
  }

  /** Something may be older than the state knows that it is, because it is still in the log. */
  #isStale(): boolean {
    const { clock, policy } = this.#parts
    const aged = [...policy.kinds.values()].filter(({ maxAge }) => maxAge !== undefined)
    const least = Math.min(...aged.map((own) => limitsFor(own, policy).age))
    return clock.elapsed() - this.#checkpointedAt >= least
  }

  /** As of the last checkpoint. */
  async #foundSoFar(): Promise<DueNow> {
    const { state, policy, clock } = this.#parts
    const { root_bytes: bytes } = await this.usage.report()
    return (this.#found = dueNow({ retention: state.retention, policy, bytes, now: clock.now() }))
  }

  async #findDue(): Promise<DueNow> {
    if (await this.#parts.state.retention.checkpoint()) this.#checkpointedAt = this.#parts.clock.elapsed()
    return this.#foundSoFar()
  }

  async #letFall(falls: readonly Due[]): Promise<readonly Fallen[]> {
    const { state, log } = this.#parts
    const fallen: Fallen[] = []
    try {
      for (const due of falls) {
        fallen.push(await letFall({ ...this.#parts, retention: state.retention, document: this.#document }, due))
      }
      this.#failure = undefined
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      this.#failure = { severity: 'warning', code: 'retention_failed', message: `Nothing falls: ${message}` }
      log.warn('what is due could not fall', { error })
      throw error
    }
    return fallen
  }
}

export const createRetention = (parts: RetentionParts): Retention => new Keeper(parts)
