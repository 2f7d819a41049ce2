/** A chat platform that counts what is done to it, and a kind of live replies that speaks to it. */
import { fault } from '../../core/base/assert.js'
import { unsafeCast } from '../../core/base/schema.js'
import type { AnyPlugin, ShippedPlugin } from '../../core/plugin.js'
import { shippedPlugins } from '../../core/shipped.js'
import { createLeapingClock } from '../../core/testing/leaping-clock.js'
import {
  LiveKinds,
  LiveReplies,
  type LiveChat,
  type LiveKind,
  type LiveMessage,
  type LiveOutcome,
} from '../../plugins/connectors/live/contract.js'
import { Connectors, type ConnectorTrouble } from '../../plugins/connectors/registry/contract.js'
import { ReplyPlugins } from '../../plugins/execution/deliveries/contract.js'
import { createPause } from './pause.js'
import { testPlugin } from './plugins.js'

export interface ChatCall {
  readonly what: 'typing' | 'still' | 'post' | 'edit' | 'answer'
  readonly address: string
  readonly id?: string
  readonly message?: LiveMessage
}

type Settings = { -readonly [K in keyof LiveChat]: LiveChat[K] }

export interface Chat {
  readonly calls: ChatCall[]
  /** Every message as it stands at the platform. */
  readonly messages: Map<string, { text: string; buttons: readonly { label: string; token: string }[] }>
  readonly troubles: string[]
  readonly settings: Settings
  /** True: every address is gone. */
  isGone: boolean
  /** What the platform answers in place of doing it. */
  fault: ((what: ChatCall['what']) => LiveOutcome | undefined) | undefined
  /** Awaited by each call before it is done. */
  before: (what: ChatCall['what'], signal: AbortSignal) => Promise<void>
  /** True: deliveries fail. */
  isDeaf: boolean
  readonly plugin: AnyPlugin
  live(): LiveReplies
  count(what: ChatCall['what']): number
  /** The token of the button with this label on a message. */
  token(label: string, id?: string): string
}

export const createChat = (settings: Partial<Settings> = {}): Chat => {
  let lent: LiveReplies | undefined
  let made = 0
  const chat: Chat = {
    calls: [],
    messages: new Map(),
    troubles: [],
    settings: {
      connector: 'main',
      stream_replies: false,
      approver_ids: [],
      most_text: 4096,
      // Long, since timers of a clock that leaps come by themselves as well.
      edit_ms: 100_000,
      typing_ms: 400_000,
      ...settings,
    },
    isGone: false,
    fault: undefined,
    before: () => Promise.resolve(),
    isDeaf: false,
    live: () => lent ?? fail('the chat was not loaded'),
    count: (what) => chat.calls.filter((call) => call.what === what).length,
    token(label, id = [...chat.messages.keys()].at(-1) ?? '') {
      const found = chat.messages.get(id)?.buttons.find((button) => button.label === label)
      return found?.token ?? fail(`there is no button ${label}`)
    },
    plugin: testPlugin('chat', {
      needs: { live: LiveReplies },
      register(ctx, { live }) {
        lent = live
        ctx.contribute(
          LiveKinds,
          kindOf(chat, () => `m${(made += 1)}`),
        )
        ctx.contribute(ReplyPlugins, {
          plugin: 'telegram',
          address: () => undefined,
          refuse: () => undefined,
          target: () => 'chat',
          async deliver({ delivery_id, run_id, address, content }) {
            if (chat.isDeaf) return { type: 'retry', code: 'deaf' }
            const id = await live.takeDraft({ plugin: 'telegram', delivery_id, run_id, address })
            const at = id ?? `a${(made += 1)}`
            chat.messages.set(at, { text: content, buttons: [] })
            chat.calls.push({ what: 'answer', address, id: at })
            return { type: 'delivered' }
          },
        })
      },
    }),
  }
  return chat
}

const fail = (what: string): never => {
  throw fault(what)
}

const kindOf = (chat: Chat, nextId: () => string): LiveKind => {
  const call = async (one: ChatCall, signal: AbortSignal): Promise<LiveOutcome> => {
    chat.calls.push(one)
    await chat.before(one.what, signal)
    const wrong = chat.fault?.(one.what)
    if (wrong !== undefined) return wrong
    if (one.id !== undefined && one.message !== undefined) chat.messages.set(one.id, one.message)
    return { type: 'done' }
  }
  return {
    plugin: 'telegram',
    isUsed: () => true,
    chat: () => (chat.isGone ? undefined : chat.settings),
    typing: (address, signal) => call({ what: 'typing', address }, signal),
    still: (address, signal) => call({ what: 'still', address }, signal),
    async post(address, message, signal) {
      const message_id = nextId()
      const outcome = await call({ what: 'post', address, id: message_id, message }, signal)
      return outcome.type === 'done' ? { type: 'done', message_id } : outcome
    },
    edit: (address, { message_id: id, message }, signal) => call({ what: 'edit', address, id, message }, signal),
  }
}

/** Connectors that write down what they are told. */
export const hearTroubles = (chat: Chat): AnyPlugin =>
  testPlugin('hearing', {
    provides: [Connectors],
    register(ctx) {
      const heard = {
        onChange: () => () => {},
        well: () => void chat.troubles.push('well'),
        trouble: (_: string, name: string, { state }: ConnectorTrouble) => void chat.troubles.push(`${name} ${state}`),
      }
      ctx.provide(Connectors, unsafeCast<Connectors>(heard))
    },
  })

const platforms: ReadonlySet<string> = new Set(['slack', 'telegram', 'external', 'connectors'])
/** The shipped plugins but for those that speak to platforms. */
export const withoutPlatforms = async (): Promise<readonly ShippedPlugin[]> =>
  (await shippedPlugins()).filter(({ id }) => !platforms.has(id))

/** What a daemon of these tests is started with; its time goes on by leaps alone. */
export const liveDaemon = async (chat: Chat, ...plugins: AnyPlugin[]) => ({
  clock: createLeapingClock({ still: true }),
  shipped: await withoutPlatforms(),
  plugins: [hearTroubles(chat), chat.plugin, ...plugins],
  // Models that wait for a test are silent for as long as its leaps go.
  flags: { 'provider-idle-timeout-ms': '86400000' },
})

/** Looks until it holds; `between` is done before each further look. */
export const seen = async (what: string, look: () => boolean, between = (): void => {}): Promise<void> => {
  const pause = createPause()
  for (let n = 0; n < 300; n += 1) {
    if (look()) return
    await pause()
    between()
  }
  throw fault(`${what} did not come`)
}

/** Time passes: whatever would be done in it is done. */
export const passes = async (leap: () => void): Promise<void> => {
  let looks = 0
  await seen('the time', () => (looks += 1) > 12, leap)
}
