/**
 * A daemon that holds reads and answers, and begins nothing by itself: no run, schedule or delivery. A restored root
 * begins so, because the original may still be at work. It lasts through restarts, until an operator releases it.
 */
import type { Clock } from '../base/clock.js'
import type { Warning } from '../base/health.js'
import { within } from '../base/within.js'
import { defineRoute, jsonReply, type Route } from '../http/routes/route.js'
import type { Log } from '../base/text/log.js'
import { boolean, doc, named, object } from '../base/schema.js'
import { holdDocument, type HoldReason, type StoredHold } from '../state/root/hold-document.js'
import type { State } from '../state/contract.js'

export interface Hold {
  /**
   * Takes what earlier starts kept; `asked` holds from now on, and unless it `begins` this life alone does. Call when
   * the state is loaded.
   */
  load(asked: boolean, begins?: boolean): Promise<void>
  /** Lets everything begin; false if the daemon did not hold. */
  release(): Promise<boolean>
  /** Call when all plugins have started: until then nothing begins. */
  started(): void
  /**
   * Begins now, or when all plugins have started and the daemon does not hold. The undo of what has begun, or forgets
   * it; it works once.
   */
  whenActing(begin: () => () => void | Promise<void>): () => void | Promise<void>
  /**
   * Ends what acts, the latest first, and lets nothing begin any more. What acts uses what plugins have, so it ends
   * before any of them stops. Never rejects: the plugin whose undo fails or does not end hears of it when it stops.
   */
  end(ms: number): Promise<void>
  warnings(): readonly Warning[]
}

export interface HoldParts {
  readonly state: State
  readonly clock: Clock
  readonly log: Log
}

const sentences: Readonly<Record<HoldReason, string>> = {
  restored:
    'This root was restored from a backup, so the daemon begins nothing by itself: the original may be at work.',
  asked: 'The daemon was started with --hold, so it begins nothing by itself.',
}

/** One that cannot begin keeps no other from it. */
const tryTo = (begin: () => void, log: Log): void => {
  try {
    begin()
  } catch (error) {
    log.error('what acts by itself could not begin', { error })
  }
}

export const createHold = ({ state, clock, log }: HoldParts): Hold => {
  let held: StoredHold | undefined
  const waiting = new Set<() => void>()
  const acting = new Set<() => Promise<void>>()
  let isStarted = false
  let over = false
  const document = () => state.document<StoredHold>(holdDocument)
  const beginAll = (): void => {
    if (!isStarted || held !== undefined) return
    for (const begin of waiting) {
      waiting.delete(begin)
      tryTo(begin, log)
    }
  }
  return {
    async load(asked, begins = true) {
      const kept = document().read()
      if (kept?.held === true) held = kept
      else if (asked) {
        held = { held: true, reason: 'asked', since_ms: clock.now() }
        await document()
          .write(held)
          .catch((error: unknown) => log.warn('the hold was not kept for the next start', { error }))
      }
      if (!begins) held ??= { held: true, reason: 'asked', since_ms: clock.now() }
      if (held !== undefined) log.warn(sentences[held.reason], { action: 'holdfast release' })
    },
    async release() {
      if (held === undefined) return false
      await document().write({ ...held, held: false })
      held = undefined
      log.info('released: runs, schedules and deliveries begin')
      beginAll()
      return true
    },
    started() {
      isStarted = true
      beginAll()
    },
    whenActing(begin) {
      let undo: () => void | Promise<void> = () => {}
      let ending: Promise<void> | undefined
      const start = (): void => {
        if (over) return
        undo = begin()
        acting.add(end)
      }
      const end = (): Promise<void> => (ending ??= undoing())
      const undoing = async (): Promise<void> => {
        waiting.delete(start)
        acting.delete(end)
        await undo()
      }
      waiting.add(start)
      beginAll()
      return end
    },
    async end(ms) {
      over = true
      const endAll = async (): Promise<void> => {
        for (const end of [...acting].toReversed()) await end().catch(() => {})
      }
      await within(clock, ms, endAll())
    },
    warnings: () =>
      held === undefined
        ? []
        : [
            {
              severity: 'warning',
              code: 'daemon_held',
              message: sentences[held.reason],
              action: 'Make sure that the original is stopped, then: holdfast release',
            },
          ],
  }
}

/** `POST /v1/release`. */
export const releaseRoute = (hold: Hold): Route =>
  defineRoute({
    id: 'daemon.release',
    method: 'POST',
    path: '/v1/release',
    access: 'admin',
    durability: 'A',
    summary: 'Lets a daemon that holds begin runs, schedules and deliveries again; without effect if it does not hold.',
    reply: jsonReply(named('Released', object({ released: doc(boolean(), 'False if the daemon did not hold.') }))),
    handler: async () => ({ released: await hold.release() }),
  })
