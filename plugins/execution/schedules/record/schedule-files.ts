/** Files that schedules name: as long as one can fire, none of them can be deleted. */
import type { Tx } from '../../../../core/plugin.js'
import type { AssetHolder, Assets } from '../../../media/assets/contract.js'
import { isOver, type Payload, type ScheduleRecord, type ScheduleStore } from './store.js'

const filesOf = (payload: Payload): Set<string> =>
  new Set(
    payload.kind === 'request'
      ? (payload.request.input_items ?? []).flatMap((item) => (item.type === 'asset_reference' ? [item.asset_id] : []))
      : [],
  )

/** Throws `asset_not_found` where one of them was deleted in the meantime. */
export const nameFiles = (
  tx: Tx,
  { store, assets }: { readonly store: ScheduleStore; readonly assets: () => Assets | undefined },
  { schedule_id, payload }: ScheduleRecord,
): void => {
  for (const asset_id of filesOf(payload)) {
    assets()?.get(asset_id)
    tx.insert(store.files, { schedule_id, asset_id })
  }
}

export const scheduleHolder = ({ files, schedules }: ScheduleStore): AssetHolder => ({
  domain: 'schedules',
  of: (asset_id) =>
    files.ids('asset', asset_id).flatMap((id) => {
      const record = schedules.find(files.find(id)?.schedule_id ?? '')
      if (record === undefined) return []
      const { schedule_id: owner_id, target_session_id: parent_id, status } = record
      return [{ owner_id, role: 'input_attachment', hard: !isOver(record), parent_id, detail_id: status }]
    }),
})
