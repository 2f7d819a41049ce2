/**
 * The contributions to a point, as one plugin has them. Those of third-party plugins answer as the point declares: what
 * they throw, return wrongly or never end is charged to their plugins, and another answer stands in its place.
 */
import { setMaxListeners } from 'node:events'
import { asItIs, isAnswer, type Answer, type PointAnswers } from '../../base/answers.js'
import { fault } from '../../base/assert.js'
import { noteContributor, noteRefute } from './blame.js'
import type { Clock } from '../../base/clock.js'
import { Problem } from '../../base/errors.js'
import { unsafeCast } from '../../base/schema.js'
import type { Point } from '../../base/token.js'
import { within } from '../../base/within.js'
import { errors } from '../errors.js'
import type { Faults } from './faults.js'
import { withKey, type Owned } from './points.js'
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
  readonly owner: string
  /** The function, with its path in the contribution, and its point. */
  readonly what: string
  readonly contribution: unknown
  readonly charge: Charge
  readonly call: (args: Args) => unknown
}

const noneOf = (): void => {}

export const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function'

/** The fault is this one, whatever comes of the promise. */
export const unawaited = (promise: unknown): Error => {
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

/** What counts in place of an answer. Throws where that is a refusal. */
const insteadOf = <R>({ answer, owner, what }: Omit<Asked<R>, 'call' | 'charge'>): R => {
  if (answer.refuses === true) throw errors.plugin_failed({ details: { plugin: owner, what } })
  return answer.named?.(owner) ?? answer.otherwise
}

/** Throws what is a refusal by whoever may refuse. */
const passOn = ({ refuses }: Answer<unknown>, error: unknown): void => {
  if (refuses === true && error instanceof Problem) throw error
}

/** A function that was returned. Once it has failed, it is not called again: it may be asked about many things. */
const mindWith =
  (of: Pick<Asked<unknown>, 'charge' | 'owner' | 'what' | 'contribution'>) =>
  <R>(given: unknown, answer: Answer<R>): ((...args: Args) => R) => {
    let failed = false
    const fail = (error: unknown): void => {
      failed = true
      of.charge(error)
    }
    const call = (args: Args): unknown => Reflect.apply(unsafeCast<(...args: Args) => unknown>(given), undefined, args)
    const asked = { ...of, answer, charge: fail, call }
    const ask = asking(asked)
    return (...args) => (failed ? insteadOf(asked) : ask(args))
  }

/** Asks, and gives what is taken. */
const asking = <R>(asked: Asked<R>): ((args: Args) => R) => {
  const { answer, call, charge, contribution } = asked
  const mind = mindWith(asked)
  return (args) => {
    try {
      const outcome = call(args)
      if (isThenable(outcome)) throw unawaited(outcome)
      return answer.take(outcome, mind, contribution)
    } catch (error) {
      passOn(answer, error)
      charge(error)
      return insteadOf(asked)
    }
  }
}

/**
 * The same where the answer may take its time. One that takes longer is not asked again until it has ended. Whoever
 * asks and gives up waits no longer, and charges nothing that is thrown then.
 */
const awaiting = <R>(asked: Asked<R>, { clock, scope }: ViewParts): ((args: Args) => unknown) => {
  const { answer, charge, call, contribution } = asked
  const mind = mindWith(asked)
  let late = 0
  const take = async (outcome: unknown, signals: readonly AbortSignal[]): Promise<R> => {
    try {
      return answer.take(await outcome, mind, contribution)
    } catch (error) {
      passOn(answer, error)
      if (!signals.some(({ aborted }) => aborted)) charge(error)
      return insteadOf(asked)
    }
  }
  /** Charges what is not done in time; a stop ends the wait before its time. */
  const watch = async (done: Promise<R>): Promise<void> => {
    const ended = new AbortController()
    const settled = done.then(noneOf, noneOf)
    const isOver = await within(
      clock,
      longestAnswerMs,
      Promise.race([settled, anyAborted([scope.signal], ended.signal)]),
    )
    ended.abort('ended')
    if (isOver) return
    if (late === 0) charge(errors.observer_late({ details: { ms: longestAnswerMs } }))
    late += 1
    void settled.then(() => (late -= 1))
  }
  const settle = async (outcome: unknown, signals: readonly AbortSignal[]): Promise<R> => {
    const done = take(outcome, signals)
    const ended = new AbortController()
    const given = Promise.race([watch(done), anyAborted(signals, ended.signal)])
    try {
      return await Promise.race([done, given.then(() => insteadOf(asked))])
    } finally {
      ended.abort('ended')
    }
  }
  return (args) => {
    if (late > 0) return insteadOf(asked)
    try {
      const outcome = call(args)
      if (!isThenable(outcome)) return answer.take(outcome, mind, contribution)
      return settle(outcome, [scope.signal, ...signalsIn(args)])
    } catch (error) {
      passOn(answer, error)
      charge(error)
      return insteadOf(asked)
    }
  }
}

/** What is asked for a caller must have ended so soon after its signal has aborted. */
const endMs = 1_000

const signalsIn = (args: Args): AbortSignal[] => args.filter((arg) => arg instanceof AbortSignal)

/** Asks for a caller who is told of a failure and gives up by a signal; what goes on behind that is charged. */
const askingForCaller = <R>(asked: Asked<R>, { clock, scope }: ViewParts) => {
  const { answer, charge, call, contribution } = asked
  const mind = mindWith(asked)
  const watch = async (work: Promise<unknown>, signals: readonly AbortSignal[], ended: AbortSignal): Promise<void> => {
    await anyAborted(signals, ended)
    if (await within(clock, endMs, Promise.race([work, anyAborted([scope.signal], ended)]))) return
    charge(errors.observer_late({ details: { ms: endMs } }))
  }
  return async (args: Args): Promise<R> => {
    const [signals, ended] = [signalsIn(args), new AbortController()]
    const work = Promise.resolve(args).then(call)
    void watch(
      work.catch(() => {}),
      signals,
      ended.signal,
    )
    try {
      return answer.take(await work, mind, contribution)
    } catch (error) {
      passOn(answer, error)
      if (!signals.some(({ aborted }) => aborted)) charge(error)
      if (answer.refuses === true) return insteadOf(asked)
      throw error
    } finally {
      ended.abort('ended')
    }
  }
}

/** What is told where something of a contribution is asked. */
interface Contributed {
  readonly owner: string
  /** What is asked, by the path of a function in the contribution. */
  readonly whatOf: (path: string) => string
  readonly answers: PointAnswers
  readonly contribution: unknown
  /** What stands before the names of functions of an object in it, such as `shown.`. */
  readonly path?: string
}

const askerFor = (asked: Asked<unknown>, parts: ViewParts): ((args: Args) => unknown) => {
  const { awaited } = asked.answer
  if (awaited === 'by its caller') return askingForCaller(asked, parts)
  return awaited === true ? awaiting(asked, parts) : asking(asked)
}

/** The contribution, or an object in it, with its functions as they are taken; all else is its own. */
const minded = (parts: ViewParts, contributed: Contributed, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((one) => minded(parts, contributed, one))
  if (typeof value !== 'object' || value === null) return value
  const own: object = value
  const { owner, whatOf, answers, contribution, path = '' } = contributed
  const members = Object.entries(answers).flatMap(([name, answer]) => {
    if (answer === asItIs || !(name in own)) return []
    if (!isAnswer(answer)) {
      const inner = { ...contributed, answers: answer, path: `${path}${name}.` }
      return [[name, { value: minded(parts, inner, Reflect.get(own, name)) }]]
    }
    const call = (args: Args): unknown => {
      const found: unknown = Reflect.get(own, name)
      return found === undefined ? answer.otherwise : Reflect.apply(unsafeCast<() => unknown>(found), own, args)
    }
    const what = whatOf(`${path}${name}`)
    const charge = (error: unknown): void => parts.faults.charge(owner, what, error)
    const ask = askerFor({ answer, owner, what, contribution, charge, call }, parts)
    return [[name, { value: (...args: Args) => ask(args) }]]
  })
  return Object.create(own, Object.fromEntries(members))
}

/** Gives each contribution as those have it who ask it. */
export const mindedBy = <T>(parts: ViewParts, point: Point<T>): ((entry: Owned<T>) => T) => {
  const { answers } = point
  const made = new WeakMap<Owned<T>, T>()
  return (entry) => {
    const { owner, value } = entry
    if (answers === undefined || parts.faults.isShipped(owner)) return value
    const known = made.get(entry)
    if (known !== undefined) return known
    const whatOf = (path: string): string => withKey(`${path} of ${point.point}`, point, value)
    const found = unsafeCast<T>(minded(parts, { owner, whatOf, answers, contribution: value }, value))
    noteContributor(found, owner)
    noteRefute(found, (name, wrong) => {
      const what = whatOf(name)
      parts.faults.charge(owner, what, fault(wrong))
      return errors.plugin_failed({ details: { plugin: owner, what } })
    })
    made.set(entry, found)
    return found
  }
}

export const ownView = <T>(parts: ViewParts, point: Point<T>): (() => readonly T[]) => {
  if (point.answers === undefined) return parts.registry.view(point)
  const owned = parts.registry.owned(point)
  const mind = mindedBy(parts, point)
  let seen: readonly Owned<T>[] | undefined
  let values: readonly T[] = []
  return () => {
    const entries = owned()
    if (seen !== entries) [seen, values] = [entries, Object.freeze(entries.map(mind))]
    return values
  }
}
