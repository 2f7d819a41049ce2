/** Moments for a person. Many are told by others, who may say what no calendar has: nothing may fail on one. */
import { latestTime } from '../schema.js'

/** `2027-01-31T12:00:00.000Z`; a number that no calendar has, as it is. */
export const showTime = (ms: number): string => (Math.abs(ms) <= latestTime ? new Date(ms).toISOString() : String(ms))
