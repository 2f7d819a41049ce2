/** Moments that others give, who may say what no calendar has. */
import { doc, integer, type Struct } from '../schema.js'

/** The last moment that a calendar has, Unix ms. */
export const latestTime = 8.64e15

/** Unix time in milliseconds as callers give it: a moment that a calendar has. */
export const givenTime = (): Struct<number, null> =>
  doc(integer({ min: 0, max: latestTime }), 'Unix time in milliseconds.')

/** For a person: `2027-01-31T12:00:00.000Z`; a number that no calendar has, as it is. */
export const showTime = (ms: number): string => (Math.abs(ms) <= latestTime ? new Date(ms).toISOString() : String(ms))

/** The time of day of a moment that is near, such as `07:30:03 UTC`. */
export const showClockTime = (ms: number): string => `${showTime(ms).slice(11, 19)} UTC`
