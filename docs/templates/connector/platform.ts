/** The way to the platform: what it signs, and where the outputs of runs go. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Point } from 'holdfast/plugin'
import type { ReplyPlugin } from 'holdfast/plugins/execution/deliveries'

export const ReplyPlugins: Point<ReplyPlugin> = { point: 'reply-plugins@1' }

export const sign = (key: string, bytes: Uint8Array | string): string =>
  createHmac('sha256', key).update(bytes).digest('hex')

export const isSame = (given: string, wanted: string): boolean =>
  given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted))

/** An address is the id of a chat. */
export const replies = (url: string, key: () => string): ReplyPlugin => ({
  plugin: 'my-plugin',
  address: () => undefined,
  refuse: (chat) => (chat.length <= 100 ? undefined : 'must be the id of a chat'),
  target: () => 'my-plugin',
  async deliver({ address: chat, delivery_id, content }, signal) {
    try {
      // The id is the same in every attempt, so that the platform can leave out what it has.
      const body = JSON.stringify({ id: delivery_id, chat, text: content })
      const { status } = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'x-signature': sign(key(), body) },
        signal,
      })
      if (status < 300) return { type: 'delivered' }
      return { type: status === 429 || status >= 500 ? 'retry' : 'terminal', code: `my_plugin_answered_${status}` }
    } catch {
      return { type: 'retry', code: 'my_plugin_unreachable', uncertain: true }
    }
  },
})
