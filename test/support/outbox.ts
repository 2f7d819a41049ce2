/** A plugin that lends the outbox to a test. */
import { fault } from '../../core/base/assert.js'
import type { State } from '../../core/plugin.js'
import { Outbox, ReplyPlugins, type OutboxItem, type ReplyPlugin } from '../../plugins/execution/deliveries/contract.js'
import { testPlugin } from './plugins.js'

interface Lent {
  readonly outbox: Outbox
  readonly state: State
  readonly replies: () => readonly ReplyPlugin[]
}

/** `replies` are reply plugins of the test itself. */
export const lendOutbox = (...replies: readonly ReplyPlugin[]) => {
  let lent: Lent | undefined
  const plugin = testPlugin('lender', {
    needs: { outbox: Outbox },
    register(ctx, { outbox }) {
      ctx.contribute(ReplyPlugins, ...replies)
      lent = { outbox, state: ctx.state, replies: ctx.view(ReplyPlugins) }
    },
  })
  const get = (): Lent => {
    if (lent === undefined) throw fault('the lender was not loaded')
    return lent
  }
  let output = 0
  /** Enqueues an output of a session, which must exist. */
  const enqueue = (addresses: readonly string[], more: Partial<OutboxItem> = {}): Promise<void> => {
    output += 1
    const item: OutboxItem = {
      session_id: 's1',
      agent_id: 'agent_1',
      output,
      content: `output ${output}`,
      targets: addresses.map((address) => ({ plugin: 'http', address })),
      ...more,
    }
    return get().state.commit((tx) => get().outbox.enqueue(tx, item))
  }
  return { plugin, get, enqueue }
}
