/** Deletes the files of purged observations that nothing else names, behind the commit that purged them. */
import type { Log } from '../../../../core/plugin.js'
import type { Assets } from '../../../media/assets/contract.js'
import type { Audit } from '../record/audit.js'
import type { ObservationRecord, ObservationStore } from '../record/store.js'

export interface LeavingFiles {
  /** There may be some. */
  poke(): void
  /** Resolves when nothing is under way. */
  end(): Promise<void>
}

const atOnce = 16

export const createLeavingFiles = ({
  store,
  assets,
  audit,
  log,
}: {
  readonly store: ObservationStore
  readonly assets: Pick<Assets, 'release'>
  readonly audit: Audit
  readonly log: Log
}): LeavingFiles => {
  const { observations, skip } = store
  let running: Promise<void> | undefined
  let ended = false

  /** A kill in between leaves the record as it was, and the next start begins again. */
  const finish = async ({ view }: ObservationRecord): Promise<void> => {
    const named = [view.asset_id, ...(view.canonical_text_asset_id === undefined ? [] : [view.canonical_text_asset_id])]
    const purged_asset_ids: string[] = []
    for (const asset_id of named) if (await assets.release(asset_id)) purged_asset_ids.push(asset_id)
    await store.state.commit((tx) => {
      const record = observations.find(view.observation_id)
      if (record?.leaving !== true) return
      const { leaving: _leaving, ...rest } = record
      tx.put(observations, rest)
      if (purged_asset_ids.length > 0)
        audit.note(tx, {
          event: 'retention_purged_assets',
          source_id: view.source_id,
          observation_id: view.observation_id,
          reason: 'retention',
          purged_asset_ids,
        })
    })
  }
  const work = async (): Promise<void> => {
    for (;;) {
      const some = observations.list({ index: 'leaving', group: 'leaving', limit: atOnce, skip })
      if (some.length === 0) return
      for (const record of some) {
        if (ended) return
        await finish(record)
      }
    }
  }
  return {
    poke() {
      if (ended || running !== undefined || observations.count('leaving', 'leaving') === 0) return
      running = work()
        .catch((error: unknown) => log.warn('files of purged observations stay for now', { error }))
        .finally(() => {
          running = undefined
        })
    },
    async end() {
      ended = true
      await running
    },
  }
}
