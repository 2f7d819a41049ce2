import type { DeliveryView } from './contract.js'
import type { DeliveryRecord } from './store.js'

/** What may be shown of a delivery: digests, codes, counts and times. */
export const viewDelivery = (delivery: DeliveryRecord): DeliveryView => ({
  delivery_id: delivery.delivery_id,
  status: delivery.status,
  session_id: delivery.session_id,
  ...(delivery.thread_id !== null && { thread_id: delivery.thread_id }),
  ...(delivery.run_id !== undefined && { run_id: delivery.run_id }),
  plugin: delivery.plugin,
  target: delivery.target,
  attempts: delivery.attempts,
  ...timesOf(delivery),
  ...(delivery.last_error !== undefined && { last_error: delivery.last_error }),
  ...(delivery.replayed_from_delivery_id !== undefined && {
    replayed_from_delivery_id: delivery.replayed_from_delivery_id,
  }),
  content_size_bytes: delivery.content_size_bytes,
  parts_count: delivery.parts_count,
  artifacts_count: delivery.artifacts_count ?? 0,
})

const timesOf = (delivery: DeliveryRecord): Partial<DeliveryView> => {
  if (delivery.status === 'delivered') return { delivered_at_ms: delivery.delivered_at_ms }
  if (delivery.status !== 'dead_lettered') return { next_attempt_at_ms: delivery.next_attempt_at_ms }
  const { dead_lettered_at_ms, terminal_error, dead_letter_resolved_at_ms, dead_letter_resolution_reason } = delivery
  return {
    dead_lettered_at_ms,
    terminal_error,
    ...(dead_letter_resolved_at_ms !== undefined && { dead_letter_resolved_at_ms }),
    ...(dead_letter_resolution_reason !== undefined && { dead_letter_resolution_reason }),
  }
}
