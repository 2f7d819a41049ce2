/** Reply targets that schedules keep for their runs. */
import { carryOverRecords, type TargetKeeper } from '../../deliveries/contract.js'
import { keptInput } from '../../runs/contract.js'
import { submissionIn, withSubmission, type ScheduleRecord, type ScheduleStore } from './store.js'

/** Schedules that may still fire. */
const lasting = ['active', 'paused'] as const

const targetsIn = ({ payload }: ScheduleRecord) => {
  const { reply_targets = [], reply_plugin: plugin, reply_address: address } = submissionIn(payload) ?? {}
  return plugin === undefined || address === undefined ? reply_targets : [...reply_targets, { plugin, address }]
}

/** Puts reply targets of older schedules as they may be stored, and says which of those that last have one. */
export const scheduleKeeper = ({ state, schedules }: ScheduleStore): TargetKeeper => ({
  id: 'schedules',
  carryOver: (keep, signal) =>
    carryOverRecords({ state, collection: schedules, index: 'all', signal }, (record) => {
      const { payload } = record
      const request = submissionIn(payload)
      if (request === undefined) return undefined
      const kept = keptInput(keep, request)
      return kept === request ? undefined : { ...record, payload: withSubmission(payload, kept) }
    }),
  naming: (fits) =>
    lasting
      .flatMap((status) => schedules.ids('status', status))
      .flatMap((id) => schedules.find(id) ?? [])
      .filter((record) => targetsIn(record).some(fits))
      .map(({ schedule_id }) => `the schedule ${schedule_id}`),
})
