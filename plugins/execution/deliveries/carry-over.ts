/** Reply targets of records that were written before their secrets were sealed: once in the life of a root. */
import { createPause, tellFailure, type Collection, type Document, type Log, type State } from '../../../core/plugin.js'
import type { ReplyHandle, ReplyTargetRequest } from './reply-targets.js'

/** A target as it may be stored: as it is, or as a handle whose secrets are sealed. Throws `secrets_key_unusable`. */
export type KeepTarget = <T extends ReplyTargetRequest | ReplyHandle>(target: T) => T | ReplyHandle

/** Keeps reply targets in records of its own. */
export interface TargetKeeper {
  readonly id: string
  /**
   * Puts the targets of older records as they may be stored, in commits of its own; how many records it changed. May be
   * called again. Rejects when the signal aborts.
   */
  carryOver(keep: KeepTarget, signal: AbortSignal): Promise<number>
  /**
   * What of it will still send to a target that fits, in words such as "the schedule s1": what a connector must not be
   * deleted under. Absent where nothing waits for that.
   */
  naming?(fits: (target: ReplyTargetRequest | ReplyHandle) => boolean): readonly string[]
}

/** Records that are looked at in one turn, and changed in one commit: of years of history each takes half a ms. */
const portion = 10

interface Walk<T extends object> {
  readonly state: State
  readonly collection: Collection<T>
  /** An index whose sort keys differ, and that has every record. */
  readonly index: string
  readonly signal: AbortSignal
}

/**
 * Changes the records for which `change` gives another, in commits of its own; how many those were. Rejects when the
 * signal aborts: a root with millions of records is not to hold up a stop.
 */
export const carryOverRecords = async <T extends object>(
  { state, collection, index, signal }: Walk<T>,
  change: (record: T) => T | undefined,
): Promise<number> => {
  const { id, indexes } = collection.spec
  const sortOf = indexes[index]?.sort ?? id
  const pause = createPause(1)
  let changed = 0
  for (const group of collection.groups(index)) {
    let beyond: string | undefined
    for (;;) {
      signal.throwIfAborted()
      const page = collection.list({ index, group, limit: portion, ...(beyond !== undefined && { beyond }), skip })
      const last = page.at(-1)
      if (last === undefined) break
      beyond = sortOf(last)
      const ids = page.filter((record) => change(record) !== undefined).map(id)
      if (ids.length > 0) changed += await state.commit((tx) => putChanged({ collection, ids, change }, tx))
      await pause()
    }
  }
  return changed
}

/** What is damaged is told by those who serve it. */
const skip = (): void => {}

interface Change<T extends object> {
  readonly collection: Collection<T>
  readonly ids: readonly string[]
  readonly change: (record: T) => T | undefined
}

const putChanged = <T extends object>(
  { collection, ids, change }: Change<T>,
  tx: Parameters<Parameters<State['commit']>[0]>[0],
): number => {
  const after = ids.flatMap((id) => {
    const record = collection.find(id)
    return (record === undefined ? undefined : change(record)) ?? []
  })
  for (const record of after) tx.put(collection, record)
  return after.length
}

/** The handles as they may be stored; undefined if they are. */
export const keptHandles = (
  keep: KeepTarget,
  handles: readonly ReplyHandle[] | undefined,
): readonly ReplyHandle[] | undefined => {
  const kept = handles?.map((handle) => keep(handle))
  return kept?.some((handle, at) => handle !== handles?.[at]) === true ? kept : undefined
}

export interface CarryOverParts {
  readonly state: State
  readonly keepers: () => readonly TargetKeeper[]
  readonly keep: KeepTarget
  readonly log: Log
}

type Done = { readonly sealed: boolean }

/** Work that is done once in the life of a root. */
export type OnceWork = (signal: AbortSignal) => Promise<void>

/** Begins it beside all others. Its end stops it: the next start begins it again. */
export const begunBeside =
  (work: OnceWork): (() => () => Promise<void>) =>
  () => {
    const ended = new AbortController()
    const done = work(ended.signal)
    return () => {
      ended.abort()
      return done
    }
  }

/** A root that was made now has no older records. What cannot be sealed now waits for the next start. */
export const createCarryOver = ({ state, keepers, keep, log }: CarryOverParts): OnceWork => {
  const document: Document<Done> = state.document<Done>('reply_targets')
  const all = async (signal: AbortSignal): Promise<number> => {
    let changed = 0
    for (const keeper of keepers()) changed += await keeper.carryOver(keep, signal)
    return changed
  }
  return async (signal) => {
    if (document.read()?.sealed === true) return
    try {
      let records = 0
      // A record may move from one part of an index to another while it is looked for.
      if (state.health.generation > 1)
        for (let round = await all(signal); round > 0; round = await all(signal)) records += round
      await document.write({ sealed: true })
      if (records > 0) log.info('headers of reply targets that stood in clear are sealed now', { records })
    } catch (error) {
      if (signal.aborted) return
      tellFailure({ log, state }, 'headers of reply targets could not be sealed; the next start tries again', { error })
    }
  }
}
