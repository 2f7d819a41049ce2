/** What `GET /metrics` says about deliveries. */
import type { Metric } from '../../../core/plugin.js'
import { deliveryStatuses } from './contract.js'
import type { DeliveryStore } from './store.js'

export const deliveryMetrics = ({ deliveries }: DeliveryStore): readonly Metric[] => [
  {
    name: 'service_deliveries',
    help: 'Deliveries that are kept, by status.',
    type: 'gauge',
    collect: () =>
      deliveryStatuses.map((status) => ({ labels: { status }, value: deliveries.count('status', status) })),
  },
  {
    name: 'service_deliveries_unresolved',
    help: 'Dead letters that nobody has resolved.',
    type: 'gauge',
    collect: () => [{ value: deliveries.count('unresolved', 'unresolved') }],
  },
]
