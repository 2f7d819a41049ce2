/** What is said to platforms that hang; docs/rules/ingress.md. */
import test from 'ava'
import { unsafeCast } from '../../../../core/plugin.js'
import { createAsides } from '../../../../plugins/connectors/ingress/contract.js'
import { createWhisper } from '../../../../plugins/connectors/slack/live/whisper.js'
import { takeIn, type TakeInParts } from '../../../../plugins/connectors/telegram/updates/take-in.js'
import { connectorOf } from '../telegram/telegram-parts.js'

const hanging = () => {
  const ends: (() => void)[] = []
  const request = () =>
    new Promise((resolve) => ends.push(() => resolve({ type: 'failure', code: 'outbound_aborted' })))
  return { ends, outbound: { request } }
}
const turn = () => new Promise((resolve) => void setImmediate(resolve))

test('ingress-19: of one connector 32 things are said at a time, and what is beyond is left out', async (t) => {
  const asides = createAsides()
  const ends: (() => void)[] = []
  const say = (connector: string) => asides.say(connector, () => new Promise((resolve) => void ends.push(resolve)))
  for (let at = 0; at < 1000; at += 1) say('one')
  t.is(ends.length, 32)
  say('other')
  t.is(ends.length, 33, 'another connector has its own')
  for (const end of ends.splice(0)) end()
  await turn()
  for (let at = 0; at < 1000; at += 1) say('one')
  t.is(ends.length, 32, 'what has ended makes room')
})

test('ingress-19: presses and replies of a flood wait for no platform that hangs, and fill no memory', async (t) => {
  const log = unsafeCast<TakeInParts['log']>({ warn: () => {} })
  const { signal } = new AbortController()
  const telegram = hanging()
  const parts = unsafeCast<TakeInParts>({
    ...telegram,
    config: { allow_cidrs: [], timeout_ms: 1000 },
    now: Date.now,
    log,
    signal,
    asides: createAsides(),
    live: () => ({ press: () => Promise.resolve({ type: 'not_allowed', text: 'No.' }) }),
  })
  const connector = connectorOf()
  for (let update_id = 0; update_id < 100; update_id += 1) {
    const pressed = { id: 'p', from: { id: 1 }, data: 'live:x', message: { chat: { id: 1 } } }
    t.like(await takeIn(parts, connector, { update: { update_id, callback_query: pressed } }), { type: 'skipped' })
  }
  t.is(telegram.ends.length, 32)

  const slack = hanging()
  const whisper = createWhisper(
    unsafeCast({ ...slack, config: { allow_cidrs: [] }, log, signal, asides: createAsides() }),
  )
  const speaker = unsafeCast<Parameters<typeof whisper>[0]>({
    name: 'main',
    settings: {},
    has: () => true,
    secret: (name: string) => (name === 'bot_token' ? 'xoxb' : undefined),
  })
  for (let at = 0; at < 100; at += 1) whisper(speaker, { channel_id: 'C1', user: 'U1', text: 'No.' })
  t.is(slack.ends.length, 32)
  for (const end of [...slack.ends, ...telegram.ends]) end()
})
