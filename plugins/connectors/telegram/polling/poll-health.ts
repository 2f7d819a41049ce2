/** What a poller tells of itself (telegram-23). */
import type { Clock, Log } from '../../../../core/plugin.js'
import { changeLine, type Changeable, type Connectors, type ConnectorTrouble } from '../../registry/contract.js'
import { isFlood, type BotAnswer } from '../bot/bot-api.js'
import type { TelegramConnector } from '../bot/settings.js'
import type { Refusals } from '../updates/refused.js'

/** Without a success for so long a connector hears nothing. */
const deafAfterMs = 60_000
const warnEveryMs = 30_000

export interface PollHealth {
  well(): void
  /** What the platform answered in place of updates. */
  unheard(answer: Exclude<BotAnswer, { readonly type: 'done' }>): void
  /** Something else went wrong; `what` is a sentence of ours. */
  failed(what: string, error?: unknown): void
  /** An update that cannot be read was passed over: anybody may send those, so they are told of together. */
  unreadable(): void
}

export interface PollHealthParts {
  readonly connectors: Pick<Connectors, 'well' | 'trouble'>
  readonly refusals: Pick<Refusals, 'unopened'>
  /** The connector as it is now; undefined if it is gone. */
  find(name: string): TelegramConnector | undefined
  readonly clock: Clock
  readonly log: Log
}

/** What to do about a token that is none. */
export const tokenLine = (connector: Changeable): string =>
  `Get the token from BotFather and give it to it: ${changeLine(connector, '--secret bot_token --stdin')}`

type Judged = Omit<ConnectorTrouble, 'state'> & { readonly isDeaf: boolean }

const otherPoller = (connector: Changeable): Judged => ({
  isDeaf: true,
  cause: 'Another program asks for the updates of this bot, or a webhook takes them (409 of the platform).',
  action:
    'Stop the other program, or give it a bot of its own; remove a webhook with deleteWebhook, or let the platform ' +
    `send updates here: ${changeLine(connector, '--set ingress_mode=webhook --secret secret_token --stdin')}`,
})
const tokenRefused = (connector: Changeable): Judged => ({
  isDeaf: true,
  cause: 'The platform refuses the bot_token: it was revoked, or is not that of a bot.',
  action: tokenLine(connector),
})
const unreachable = (code: string): Judged => ({
  isDeaf: false,
  cause: `The Bot API cannot be asked for updates (${code}).`,
  action: 'See whether the host of api_base_url can be reached from here; it is tried again every two seconds.',
})
const unreadable = (status: number): Judged => ({
  isDeaf: false,
  cause: `The Bot API does not answer as it should (status ${status}).`,
  action: 'See whether api_base_url is that of a Bot API; it is tried again every two seconds.',
})
const flooded: Judged = {
  isDeaf: false,
  cause: 'The platform wants fewer requests of this bot, and is asked again when it says.',
  action: 'See what else uses the bot; nothing is lost meanwhile.',
}

/** Whether what a platform answers is that somebody else takes the updates. */
export const isConflict = (answer: BotAnswer): boolean =>
  answer.type === 'refused' && (answer.status === 409 || answer.error_code === 409)
/** Whether the platform does not know the token. */
export const isTokenRefused = (answer: BotAnswer): boolean =>
  answer.type === 'refused' && [401, 403, 404].includes(answer.error_code ?? answer.status)

const judge = (connector: Changeable, answer: Exclude<BotAnswer, { readonly type: 'done' }>): Judged => {
  if (answer.type === 'failure') return unreachable(answer.code)
  if (isConflict(answer)) return otherPoller(connector)
  if (isTokenRefused(answer)) return tokenRefused(connector)
  return isFlood(answer) ? flooded : unreadable(answer.status)
}

export const createPollHealth = (parts: PollHealthParts, name: string): PollHealth => {
  const { connectors, clock, log, refusals } = parts
  const connector = (): Changeable => parts.find(name) ?? { kind: 'telegram', name, source: 'daemon' }
  let lastWell = clock.elapsed()
  let lastConflict = -Infinity
  let lastWarned = -Infinity
  let lastPassed = -Infinity
  let passed = 0
  const warn = (cause: string, error?: unknown): void => {
    if (clock.elapsed() - lastWarned < warnEveryMs) return
    lastWarned = clock.elapsed()
    log.warn('a telegram connector does not hear well', { connector: name, cause, error })
  }
  const tell = ({ isDeaf, cause, action }: Judged, error?: unknown): void => {
    const state = isDeaf || clock.elapsed() - lastWell >= deafAfterMs ? 'deaf' : 'degraded'
    connectors.trouble('telegram', name, { state, cause, action })
    warn(cause, error)
  }
  return {
    well() {
      // Two who poll take turns: one success among conflicts is no end of them.
      if (clock.elapsed() - lastConflict < deafAfterMs) return
      lastWell = clock.elapsed()
      connectors.well('telegram', name)
      const unopened = refusals.unopened(parts.find(name))
      if (unopened !== undefined) connectors.trouble('telegram', name, unopened)
    },
    unheard(answer) {
      if (isConflict(answer)) lastConflict = clock.elapsed()
      tell(judge(connector(), answer))
    },
    unreadable() {
      passed += 1
      if (clock.elapsed() - lastPassed < warnEveryMs) return
      log.warn('telegram updates cannot be read and are passed over', { connector: name, count: passed })
      lastPassed = clock.elapsed()
      passed = 0
    },
    failed: (cause, error) =>
      tell({ isDeaf: false, cause, action: 'It is tried again every two seconds; see the log for why.' }, error),
  }
}
