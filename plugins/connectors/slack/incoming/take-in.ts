/** What becomes of a request of Slack that is let in (slack-7 to slack-19). */
import { Problem, type JsonObject } from '../../../../core/plugin.js'
import { ingressErrors, outsiderView } from '../../ingress/contract.js'
import type { Connector, ConnectorTrouble, Connectors, Ingress } from '../../registry/contract.js'
import type { Interactions } from '../live/interactions.js'
import { checkOrigin, type Denied } from '../setup/denied.js'
import { appRateLimited, appRemoved, sessionMissing } from '../setup/troubles.js'
import type { SlackSettings } from '../setup/settings.js'
import { hasToken } from '../setup/token.js'
import { readEnvelope, type Envelope, type Ignored } from './envelope.js'
import { eventOf, type ReadMessage } from './event.js'
import { readFiles } from './file-rules.js'
import { readPayload } from './payload.js'

export interface TakeInParts {
  readonly ingress: Ingress
  readonly connectors: Pick<Connectors, 'trouble'>
  readonly interactions: Interactions
  readonly denied: Denied
}

/** A request that was let in. */
export interface Admission {
  readonly connector: Connector<SlackSettings>
  /** Slack signed it. */
  readonly isAuthenticated: boolean
}

export type Answer =
  | Ignored
  | { readonly challenge: string }
  | { readonly accepted: true; readonly session_id: string }
  | ReturnType<typeof outsiderView>

const ignored = (reason: string): Ignored => ({ ignored: true, reason })
const invalid = (what: string): Problem =>
  ingressErrors.bad_request({ details: { what }, members: { reason: 'invalid' } })

/** The message and its files. Throws for what can be no run. */
const readMessage = (
  { connector, isAuthenticated }: Admission,
  payload: JsonObject,
  { origin, message }: Extract<Envelope, { type: 'message' }>,
): ReadMessage => {
  const { settings } = connector
  const { team_id } = origin
  const grounds = { settings, isAuthenticated, hasToken: hasToken(connector, team_id), team_id }
  const read = readFiles(message.files, grounds)
  if (read.type === 'invalid') throw invalid(read.what)
  if (read.files.length === 0 && message.text.trim() === '') throw invalid('its message has neither text nor files')
  return { payload, origin, message, files: read.files }
}

const isSessionMissing = (error: unknown): boolean =>
  error instanceof Problem &&
  error.code === ingressErrors.conflict.code &&
  error.occurrence.members?.['reason'] === 'session_missing'

const receive = async (
  { ingress, connectors }: TakeInParts,
  connector: Connector<SlackSettings>,
  read: ReadMessage,
): Promise<Answer> => {
  try {
    const received = await ingress.receive(connector, eventOf(connector, read))
    return received.type === 'pending'
      ? { accepted: true, session_id: received.session_id }
      : outsiderView(received.run)
  } catch (error) {
    if (!isSessionMissing(error)) throw error
    // Slack would send it for hours, and stop to send anything at all.
    connectors.trouble('slack', connector.name, sessionMissing(connector))
    return ignored('session_missing')
  }
}

const troubleOf = (
  { says }: Extract<Envelope, { type: 'ignored' }>,
  connector: Connector<SlackSettings>,
): ConnectorTrouble | undefined =>
  says === 'limited' ? appRateLimited : says === 'removed' ? appRemoved(connector) : undefined

const takeEvent = async (parts: TakeInParts, admission: Admission, payload: JsonObject): Promise<Answer> => {
  const { connector, isAuthenticated } = admission
  const envelope = readEnvelope(payload)
  if (envelope.type === 'challenge') return { challenge: envelope.challenge }
  if (envelope.type === 'invalid') throw invalid(envelope.what)
  checkOrigin(parts.denied, connector, { origin: envelope.origin, needsChannel: envelope.type === 'message' })
  if (envelope.type === 'ignored') {
    const trouble = isAuthenticated ? troubleOf(envelope, connector) : undefined
    if (trouble !== undefined) parts.connectors.trouble('slack', connector.name, trouble)
    return envelope.answer
  }
  const read = readMessage(admission, payload, envelope)
  if (isAuthenticated && (await parts.interactions.reply(connector, read))) return ignored('live_reply')
  return receive(parts, connector, read)
}

export const takeIn = async (parts: TakeInParts, admission: Admission, body: Uint8Array): Promise<Answer> => {
  const read = readPayload(body)
  if (read.type === 'unreadable') throw invalid(read.what)
  if (read.type === 'event') return takeEvent(parts, admission, read.payload)
  return ignored(await parts.interactions.press(admission, read.payload))
}
