/**
 * The contributions to a point, as one plugin has them. Those of third-party plugins answer as the point declares: what
 * they throw, return wrongly or never end is charged to their plugins, and another answer stands in its place.
 */
import { setMaxListeners } from 'node:events'
import { asItIs, isAnswer, type Answer, type PointAnswers } from '../../base/answers.js'
import { fault } from '../../base/assert.js'
import { noteContributor } from './blame.js'
import type { Clock } from '../../base/clock.js'
import { unsafeCast } from '../../base/schema.js'
import type { Point } from '../../base/token.js'
import { within } from '../../base/within.js'
import { errors } from '../errors.js'
import type { Faults } from './faults.js'
import type { Owned } from './points.js'
import type { Registry } from './registry.js'
import type { Scope } from './scope.js'

export interface ViewParts {
  readonly registry: Pick<Registry, 'owned' | 'view'>
  readonly faults: Pick<Faults, 'charge' | 'isShipped'>
  readonly scope: Pick<Scope, 'signal'>
  readonly clock: Clock
}

/** Nobody waits longer for a third-party plugin. */
export const longestAnswerMs = 10_000

type Args = readonly unknown[]
type Charge = (error: unknown) => void

/** One function of a contribution. */
interface Asked<R> {
  readonly answer: Answer<R>
  readonly charge: Charge
  readonly call: (args: Args) => unknown
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function'

/** The fault is this one, whatever comes of the promise. */
const unawaited = (promise: unknown): Error => {
  void Promise.resolve(promise).catch(() => {})
  return fault('what it returned is a promise, and nobody waits for it')
}

/** Resolves when one of them aborts, and forgets them when `ended` aborts. */
const anyAborted = (signals: readonly AbortSignal[], ended: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve()
      // One signal is given to many.
      setMaxListeners(0, signal)
      signal.addEventListener('abort', () => resolve(), { once: true, signal: ended })
    }
  })

/** A function that was returned. Once it has failed, it is not called again: it may be asked about many things. */
const mindWith =
  (charge: Charge) =>
  <R>(given: unknown, answer: Answer<R>): ((...args: Args) => R) => {
    let failed = false
    const fail = (error: unknown): void => {
      failed = true
      charge(error)
    }
    const call = (args: Args): unknown => Reflect.apply(unsafeCast<(...args: Args) => unknown>(given), undefined, args)
    const ask = asking({ answer, charge: fail, call })
    return (...args) => (failed ? answer.otherwise : ask(args))
  }

/** Asks, and gives what is taken. */
const asking = <R>({ answer, charge, call }: Asked<R>): ((args: Args) => R) => {
  const mind = mindWith(charge)
  return (args) => {
    try {
      const outcome = call(args)
      if (isThenable(outcome)) throw unawaited(outcome)
      return answer.take(outcome, mind)
    } catch (error) {
      charge(error)
      return answer.otherwise
    }
  }
}

/**
 * The same where the answer may take its time. One that takes longer is not asked again until it has ended. Whoever
 * asks and gives up waits no longer, and charges nothing that is thrown then.
 */
const awaiting = <R>({ answer, charge, call }: Asked<R>, { clock, scope }: ViewParts): ((args: Args) => unknown) => {
  const mind = mindWith(charge)
  let late = 0
  const take = async (outcome: unknown, signals: readonly AbortSignal[]): Promise<R> => {
    try {
      return answer.take(await outcome, mind)
    } catch (error) {
      if (!signals.some(({ aborted }) => aborted)) charge(error)
      return answer.otherwise
    }
  }
  /** Charges what is not done in time; a stop ends the wait before its time. */
  const watch = async (done: Promise<R>): Promise<void> => {
    const ended = new AbortController()
    const isOver = await within(clock, longestAnswerMs, Promise.race([done, anyAborted([scope.signal], ended.signal)]))
    ended.abort('ended')
    if (isOver) return
    if (late === 0) charge(errors.observer_late({ details: { ms: longestAnswerMs } }))
    late += 1
    void done.then(() => (late -= 1))
  }
  const settle = async (outcome: unknown, signals: readonly AbortSignal[]): Promise<R> => {
    const done = take(outcome, signals)
    const ended = new AbortController()
    const given = Promise.race([watch(done), anyAborted(signals, ended.signal)])
    try {
      return await Promise.race([done, given.then(() => answer.otherwise)])
    } finally {
      ended.abort('ended')
    }
  }
  return (args) => {
    if (late > 0) return answer.otherwise
    try {
      const outcome = call(args)
      if (!isThenable(outcome)) return answer.take(outcome, mind)
      return settle(outcome, [scope.signal, ...args.filter((arg) => arg instanceof AbortSignal)])
    } catch (error) {
      charge(error)
      return answer.otherwise
    }
  }
}

/** What is told where something of a contribution is asked: whose it is, and of which point. */
interface Contributed {
  readonly owner: string
  readonly point: string
  readonly answers: PointAnswers
}

/** The contribution with its functions as they are taken; all else is its own. */
const minded = (parts: ViewParts, contributed: Contributed, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  const own: object = value
  const { owner, point, answers } = contributed
  const members = Object.entries(answers).flatMap(([name, answer]) => {
    if (answer === asItIs || !(name in own)) return []
    if (!isAnswer(answer))
      return [[name, { value: mindedList(parts, { ...contributed, answers: answer }, Reflect.get(own, name)) }]]
    const call = (args: Args): unknown => {
      const found: unknown = Reflect.get(own, name)
      return found === undefined ? answer.otherwise : Reflect.apply(unsafeCast<() => unknown>(found), own, args)
    }
    const charge = (error: unknown): void => parts.faults.charge(owner, `${name} of ${point}`, error)
    const asked = { answer, charge, call }
    const ask = answer.awaited === true ? awaiting(asked, parts) : asking(asked)
    return [[name, { value: (...args: Args) => ask(args) }]]
  })
  return Object.create(own, Object.fromEntries(members))
}
const mindedList = (parts: ViewParts, contributed: Contributed, list: unknown): unknown =>
  Array.isArray(list) ? list.map((one) => minded(parts, contributed, one)) : list

export const ownView = <T>(parts: ViewParts, point: Point<T>): (() => readonly T[]) => {
  const view = parts.registry.view(point)
  const { answers } = point
  if (answers === undefined) return view
  const owned = parts.registry.owned(point)
  const known = new WeakMap<Owned<T>, T>()
  const mindedOf = (entry: Owned<T>): T => {
    const { owner } = entry
    const contributed = { owner, point: point.point, answers }
    const value =
      known.get(entry) ??
      (parts.faults.isShipped(owner) ? entry.value : unsafeCast<T>(minded(parts, contributed, entry.value)))
    known.set(entry, value)
    noteContributor(value, owner)
    return value
  }
  let seen: readonly Owned<T>[] | undefined
  let values: readonly T[] = []
  return () => {
    const entries = owned()
    if (seen !== entries) [seen, values] = [entries, Object.freeze(entries.map(mindedOf))]
    return values
  }
}
