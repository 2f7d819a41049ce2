/** Which connectors poll: one poller for each, as it is set up now (telegram-24). */
import { Problem } from '../../../../core/plugin.js'
import type { ConnectorKind, Connectors } from '../../registry/contract.js'
import { botOf, type Bot } from '../bot/bot-api.js'
import type { TelegramConnector, TelegramSettings } from '../bot/settings.js'
import { poll, type PollParts } from './poll.js'
import { tokenLine } from './poll-health.js'

export interface PollerParts extends Omit<PollParts, 'find' | 'connectors'> {
  readonly connectors: Connectors
  readonly kind: ConnectorKind<TelegramSettings>
}

/** One that polls, or has ended and is waited for. */
interface Poller {
  /** What it polls with: another text makes another poller. */
  readonly how: string
  end(): Promise<void>
}

interface Wanted {
  readonly bot: Bot
  readonly timeoutSeconds: number
}

const howOf = ({ bot: { base, token }, timeoutSeconds }: Wanted): string =>
  JSON.stringify([base, token, timeoutSeconds])

/** Undefined for one that does not poll. */
const wantedOf = ({ connectors }: PollerParts, connector: TelegramConnector | undefined): Wanted | undefined => {
  if (connector?.settings.ingress_mode !== 'polling') return undefined
  const { name } = connector
  try {
    const bot = botOf(connector)
    if (bot !== undefined) return { bot, timeoutSeconds: connector.settings.polling_timeout_seconds }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
  connectors.trouble('telegram', name, {
    state: 'deaf',
    cause: 'The bot_token of the connector cannot be read, or cannot be the token of a bot.',
    action: tokenLine(connector),
  })
  return undefined
}

const begin = (parts: PollerParts, name: string, { bot, timeoutSeconds }: Wanted): Poller => {
  const stop = new AbortController()
  const find = (): TelegramConnector | undefined => parts.connectors.find(parts.kind, name)
  const ended = poll({ ...parts, find }, { name, bot, timeoutSeconds, signal: stop.signal })
  return {
    how: howOf({ bot, timeoutSeconds }),
    async end() {
      stop.abort()
      await ended
    },
  }
}

/** Begins what polls and follows the registry; what it returns ends all of it. */
export const startPollers = (parts: PollerParts): (() => Promise<void>) => {
  const { connectors, kind, cursors, log } = parts
  const pollers = new Map<string, Poller>()
  const turns = new Map<string, Promise<void>>()
  let isOver = false
  /** One poller of a name ends before the next begins: the platform takes one at a time. */
  const settle = async (name: string): Promise<void> => {
    const wanted = isOver ? undefined : wantedOf(parts, connectors.find(kind, name))
    const running = pollers.get(name)
    if (running !== undefined && (wanted === undefined || running.how !== howOf(wanted))) {
      await running.end()
      pollers.delete(name)
    }
    if (wanted !== undefined && !isOver && !pollers.has(name)) pollers.set(name, begin(parts, name, wanted))
  }
  const look = (name: string): void => {
    const before = turns.get(name) ?? Promise.resolve()
    const turn = before
      .then(() => settle(name))
      .catch((error: unknown) => log.error('a telegram connector could not begin to poll', { connector: name, error }))
      .finally(() => {
        if (turns.get(name) === turn) turns.delete(name)
      })
    turns.set(name, turn)
  }
  const forget = (): Promise<void> =>
    cursors
      .keepOnly(new Set(connectors.all(kind).map(({ name }) => name)))
      .catch((error: unknown) => log.warn('cursors of telegram connectors could not be forgotten', { error }))
  const quiet = connectors.onChange(({ kind: changed, name }) => {
    if (changed !== 'telegram') return
    look(name)
    if (connectors.find(kind, name) === undefined) void forget()
  })
  for (const { name } of connectors.all(kind)) look(name)
  void forget()
  return async () => {
    isOver = true
    quiet()
    await Promise.all([...pollers.values()].map(({ end }) => end()))
    await Promise.all(turns.values())
    await Promise.all([...pollers.values()].map(({ end }) => end()))
  }
}
