/** What a reply plugin is made of, without a daemon: connectors of the test, and a Bot API of this machine. */
import type { ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createIds } from '../../../../core/base/ids.js'
import { createOutbound, parse, unsafeCast, type JsonObject } from '../../../../core/plugin.js'
import type { Connectors, DeliveryProgress } from '../../../../plugins/connectors/registry/contract.js'
import type { LiveReplies } from '../../../../plugins/connectors/live/contract.js'
import type { DeliverParts } from '../../../../plugins/connectors/telegram/output/deliver.js'
import { createGate } from '../../../../plugins/connectors/telegram/output/send.js'
import type { TelegramConnector } from '../../../../plugins/connectors/telegram/bot/settings.js'
import { telegramKind, telegramSettings } from '../../../../plugins/connectors/telegram/bot/settings.js'
import type { Assets } from '../../../../plugins/media/assets/contract.js'
import { startBotApi, type BotApi } from '../../../support/telegram/bot-api.js'

export const token = '4242:AAF-sesame_7731'
export const secret = 'Opensesame-7732'

export const connectorOf = (
  settings: JsonObject = {},
  secrets: Record<string, string> = { bot_token: token, secret_token: secret },
  name = 'bot',
): TelegramConnector => {
  const parsed = parse(telegramSettings, settings)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return {
    kind: 'telegram',
    name,
    source: 'daemon',
    settings: parsed.value,
    has: (secretName) => secrets[secretName] !== undefined,
    secret: (secretName) => secrets[secretName],
  }
}

export interface TestParts extends DeliverParts {
  readonly api: BotApi
  readonly connectors: Connectors
  /** What was kept, by delivery. */
  readonly kept: Map<string, JsonObject>
  readonly logged: unknown[]
  /** What was told of connectors. */
  readonly troubles: readonly (readonly [string, object])[]
}

export interface PartsWish {
  readonly connectors?: (base: string) => readonly TelegramConnector[]
  readonly files?: ReadonlyMap<string, Uint8Array>
  readonly draft?: () => string | undefined
}

export const startParts = async (t: ExecutionContext<any>, wish: PartsWish = {}): Promise<TestParts> => {
  const api = await startBotApi([token])
  t.teardown(api.close)
  const clock = createClock()
  const outbound = createOutbound({ clock })
  t.teardown(outbound.close)
  const all = wish.connectors?.(api.base) ?? [connectorOf({ api_base_url: api.base })]
  const kept = new Map<string, JsonObject>()
  const logged: unknown[] = []
  const troubles: (readonly [string, object])[] = []
  const note = (...said: unknown[]): void => void logged.push(said)
  const progress: DeliveryProgress = {
    read: (id) => kept.get(id),
    write: (id, done) => (kept.set(id, done), Promise.resolve()),
  }
  const read = (id: string): Promise<Uint8Array | undefined> => Promise.resolve(wish.files?.get(id))
  return {
    api,
    kept,
    logged,
    troubles,
    outbound,
    config: { allow_cidrs: ['127.0.0.1/32'], timeout_ms: 5000 },
    now: clock.now,
    connectors: unsafeCast<Connectors>({
      find: (_: unknown, name: string) => all.find((one) => one.name === name),
      settingsOf: (_: unknown, name: string) => all.find((one) => one.name === name)?.settings,
      has: (_: unknown, name: string) => all.some((one) => one.name === name),
      all: () => all,
      onChange: () => () => {},
      heard: () => {},
      well: () => {},
      trouble: (_: unknown, name: string, trouble: object) => void troubles.push([name, trouble]),
    }),
    kind: telegramKind({ allow_cidrs: ['127.0.0.1/32'] }),
    progress,
    live: () => unsafeCast<LiveReplies>({ takeDraft: () => Promise.resolve(wish.draft?.()) }),
    assets: () => unsafeCast<Assets>({ read }),
    ids: createIds(clock),
    gate: createGate(),
    log: unsafeCast({ debug: note, info: note, warn: note, error: note }),
  }
}
