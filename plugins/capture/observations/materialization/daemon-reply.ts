/** The reply plugin of outputs that stay: the session of their run has them, and they go nowhere else. */
import type { ReplyPlugin } from '../../../execution/deliveries/contract.js'

const most = 400

/** Its address is the id of a session. */
export const daemonReply: ReplyPlugin = {
  plugin: 'daemon',
  address: () => undefined,
  refuse: (address) =>
    address.trim() === '' || address.length > most ? `must be the id of a session, 1 to ${most} characters` : undefined,
  target: (address) => `daemon:${address}`,
  deliver: () => Promise.resolve({ type: 'delivered' }),
}
