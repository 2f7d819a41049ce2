/** One attempt of a delivery: its steps one after the other, behind those that are done (slack-21 to slack-30). */
import { Problem, type Outbound } from '../../../../core/plugin.js'
import type { DeliveryOutcome, Envelope } from '../../../execution/deliveries/contract.js'
import type { Assets } from '../../../media/assets/contract.js'
import type { Connector, ConnectorKind, Connectors, DeliveryProgress } from '../../registry/contract.js'
import { readRoute, type SlackRoute } from '../setup/reply-route.js'
import { isTargetDenied } from '../setup/allow-lists.js'
import type { SlackConfig } from '../setup/config.js'
import { apiOf, type SlackSettings } from '../setup/settings.js'
import { tokenOf } from '../setup/token.js'
import { showText, takeAway } from './post.js'
import { openProgress, type Progress } from './progress.js'
import { planSteps, type Step } from './steps.js'
import { showFile } from './upload.js'
import type { Api, Failed } from '../api/web-api.js'

export interface DeliverParts {
  readonly outbound: Pick<Outbound, 'request'>
  readonly config: SlackConfig
  readonly kind: ConnectorKind<SlackSettings>
  readonly connectors: Pick<Connectors, 'find'>
  readonly progress: DeliveryProgress
  readonly assets: () => Pick<Assets, 'read'> | undefined
  /** The message that shows what is delivered already. */
  readonly takeDraft: (envelope: Envelope) => Promise<string | undefined>
  /** Told how attempts of a connector that is there have ended. */
  readonly ended: (connector: string, outcome: DeliveryOutcome) => void
}

interface Opened {
  readonly route: SlackRoute
  readonly connector: Connector<SlackSettings>
  readonly token: string
}

/** Where it goes and with which token, as of now; or why it cannot. */
const open = ({ connectors, kind }: DeliverParts, address: string): Opened | Failed => {
  const route = readRoute(address)
  if (route === undefined) return { type: 'terminal', code: 'slack_address_invalid' }
  const connector = connectors.find(kind, route.connector)
  if (connector === undefined) return { type: 'retry', code: 'connector_missing' }
  if (isTargetDenied(connector.settings, route)) return { type: 'terminal', code: 'slack_target_not_allowed' }
  try {
    const token = tokenOf(connector, route.team_id)
    return token === undefined ? { type: 'retry', code: 'slack_token_missing' } : { route, connector, token }
  } catch (error) {
    if (error instanceof Problem) return { type: 'retry', code: error.code }
    throw error
  }
}

interface Attempt {
  readonly parts: DeliverParts
  readonly envelope: Envelope
  readonly opened: Opened
  readonly api: Api
  readonly progress: Progress
}

/** The bytes of a file; undefined if they are gone or damaged. */
const bytesOf = async ({ assets }: DeliverParts, asset_id: string): Promise<Uint8Array | undefined> => {
  try {
    return await assets()?.read(asset_id, 'raw')
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

const isDone = ({ progress }: Attempt, step: Step): boolean =>
  step.type === 'text' ? progress.message(step.key).ts !== undefined : progress.upload(step.key).completed

/** Takes away the draft of words that were posted: the attempt that posted them may not have come to it. */
const leave = async ({ api, opened, progress }: Attempt, { key }: Step): Promise<undefined> => {
  const { replaces } = progress.message(key)
  if (replaces !== undefined) await takeAway(api, opened.route, replaces)
}

const take = async (attempt: Attempt, step: Step, isFirst: boolean): Promise<Failed | undefined> => {
  const { parts, envelope, opened, api, progress } = attempt
  if (isDone(attempt, step)) return await leave(attempt, step)
  const { channel_id, thread_ts = progress.thread_ts || undefined } = opened.route
  const { key } = step
  const shared = { api, progress, key, shown: { channel_id, thread_ts } }
  if (step.type === 'file') return showFile({ ...shared, file: step.file, read: () => bytesOf(parts, step.file.id) })
  const draft = isFirst ? await parts.takeDraft(envelope) : undefined
  return showText({ ...shared, text: step.text, delivery_id: envelope.delivery_id, draft })
}

const takeAll = async (attempt: Attempt): Promise<DeliveryOutcome> => {
  const isThreaded = attempt.opened.route.thread_ts !== undefined
  for (const [at, step] of planSteps(attempt.envelope, { isThreaded }).entries()) {
    const failed = await take(attempt, step, at === 0)
    if (failed !== undefined) return failed
  }
  return { type: 'delivered' }
}

const attempt = async (
  parts: DeliverParts,
  opened: Opened,
  { envelope, signal }: { readonly envelope: Envelope; readonly signal: AbortSignal },
): Promise<DeliveryOutcome> => {
  const progress = openProgress(parts.progress, envelope.delivery_id)
  if (progress === undefined) return { type: 'terminal', code: 'slack_progress_invalid' }
  const { outbound, config } = parts
  const { token, connector } = opened
  const api: Api = { outbound, config, base: apiOf(connector.settings), token, signal }
  return takeAll({ parts, envelope, opened, api, progress })
}

export const deliver = async (
  parts: DeliverParts,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<DeliveryOutcome> => {
  const { address } = envelope
  const opened = open(parts, address)
  const outcome = 'type' in opened ? opened : await attempt(parts, opened, { envelope, signal })
  const route = readRoute(address)
  if (route !== undefined) parts.ended(route.connector, outcome)
  return outcome
}
