/** A daemon with a telegram connector, and the Bot API that it speaks to. */
import type { ExecutionContext } from 'ava'
import { startBotApi, type BotApi } from '../../../support/telegram/bot-api.js'
import { startTestDaemon, type TestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'

export const token = '4242:AAF-sesame_7731'
export const secret = 'Opensesame-7732'

export interface BotDaemon extends TestDaemon {
  readonly api: BotApi
  /** Sets a connector up and gives the answer. */
  put(name: string, body?: object): ReturnType<TestDaemon['request']>
  /** Sends an update to the webhook of `bot`. */
  hook(update: object, how?: { readonly name?: string; readonly headers?: Record<string, string> }): Sent
}
type Sent = ReturnType<TestDaemon['request']>

export const path = (name: string): string => `/v1/connectors/telegram/${name}`
export const settingsPath = (name: string): string => `/v1/runtime/connectors/telegram/${name}`

export const opened = { session_policy: { create_if_missing: true } }

export const startBot = async (t: ExecutionContext<any>, options: TestDaemonOptions = {}): Promise<BotDaemon> => {
  const api = await startBotApi([token])
  t.teardown(api.close)
  const daemon = await startTestDaemon(t, {
    ...options,
    config: { telegram: { allow_cidrs: ['127.0.0.1/32'] }, ...options.config },
  })
  const usual = { bot_token: { value: token }, secret_token: { value: secret }, api_base_url: api.base, ...opened }
  return {
    ...daemon,
    api,
    put: (name, body = {}) => daemon.request('PUT', settingsPath(name), { ...usual, ...body }),
    hook: (update, { name = 'bot', headers = { 'x-telegram-bot-api-secret-token': secret } } = {}) =>
      daemon.request('POST', path(name), update, headers),
  }
}

let number = 0
/** A message of Ada to the bot. */
export const message = (text: string, more: object = {}): Record<string, unknown> => {
  number += 1
  return {
    update_id: 5000 + number,
    message: {
      message_id: number,
      date: 1_710_000_000,
      chat: { id: 1111, type: 'private', first_name: 'Ada' },
      from: { id: 77, is_bot: false, first_name: 'Ada' },
      text,
      ...more,
    },
  }
}
