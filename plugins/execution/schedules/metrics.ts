/** What `GET /metrics` says about schedules. */
import type { Metric } from '../../../core/plugin.js'
import { scheduleStatuses } from './contract.js'
import type { ScheduleParts } from './dispatch/parts.js'

export const scheduleMetrics = ({ store: { schedules } }: ScheduleParts): readonly Metric[] => [
  {
    name: 'service_schedules',
    help: 'Schedules that are kept, by status.',
    type: 'gauge',
    collect: () => scheduleStatuses.map((status) => ({ labels: { status }, value: schedules.count('status', status) })),
  },
  {
    name: 'service_schedule_fires_open',
    help: 'Fires whose runs have not ended.',
    type: 'gauge',
    collect: () => [{ value: schedules.count('open', 'open') }],
  },
  {
    name: 'service_schedules_failing',
    help: 'Schedules whose last runs failed.',
    type: 'gauge',
    collect: () => [{ value: schedules.count('failing', 'failing') }],
  },
]
