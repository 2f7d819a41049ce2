/** What models do in channels by tools. */
import test from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { callTool, done } from '../../../../plugins/providers/scripted/contract.js'
import { submit, until } from '../../../support/runs.js'
import { ann, channel, quiet, startBots, type Told } from './bots.js'

type Call = readonly [string, JsonObject]

/** What a session is told of each of these calls, which it makes in runs of its own. */
const startCalls = async (t: Parameters<typeof startBots>[0]) => {
  let next: Call | undefined
  const daemon = await startBots(t, ['A'], {
    script: ({ bot }: Told) =>
      bot === '' && next !== undefined ? [callTool('call', ...next), done('tool_calls')] : undefined,
  })
  await daemon.request('POST', '/v1/sessions', { session_id: 'stranger' })
  const call = async (session_id: string, ...wish: Call): Promise<any> => {
    next = wish
    const { run_id } = await submit(daemon, session_id, 'go')
    await until(daemon, run_id, 'completed')
    const result: any = daemon.asked.at(-1)?.messages.at(-1)
    return JSON.parse(JSON.stringify(result.content[0].output ?? result.content[0]))
  }
  return Object.assign(daemon, { call })
}

test('floor-15: a thread is read by members alone, the newest that fit, oldest first', async (t) => {
  const daemon = await startCalls(t)
  const { message_id: root } = await daemon.post('x'.repeat(100_000))
  await quiet(daemon)
  const ids = [root]
  for (let n = 0; n < 60; n += 1)
    ids.push((await daemon.post(`message ${n}`, { thread_root_message_id: root })).message_id)
  await quiet(daemon)
  const input = { channel_id: 'garden', thread_root_message_id: root }
  const all = await daemon.call('A', 'read_channel_thread', input)
  t.is(all.messages.length, 50, JSON.stringify(all).slice(0, 500))
  t.true(all.has_more)
  t.is(all.messages.at(-1).text, 'message 59')
  const before = await daemon.call('A', 'read_channel_thread', { ...input, before: all.messages[0].message_id })
  t.is(before.messages.length, 11)
  t.false(before.has_more)
  t.is(before.messages[0].message_id, root)
  t.true(Buffer.byteLength(before.messages[0].text) <= 8_200)
  t.regex(JSON.stringify(await daemon.call('stranger', 'read_channel_thread', input)), /channel_not_found/u)
  const none = { ...input, thread_root_message_id: 'none' }
  t.regex(JSON.stringify(await daemon.call('A', 'read_channel_thread', none)), /channel_message_not_found/u)
})

test('floor-15: a session reacts once, as itself, where it is a member', async (t) => {
  const daemon = await startCalls(t)
  const { message_id } = await daemon.post('Shall we?')
  await quiet(daemon)
  const input = { channel_id: 'garden', message_id, emoji: '👍' }
  for (let n = 0; n < 2; n += 1) t.is((await daemon.call('A', 'set_channel_reaction', input)).set, '👍')
  t.deepEqual((await daemon.messages())[0].reactions, [{ emoji: '👍', actor_ids: ['A'], count: 1 }])
  t.regex(JSON.stringify(await daemon.call('stranger', 'set_channel_reaction', input)), /channel_not_found/u)
  t.regex(
    JSON.stringify(await daemon.call('A', 'set_channel_reaction', { ...input, emoji: ' ' })),
    /channel_invalid_request/u,
  )
  t.is((await daemon.messages())[0].reactions[0].count, 1)
  t.is((await daemon.request('POST', `${channel}/members`, ann)).status < 300, true)
})
