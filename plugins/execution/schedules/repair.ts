/** Roots of earlier versions keep the history of a schedule that is over apart, where it would outlive its schedule. */
import type { RepairStep, Tx } from '../../../core/plugin.js'
import { isOver, type ScheduleStore } from './record/store.js'

/** Schedules that one commit carries over. */
const batch = 64

/** False where it is the history of a schedule that goes on. */
const isLeft = ({ schedules }: ScheduleStore, schedule_id: string): boolean => {
  const stored = schedules.find(schedule_id)
  return stored === undefined || isOver(stored)
}

/** The schedule with its history in it; the history alone goes where its schedule fell. */
const join = (store: ScheduleStore, tx: Tx, schedule_id: string): void => {
  const whole = store.find(schedule_id)
  if (whole === undefined) tx.remove(store.histories, schedule_id, 'its schedule is gone')
  else if (isOver(whole)) store.put(tx, whole)
}

export const scheduleRepair = (store: ScheduleStore): RepairStep<string> => ({
  id: 'schedules.histories',
  check: () => store.histories.ids('all', 'all').filter((schedule_id) => isLeft(store, schedule_id)),
  fix: async (found) => {
    for (let at = 0; at < found.length; at += batch)
      await store.state.commit((tx) => {
        for (const schedule_id of found.slice(at, at + batch)) join(store, tx, schedule_id)
      })
  },
})
