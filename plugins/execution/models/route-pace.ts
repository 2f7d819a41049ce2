/** What the server of a route says of its limits, and until when calls are held back for that, model by model. */
import type { Clock } from '../../../core/plugin.js'
import type { ModelFailure } from './contract.js'
import type { KeptHolds } from './bounds/kept-holds.js'
import { longestHintMs, type HeldEvent, type PaceView, type RateLimit } from './bounds/rate-limit.js'

export interface RoutePace {
  /** What the server says with an answer or a refusal. Numbers of all kinds. */
  told(model: string, limits: readonly RateLimit[]): void
  /** The failure with a wait that is kept to, if it has any. */
  refused(model: string, failure: ModelFailure): ModelFailure
  /** Milliseconds; 0 if calls may be made. */
  heldFor(model: string): number
  /** Tells of each wait, and returns true when calls may be made, false when the signal came first. */
  open(model: string, signal: AbortSignal): AsyncGenerator<HeldEvent, boolean>
  view(): PaceView
}

/** Monotonic ms at which the limit is whole again. */
interface Known {
  readonly remaining: number
  readonly resets: number | undefined
}
interface OfModel {
  readonly limits: Map<string, Known>
  /** Monotonic ms before which the server wants no call. */
  asked: number
}

/** Models and limits of each that are remembered: runs may wish any model. */
const [mostModels, mostLimits] = [50, 8]

/** A hint that is no time is none, and one that nobody would wait for is bounded. */
const bounded = (ms: number | undefined): number | undefined =>
  ms === undefined || !Number.isFinite(ms) ? undefined : Math.min(longestHintMs, Math.max(0, ms))

/** Plugins of others tell of limits too, and they are shown: a name is a short text. */
const isName = (name: unknown): boolean => typeof name === 'string' && name.length <= 200

const busy: ReadonlySet<ModelFailure['class']> = new Set(['rate_limited', 'overloaded'])

const untilOf = ({ limits, asked }: OfModel): number =>
  [...limits.values()].reduce(
    (until, { remaining, resets = 0 }) => (remaining <= 0 ? Math.max(until, resets) : until),
    asked,
  )

/** Calls that waited go one by one: so long after each other, and all of them within so long. Milliseconds. */
const [gapMs, allMs] = [100, 5_000]

/** Of a hold that is kept, so that a server that tells the same with each answer is written down once. */
const worthKeepingMs = 1_000

/** Tells `kept` what is held once that is another time. */
const createKeeping = (view: () => PaceView['held'], { keep, before }: KeptHolds) => {
  let last = before
  return (): void => {
    const now = view()
    const isKept = ({ model, until_ms }: PaceView['held'][number]): boolean =>
      last.some((one) => one.model === model && Math.abs(one.until_ms - until_ms) < worthKeepingMs)
    if (now.every(isKept)) return
    last = now
    keep(now)
  }
}

const nothingKept: KeptHolds = { before: [], keep: () => {} }

/** `held` is told of each call that is held back. */
export const createRoutePace = (clock: Clock, held: () => void, kept: KeptHolds = nothingKept): RoutePace => {
  const models = new Map<string, OfModel>()
  const keepHolds = createKeeping(() => viewOf(models, clock).held, kept)
  for (const { model, until_ms } of kept.before) {
    const wait = bounded(until_ms - clock.now()) ?? 0
    if (wait > 0) models.set(model, { limits: new Map(), asked: clock.elapsed() + wait })
  }
  let waiting = 0
  /** Monotonic ms at which the next of those may go that waited. */
  let next = 0
  const ofModel = (model: string): OfModel => {
    const found = models.get(model) ?? { limits: new Map<string, Known>(), asked: 0 }
    models.delete(model)
    models.set(model, found)
    const [oldest] = models.keys()
    if (models.size > mostModels && oldest !== undefined) models.delete(oldest)
    return found
  }
  const heldFor = (model: string): number => {
    const known = models.get(model)
    return known === undefined ? 0 : Math.max(0, Math.round(untilOf(known) - clock.elapsed()))
  }
  async function* wait(model: string, signal: AbortSignal): AsyncGenerator<HeldEvent, boolean> {
    for (;;) {
      // What was told meanwhile counts too: also what the first of those said that waited.
      for (let left = heldFor(model); left > 0; left = heldFor(model)) {
        yield { type: 'held', until_ms: Math.round(clock.now() + left) }
        if (!(await clock.sleep(heldFor(model), signal))) return false
      }
      const turn = Math.max(next, clock.elapsed())
      next = turn + Math.min(gapMs, allMs / waiting)
      if (turn > clock.elapsed() && !(await clock.sleep(turn - clock.elapsed(), signal))) return false
      if (heldFor(model) === 0) return !signal.aborted
    }
  }
  return {
    told(model, limits) {
      if (limits.length === 0 || !isName(model)) return
      const known = ofModel(model)
      for (const { of, remaining, resets_in_ms } of limits) {
        if (!isName(of) || !Number.isFinite(remaining) || (known.limits.size >= mostLimits && !known.limits.has(of)))
          continue
        const wait = bounded(resets_in_ms)
        known.limits.set(of, { remaining, resets: wait === undefined ? undefined : clock.elapsed() + wait })
      }
      if (untilOf(known) > clock.elapsed()) keepHolds()
    },
    refused(model, failure) {
      const { retry_after_ms, ...rest } = failure
      const wait = bounded(retry_after_ms)
      if (wait === undefined) return rest
      if (failure.retryable && busy.has(failure.class)) {
        const known = ofModel(model)
        known.asked = Math.max(known.asked, clock.elapsed() + wait)
        keepHolds()
      }
      return { ...rest, retry_after_ms: Math.round(wait) }
    },
    heldFor,
    async *open(model, signal) {
      if (heldFor(model) === 0) return !signal.aborted
      waiting += 1
      held()
      try {
        return yield* wait(model, signal)
      } finally {
        waiting -= 1
      }
    },
    view: () => ({ ...viewOf(models, clock), waiting }),
  }
}

const viewOf = (models: ReadonlyMap<string, OfModel>, clock: Clock): Pick<PaceView, 'limits' | 'held'> => {
  const [now, elapsed] = [clock.now(), clock.elapsed()]
  const wall = (at: number): number => Math.max(0, Math.round(now + at - elapsed))
  return {
    limits: [...models].flatMap(([model, { limits }]) =>
      [...limits].map(([of, { remaining, resets }]) => ({
        model,
        of,
        remaining,
        ...(resets !== undefined && { resets_at_ms: wall(resets) }),
      })),
    ),
    held: [...models].flatMap(([model, known]) => {
      const until = untilOf(known)
      return until > elapsed ? [{ model, until_ms: wall(until) }] : []
    }),
  }
}
