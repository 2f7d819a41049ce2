/** Where plugins may stop or change what happens, moment by moment. Rules: docs/rules/hooks.md. */
import {
  definePoint,
  defineToken,
  hasMembers,
  withAnswers,
  yesOrNo,
  type Point,
  type Token,
} from '../../../core/plugin.js'
import type { Invocation, Moment, Ruling } from './moments.js'
import { takenRuling } from './ruling-fault.js'

/** Why something was refused that a plugin looked at, or would have to. */
export { interceptionErrors, lockedInterception, pluginInterception } from './errors.js'
/** What may be stopped or changed, and what will be. */
export { laterMoments, moments } from './moments.js'
/** What is told at each moment: when, about what, with which payload, and what a ruling can do. */
export { momentFacts } from './payloads.js'
/** The same of one moment. */
export type { MomentFacts } from './payloads.js'
/** One of `moments`, what is asked about it, what is made of that, and by whom of several. */
export type { Invocation, Moment, Ruling, RulingPart } from './moments.js'
/** Takes rulings of several that are asked one after the other together, those of two moments; who of them did what. */
export { askInTurn, namesOf, strictest, whoDid } from './rulings.js'

/** Looks at moments, and may stop or change what happens. */
export interface Interceptor {
  readonly id: string
  /** Lower ones are asked first. */
  readonly rank: number
  /** True if its rulings are by hooks, which operators can change. */
  readonly ofHooks?: true
  /** Must be fast and must not throw: it is asked before anything is put together. */
  wants(event: Moment): boolean
  /**
   * Undefined for no objection. Must end soon after the signal aborts; a throw, and what is no ruling, is logged and
   * counts as no objection. So does a third-party one that takes longer than ten seconds; it is not asked again before
   * it has ended.
   * May be asked again about the same thing, after a kill of the daemon before its ruling was on record.
   */
  intercept(invocation: Invocation, signal: AbortSignal): Promise<Ruling | undefined>
}
/** Everyone who looks at moments. */
export const Interceptors: Point<Interceptor> = withAnswers(
  definePoint<Interceptor>(
    'interceptors@1',
    ({ id }) => id,
    hasMembers('an interceptor', { id: 'id', rank: 'number', wants: 'function', intercept: 'function' }),
  ),
  { wants: yesOrNo(false), intercept: { take: takenRuling, otherwise: undefined, awaited: true } },
)

/** Asks all interceptors. */
export interface Interception {
  /** False while nobody looks at this moment: then nothing needs to be put together. */
  wants(event: Moment): boolean
  /** Asks them one after the other, until one blocks. Never rejects. */
  ask(invocation: Invocation, signal: AbortSignal): Promise<Ruling>
  /** Tells them, and waits for nobody. */
  tell(invocation: Invocation): void
}
/** Asks all interceptors. */
export const Interception: Token<Interception> = defineToken<Interception>('interception@1')
