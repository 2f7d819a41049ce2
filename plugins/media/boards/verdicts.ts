/** Which revisions of a board are sound, by what they name and by their place. */
import { Problem } from '../../../core/plugin.js'
import type { Assets } from '../assets/contract.js'
import { misplaced, type Link } from './record/chain.js'
import { checkAssets } from './record/revision-assets.js'
import type { BoardStore, StoredRevision } from './record/store.js'

const topology = 'invalid_topology'

/** Why it must be set aside, by revision; undefined for a sound one. Those that stay aside for good are missing. */
export type Verdicts = ReadonlyMap<string, string | undefined>

/** Called before each revision, and behind it. */
export interface Pace {
  readonly pause: () => Promise<void> | undefined
  readonly looked: () => void
}

export interface Judge {
  /** Undefined where its page is damaged: it is left as it is. */
  readable(id: string): StoredRevision | undefined
  /** Of the revisions of a board, in the order of their numbers. */
  judge(ids: readonly string[], pace: Pace): Promise<Verdicts>
}

export const createVerdicts = ({ store, assets }: { readonly store: BoardStore; readonly assets: Assets }): Judge => {
  const { revisions } = store

  const readable = (id: string): StoredRevision | undefined => {
    try {
      return revisions.find(id)
    } catch (error) {
      store.skip(id, error)
      return undefined
    }
  }
  const faultOf = async (revision: StoredRevision): Promise<string | undefined> => {
    try {
      await checkAssets(assets, revision)
      return undefined
    } catch (error) {
      if (error instanceof Problem) return error.code
      throw error
    }
  }
  const linkOf = (id: string): Link[] => {
    const revision = readable(id)
    if (revision === undefined) return [{ revision_id: id, aside: false, unreadable: true }]
    const { revision_id, previous_revision_id, quarantined } = revision
    return quarantined?.reason === topology
      ? []
      : [{ revision_id, previous_revision_id, aside: quarantined !== undefined }]
  }
  const judge = async (ids: readonly string[], { pause, looked }: Pace): Promise<Verdicts> => {
    const verdicts = new Map<string, string | undefined>()
    for (const id of ids) {
      await pause()
      const revision = readable(id)
      if (revision === undefined || revision.quarantined?.reason === topology) continue
      verdicts.set(id, await faultOf(revision))
      looked()
    }
    for (const id of misplaced(ids.flatMap(linkOf))) verdicts.set(id, topology)
    return verdicts
  }
  return { readable, judge }
}
