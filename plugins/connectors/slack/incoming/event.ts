/** A message of Slack as an event of its connector (slack-13 to slack-16). */
import { digest, type JsonObject } from '../../../../core/plugin.js'
import type { Connector, IngressEvent } from '../../registry/contract.js'
import { unescapeText } from '../api/mrkdwn.js'
import { addressOf } from '../setup/reply-route.js'
import type { Origin } from '../setup/allow-lists.js'
import type { SlackSettings } from '../setup/settings.js'
import type { SlackMessage } from './envelope.js'
import type { WantedFile } from './file-rules.js'
import { eventKey, rateScope, threadKey } from './keys.js'

/** Longest id of an actor. */
const mostActor = 200

export interface ReadMessage {
  readonly payload: JsonObject
  readonly origin: Origin
  readonly message: SlackMessage
  readonly files: readonly WantedFile[]
}

/** The event as Slack sent it, without the token with which Slack once showed who it is: that is a secret. */
const keptPayload = ({ token: _token, ...payload }: JsonObject): JsonObject => payload

export const eventOf = (
  { name, settings }: Connector<SlackSettings>,
  { payload, origin, message, files }: ReadMessage,
): IngressEvent => {
  const metadata = keptPayload(payload)
  const fingerprint = digest(metadata)
  const thread = threadKey(name, origin, message)
  const { enterprise_id, team_id } = origin
  const self = { connector: name, enterprise_id, team_id, channel_id: message.channel_id, thread_ts: message.root_ts }
  return {
    key: eventKey(name, origin, message),
    fingerprint,
    binding_keys: [thread, ...settings.additional_binding_keys],
    natural_session_id: thread,
    patient: true,
    rate_scope: rateScope(origin, message),
    content: unescapeText(message.text),
    ...(files.length > 0 && { files }),
    source_kind: 'message',
    actor_id: message.user?.slice(0, mostActor) ?? 'slack-user',
    metadata,
    facts: { slack_ingress_fingerprint: fingerprint },
    reply_targets: [
      ...(settings.include_self_output ? [{ plugin: 'slack', address: addressOf(self) }] : []),
      ...settings.additional_reply_targets,
    ],
  }
}
