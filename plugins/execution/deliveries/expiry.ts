/** Dead letters that nobody has seen to in their time are resolved, so that they fall with what has arrived. */
import type { Clock, Log } from '../../../core/plugin.js'
import type { DeliveriesConfig } from './config.js'
import { isUnresolved, markResolved } from './dead-letters.js'
import type { DeadDelivery, DeliveryStore } from './store.js'

export interface ExpiryParts {
  readonly store: DeliveryStore
  readonly config: Pick<DeliveriesConfig, 'dead_letter_max_age_ms'>
  readonly clock: Clock
  readonly log: Log
}

/** Resolved in one commit. */
const atOnce = 100
const lookMs = 60 * 60_000

const expiredOf = ({ deliveries }: DeliveryStore, before: number): DeadDelivery[] =>
  deliveries.ids('unresolved', 'unresolved').flatMap((id) => {
    const delivery = deliveries.find(id)
    return delivery?.status === 'dead_lettered' && delivery.dead_lettered_at_ms <= before ? [delivery] : []
  })

/** Resolves what is older than its time; returns how many. */
export const expireDeadLetters = async ({ store, config, clock, log }: ExpiryParts): Promise<number> => {
  const age = config.dead_letter_max_age_ms
  const expired = age === undefined ? [] : expiredOf(store, clock.now() - age)
  for (let at = 0; at < expired.length; at += atOnce)
    await store.state.commit((tx) => {
      for (const { delivery_id } of expired.slice(at, at + atOnce)) {
        const delivery = store.deliveries.find(delivery_id)
        if (isUnresolved(delivery)) markResolved(delivery, { tx, store, reason: 'expired' })
      }
    })
  if (expired.length > 0) log.info('dead letters that nobody has seen to were resolved', { count: expired.length })
  return expired.length
}

/** Looks now and then. Returns the end, which waits for a look under way. */
export const watchDeadLetters = (parts: ExpiryParts): (() => Promise<void>) => {
  const { clock, log, config } = parts
  let running: Promise<unknown> = Promise.resolve()
  let ended = config.dead_letter_max_age_ms === undefined
  let cancel = (): void => {}
  const look = (): void => {
    running = expireDeadLetters(parts)
      .catch((error: unknown) => log.warn('old dead letters could not be resolved', { error }))
      .then(() => {
        if (!ended) cancel = clock.after(lookMs, look)
      })
  }
  if (!ended) cancel = clock.after(0, look)
  return async () => {
    ended = true
    cancel()
    await running
  }
}
