/** Where what a checkpoint writes of one collection or stream belongs, and what of it falls at the same moment. */
import { latestId } from '../../base/ids.js'
import type { KeptRef } from '../format/manifest.js'

export interface Target {
  /** The newest partition; undefined where it is not kept in partitions. */
  readonly part: number | undefined
  /** Partitions up to this one fall; 0: none. */
  readonly fall: number
  readonly kept: KeptRef | undefined
}
export const noTarget: Target = { part: undefined, fall: 0, kept: undefined }

/** Whether what belongs to a partition stays. */
export const stays = ({ fall }: Pick<Target, 'fall'>, { part }: { readonly part?: number }): boolean =>
  part === undefined || part > fall

/** What it is kept as when these ids have fallen too. */
export const keptBehind = ({ kept, fall }: Target, latest: readonly string[]): { kept?: KeptRef } => {
  if (kept === undefined) return {}
  return { kept: fall === 0 ? kept : { ...kept, fell: latestId([kept.fell ?? '', ...latest]) } }
}
