/** What operators are told of updates of which no run comes: nobody reads what the platform is told (telegram-22). */
import { Problem, type Clock, type HealthCheck, type Log } from '../../../../core/plugin.js'
import {
  changeLine,
  openingLine,
  type ConnectorKind,
  type Connectors,
  type ConnectorTrouble,
} from '../../registry/contract.js'
import type { TelegramConnector, TelegramSettings } from '../bot/settings.js'
import type { Taken } from './take-in.js'
import type { TelegramUpdate } from './update.js'

const tellEveryMs = 30_000

export interface Refusals {
  /** The secret of a webhook was another one. */
  strange(connector: TelegramConnector): void
  /** The secret of a webhook was right. */
  proven(name: string): void
  /** An update that no repetition would mend. */
  passedOver(connector: TelegramConnector, update: TelegramUpdate, error: unknown): void
  /** One was taken in: its session was there; or it carried nothing for a run. */
  taken(connector: TelegramConnector, update: TelegramUpdate, taken: Taken): void
  /** What is wrong while updates find no session and the connector opens none. */
  unopened(connector: TelegramConnector | undefined): ConnectorTrouble | undefined
  readonly health: HealthCheck
}

export interface RefusalsParts {
  readonly connectors: Pick<Connectors, 'find' | 'trouble' | 'well'>
  readonly kind: ConnectorKind<TelegramSettings>
  readonly clock: Pick<Clock, 'elapsed'>
  readonly log: Log
}

/** When a line told of a reason last, and how often it came since. */
interface Told {
  readonly at: number
  readonly count: number
}
interface Passed {
  readonly connector: string
  readonly reason: string
  readonly chat_id: number | undefined
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Problem)) return 'failed'
  const reason = error.occurrence.members?.['reason']
  return typeof reason === 'string' ? reason : error.code
}

const chatOf = ({ message, edited_message: edited, callback_query: pressed }: TelegramUpdate): number | undefined =>
  (message ?? edited ?? pressed?.message)?.chat.id

export const createRefusals = ({ connectors, kind, clock, log }: RefusalsParts): Refusals => {
  const [strangers, sessionless, told] = [new Set<string>(), new Set<string>(), new Map<string, Told>()]
  /** Who writes to a bot is anybody: not each of their messages is a line of the log. */
  const tell = (level: 'info' | 'warn', fact: string, { connector, reason, chat_id }: Passed): void => {
    const [of, now] = [`${connector}/${reason}`, clock.elapsed()]
    const { at, count } = told.get(of) ?? { at: -Infinity, count: 0 }
    const isDue = now - at >= tellEveryMs
    told.set(of, isDue ? { at: now, count: 0 } : { at, count: count + 1 })
    if (isDue) log[level](fact, { connector, reason, chat_id, count: count + 1 })
  }
  const unopened: Refusals['unopened'] = (connector) => {
    if (connector === undefined || !sessionless.has(connector.name)) return undefined
    if (connector.settings.session_policy?.create_if_missing === true) return undefined
    return {
      state: 'degraded',
      cause: 'Messages are not taken: their session is not there, and the connector opens none.',
      action: openingLine(connector),
    }
  }
  return {
    unopened,
    strange: ({ name }) => void strangers.add(name),
    proven: (name) => void strangers.delete(name),
    taken({ name, settings: { ingress_mode: mode } }, update, taken) {
      if (taken.type === 'skipped') {
        const passed = { connector: name, reason: taken.reason, chat_id: chatOf(update) }
        if (taken.reason === 'unsupported_update') tell('info', 'a telegram update carries nothing for a run', passed)
        return
      }
      // One that polls says at each poll how it is.
      if (sessionless.delete(name) && mode === 'webhook') connectors.well('telegram', name)
    },
    passedOver(connector, update, error) {
      const { name } = connector
      const reason = reasonOf(error)
      const passed = { connector: name, reason, chat_id: chatOf(update) }
      tell('warn', 'a telegram update is refused and passed over', passed)
      if (reason !== 'session_missing') return
      sessionless.add(name)
      const trouble = unopened(connector)
      if (trouble !== undefined) connectors.trouble('telegram', name, trouble)
    },
    health: {
      id: 'telegram.secrets',
      check: () =>
        [...strangers].flatMap((name) => {
          const connector = connectors.find(kind, name)
          if (connector === undefined) return []
          return {
            severity: 'warning' as const,
            code: 'telegram_secret_refused',
            message: `Updates for the telegram connector ${name} come with another secret_token, and none has since.`,
            related_id: name,
            action:
              'If the bot hears nothing, give setWebhook and the connector the same secret_token: ' +
              changeLine(connector, '--secret secret_token --stdin'),
          }
        }),
    },
  }
}
