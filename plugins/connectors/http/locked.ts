/** Deliveries whose headers are sealed and do not open: they are not made without them (deliveries-33). */
import { commandLine, type HealthCheck } from '../../../core/plugin.js'
import type { Envelope } from '../../execution/deliveries/contract.js'
import { urlOf, type ReplyRoutes } from './reply-route.js'

export const lockedCode = 'reply_headers_locked'

/** Remembers the latest one, until it opens or headers for its URL do. */
export const createLocked = ({ find }: Pick<ReplyRoutes, 'find'>) => {
  let latest: Envelope | undefined
  const health: HealthCheck = {
    id: 'reply-headers',
    check: () =>
      latest === undefined || find(latest.address) !== 'locked'
        ? []
        : [
            {
              severity: 'error',
              code: lockedCode,
              message: 'Headers of a reply target cannot be decrypted, and nothing is delivered without them.',
              related_id: latest.delivery_id,
              action:
                'Where the warning secrets_key_missing stands, put that key back, and send each dead letter again: ' +
                `${commandLine('deliveries replay', latest.delivery_id)}. Else give the target again, with its ` +
                'headers in clear: what comes arrives, and ends this warning; what is a dead letter stays one, ' +
                `stands in its session (${commandLine('sessions events', latest.session_id)}), and is then ` +
                `resolved: ${commandLine('deliveries resolve', latest.delivery_id)}`,
            },
          ],
  }
  return {
    note: (envelope: Envelope): void => void (latest = envelope),
    opened({ address }: Envelope): void {
      if (latest !== undefined && urlOf(address) === urlOf(latest.address)) latest = undefined
    },
    health,
  }
}
