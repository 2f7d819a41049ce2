/** When a program that ended is started again (external-54). */
import { createHash } from 'node:crypto'

const [firstMs, longestMs, mostDoublings, spreadMs] = [1_000, 60_000, 6, 400]

/**
 * Milliseconds before the start behind so many that came to nothing. Each name has a part of its own in it, so that
 * programs that ended together do not start together.
 */
export const restartWaitMs = (name: string, failures: number): number => {
  const spread = createHash('sha256').update(`${name}:${failures}`).digest().readUInt16BE(0) % spreadMs
  return Math.min(longestMs, firstMs * 2 ** Math.min(failures, mostDoublings)) + spread
}
