/** What every process of a supervised program carries, so that a later life of the daemon knows it for its own. */
import { createHash } from 'node:crypto'

/** The part of a marker that names a state root. */
export const rootTag = (stateRoot: string): string => createHash('sha256').update(stateRoot).digest('hex').slice(0, 16)

export const markerOf = (tag: string, generation: number, unique: string): string => `${tag}.${generation}.${unique}`
