/**
 * Programs of an earlier life of this daemon that outlived it. Their marker
 * says which state root and which generation they belong to, so nothing has to
 * be recorded when one starts.
 */
import type { Clock } from '../base/clock.js'
import type { Log } from '../base/text/log.js'
import type { Stopped } from './contract.js'
import { rootTag } from './marker.js'
import { isMarkerInUse } from '../state/root/process-table.js'
import { stopProcesses } from './process-tree.js'

export interface Leftovers {
  readonly clock: Clock
  readonly grace_ms: number
  readonly tag: string
  readonly generation: number
}

/** Stops what carries this root's marker of any other generation. */
export const stopLeftovers = async ({
  clock,
  grace_ms,
  tag,
  generation,
}: Leftovers): Promise<Omit<Stopped, 'supported'>> => {
  const ours = `${tag}.`
  if (!isMarkerInUse(ours)) return { found: 0, remaining: [] }
  const current = `${tag}.${generation}.`
  return stopProcesses({
    clock,
    grace_ms,
    known: new Set(),
    of:
      () =>
      ({ marker }) =>
        marker !== undefined && marker.startsWith(ours) && !marker.startsWith(current),
  })
}

/** A start does not wait longer than this for what an earlier one left, milliseconds. */
const startGrace = 1_000

export interface EarlierLife {
  readonly clock: Clock
  readonly log: Log
  readonly root: string
  /** Of the life that begins. */
  readonly generation: number
}

/** Ends what programs of an earlier life of this root have left, and tells of it. */
export const endLeftovers = async ({ clock, log, root, generation }: EarlierLife): Promise<void> => {
  const { found, remaining } = await stopLeftovers({ clock, grace_ms: startGrace, tag: rootTag(root), generation })
  if (found > 0) log.warn('stopped processes that commands of an earlier start had left', { found, remaining })
}
