/** Says something to one person of a channel, whom nobody waits for (slack-35). */
import type { Log } from '../../../../core/plugin.js'
import type { Asides } from '../../ingress/contract.js'
import type { Connector } from '../../registry/contract.js'
import { escapeText } from '../api/mrkdwn.js'
import { callSlack, type Api } from '../api/web-api.js'
import { apiOf, type SlackSettings } from '../setup/settings.js'
import { tokenOf } from '../setup/token.js'
import type { InteractionParts, Whisper } from './interactions.js'

export interface WhisperParts extends Pick<Api, 'outbound' | 'config' | 'signal'> {
  readonly log: Log
  readonly asides: Asides
}

/** Never rejects: nobody waits for it. */
const say = async (
  { log, ...api }: WhisperParts,
  connector: Connector<SlackSettings>,
  { team_id, channel_id: channel, thread_ts, user, text }: Whisper,
): Promise<void> => {
  try {
    const token = tokenOf(connector, team_id)
    if (token === undefined) return
    const args = { channel, user, text: escapeText(text), ...(thread_ts !== undefined && { thread_ts }) }
    const called = await callSlack(
      { ...api, base: apiOf(connector.settings), token },
      { method: 'chat.postEphemeral', args },
    )
    if (called.type !== 'ok') log.warn('a slack call was refused', { connector: connector.name, code: called.code })
  } catch (error) {
    log.warn('a slack call could not be made', { connector: connector.name, error })
  }
}

export const createWhisper =
  (parts: WhisperParts): InteractionParts['whisper'] =>
  (connector, whisper) =>
    parts.asides.say(connector.name, () => say(parts, connector, whisper))
