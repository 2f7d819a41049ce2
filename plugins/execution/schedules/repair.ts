/** What roots of earlier versions say otherwise of schedules that are over. */
import type { RepairStep, State, Tx } from '../../../core/plugin.js'
import { isOver, type ScheduleFile, type ScheduleStore } from './record/store.js'

/** Schedules or files that one commit carries over. */
const batch = 64

const inBatches = async <T>(state: State, found: readonly T[], fix: (tx: Tx, one: T) => void): Promise<void> => {
  for (let at = 0; at < found.length; at += batch)
    await state.commit((tx) => {
      for (const one of found.slice(at, at + batch)) fix(tx, one)
    })
}

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

/** They kept the history of a schedule that is over apart, where it would outlive its schedule. */
export const historyRepair = (store: ScheduleStore): RepairStep<string> => ({
  id: 'schedules.histories',
  check: () => store.histories.ids('all', 'all').filter((schedule_id) => isLeft(store, schedule_id)),
  fix: (found) => inBatches(store.state, found, (tx, schedule_id) => join(store, tx, schedule_id)),
})

/** They did not say of a file that its schedule is over, and it would be kept for it. */
export const fileRepair = ({ state, files, schedules }: ScheduleStore): RepairStep<ScheduleFile> => {
  const isLate = ({ schedule_id }: ScheduleFile): boolean => {
    const stored = schedules.find(schedule_id)
    return stored !== undefined && isOver(stored)
  }
  return {
    id: 'schedules.files',
    check: () =>
      files
        .ids('open', 'open')
        .flatMap((id) => files.find(id) ?? [])
        .filter(isLate),
    fix: (found) => inBatches(state, found, (tx, file) => tx.put(files, { ...file, over: true })),
    isExpected: () => true,
  }
}
