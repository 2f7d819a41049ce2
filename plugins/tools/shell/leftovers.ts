/**
 * Commands of an earlier life of this daemon that outlived it. Their marker
 * says which state root and which generation they belong to, so nothing has to
 * be recorded when a command starts.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../../core/plugin.js'
import { isMarkerInUse } from './process-table.js'
import { stopProcesses, type Stopped } from './process-tree.js'

/** The part of a marker that names a state root. */
export const rootTag = (stateRoot: string): string => createHash('sha256').update(stateRoot).digest('hex').slice(0, 16)

export const markerOf = (tag: string, generation: number, unique: string): string => `${tag}.${generation}.${unique}`

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
    of:
      () =>
      ({ marker }) =>
        marker !== undefined && marker.startsWith(ours) && !marker.startsWith(current),
  })
}
