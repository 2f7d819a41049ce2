/** Files that schedules name: as long as one can fire, none of them can be deleted. */
import type { Tx } from '../../../../core/plugin.js'
import { namingIn, type AssetHolder, type Assets } from '../../../media/assets/contract.js'
import { filesOf, namingGroup, type ScheduleRecord, type ScheduleStore } from './store.js'

/** Throws `asset_not_found` where one of them was deleted in the meantime. */
export const nameFiles = (
  tx: Tx,
  { store, assets }: { readonly store: ScheduleStore; readonly assets: () => Assets | undefined },
  record: ScheduleRecord,
): void => {
  for (const asset_id of filesOf(record)) {
    assets()?.get(asset_id)
    tx.insert(store.files, { schedule_id: record.schedule_id, asset_id })
  }
}

export const scheduleHolder = ({ files, schedules }: ScheduleStore): AssetHolder => ({
  domain: 'schedules',
  namings: [
    namingIn({
      collection: files,
      index: 'asset',
      group: namingGroup,
      owners: schedules,
      reference: ({ schedule_id: owner_id }) => {
        const record = schedules.find(owner_id)
        return {
          owner_id,
          role: 'input_attachment',
          ...(record && { parent_id: record.target_session_id, detail_id: record.status }),
        }
      },
    }),
  ],
})
