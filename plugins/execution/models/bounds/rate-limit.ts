/** What a server says of one of its limits, such as requests a minute. */
export interface RateLimit {
  /** A short word of the provider's own, such as `requests`. */
  readonly of: string
  readonly remaining: number
  /** When it is whole again, milliseconds from now; absent if the server does not say. */
  readonly resets_in_ms?: number
}

/** A limit as it was told last. Times in Unix ms. */
export interface ToldLimit {
  readonly model: string
  readonly of: string
  readonly remaining: number
  readonly resets_at_ms?: number
}

/** What is known of the limits of a route now. */
export interface PaceView {
  readonly limits: readonly ToldLimit[]
  readonly held: readonly { readonly model: string; readonly until_ms: number }[]
  /** Calls that are held back now. */
  readonly waiting: number
}

/**
 * A route holds a call back, because its server has asked for time: no provider says so. Unix ms; another time if it is
 * put off again.
 */
export type HeldEvent = { type: 'held'; until_ms: number }

/** A route has as many calls under way as it makes at a time: this one waits for its turn, and then has it. */
export type TurnEvent = { type: 'turn'; waits: boolean }

/** What a route tells of a call before it asks its server. */
export type RouteEvent = HeldEvent | TurnEvent

/** The longest wait that a server may ask for, milliseconds: one that asks for more is asked again then (models-43). */
export const longestHintMs = 300_000
