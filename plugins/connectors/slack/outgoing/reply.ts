/** Slack as a place that outputs go to (slack-20 to slack-31). */
import type { DeliveryOutcome, ReplyPlugin } from '../../../execution/deliveries/contract.js'
import type { LiveReplies } from '../../live/contract.js'
import type { Connectors } from '../../registry/contract.js'
import { messageNameIn } from '../api/message-name.js'
import { keptAddress, readRoute, requestedAddress, targetName } from '../setup/reply-route.js'
import { isTargetDenied } from '../setup/allow-lists.js'
import { troubleOf } from '../setup/troubles.js'
import { deliver, type DeliverParts } from './deliver.js'

export interface ReplyParts extends Omit<DeliverParts, 'takeDraft' | 'ended'> {
  readonly connectors: Pick<Connectors, 'find' | 'settingsOf' | 'well' | 'trouble'>
  readonly live: () => LiveReplies | undefined
}

const refuse = ({ connectors, kind }: ReplyParts, address: string): string | undefined => {
  const route = readRoute(address)
  if (route === undefined)
    return 'must be a JSON text with connector, channel_id, and perhaps enterprise_id, team_id and thread_ts'
  const settings = connectors.settingsOf(kind, route.connector)
  if (settings === undefined) return 'must name a Slack connector that is there'
  return isTargetDenied(settings, route) ? 'must be within the lists of ids that its connector allows' : undefined
}

/** What attempts say of a connector. */
const watcher =
  ({ connectors, kind }: ReplyParts) =>
  (name: string, outcome: DeliveryOutcome): void => {
    const trouble = troubleOf(outcome, connectors.find(kind, name) ?? { kind: 'slack', name, source: 'daemon' })
    if (trouble !== undefined) connectors.trouble('slack', name, trouble)
    else if (outcome.type === 'delivered') connectors.well('slack', name)
  }

export const createReply = (parts: ReplyParts): ReplyPlugin => {
  const deliverParts: DeliverParts = {
    ...parts,
    ended: watcher(parts),
    takeDraft: async ({ delivery_id, run_id, address }) => {
      const message_id = await parts.live()?.takeDraft({ plugin: 'slack', delivery_id, run_id, address })
      return message_id === undefined ? undefined : messageNameIn(message_id).ts
    },
  }
  return {
    plugin: 'slack',
    address: requestedAddress,
    refuse: (address) => refuse(parts, address),
    keep: keptAddress,
    target: targetName,
    deliver: (envelope, signal) => deliver(deliverParts, envelope, signal),
  }
}
