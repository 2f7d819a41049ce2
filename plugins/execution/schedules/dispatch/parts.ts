import type { Clock, Ids, Log, Observers } from '../../../../core/plugin.js'
import type { Assets } from '../../../media/assets/contract.js'
import type { Runs } from '../../runs/contract.js'
import type { Sessions } from '../../sessions/contract.js'
import type { SchedulesConfig } from './config.js'
import type { SchedulePayload } from './payloads.js'
import type { ScheduleStore } from '../record/store.js'
import type { ScheduleObserver } from './observers.js'

/** What the files of this plugin work with. */
export interface ScheduleParts {
  readonly store: ScheduleStore
  readonly runs: Runs
  readonly sessions: Sessions
  /** Keeps the files of what runs are told; absent while no plugin does. */
  readonly assets: () => Assets | undefined
  readonly payloads: () => readonly SchedulePayload[]
  readonly observers: Pick<Observers<ScheduleObserver>, 'tell'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly config: SchedulesConfig
}
