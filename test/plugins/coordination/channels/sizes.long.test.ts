/** Channels of the largest size: what is done with them costs what is done. */
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { Channels, type MemberDraft } from '../../../../plugins/coordination/channels/contract.js'
import { channel } from '../../../support/channels.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { openSession } from '../../../support/runs.js'

const clock = createClock()
const [mostMembers, mostMessages, portion] = [10_000, 100_000, 1_000]

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0

test('channels-23: a channel of 10,000 members and a thread of 100,000 messages cost what small ones cost', async (t) => {
  const root = await freshRoot()
  const lent = lender({ channels: Channels })
  const first = await startTestDaemon(t, { root, plugins: [lent.plugin] })
  for (const id of ['writer', 'second']) await openSession(first, id)
  for (const id of ['small', 'large']) await channel(first, id)
  const draft = (n: number): MemberDraft => ({
    member_id: `m${n}`,
    member_kind: 'human_actor',
    display_name: `Member ${n}`,
  })
  const { channels } = lent.services()
  const { state } = lent.context()
  const roots: Record<string, string> = {}
  const fill = async (channel_id: string, members: number, messages: number): Promise<void> => {
    await state.commit((tx) => {
      for (const session_id of ['writer', 'second'])
        channels.putMember(tx, channel_id, { member_id: session_id, member_kind: 'session', display_name: session_id })
      for (let n = 2; n < members; n += 1) channels.putMember(tx, channel_id, draft(n))
    })
    const post = (content: string, root_message_id?: string, sender_session_id?: string) =>
      state.commit((tx) =>
        channels.post(tx, {
          channel_id,
          sender: { id: 'm2' },
          root_message_id,
          sender_session_id,
          output: { content, parts: [], artifacts: [] },
        }),
      )
    const root_message_id = (await post('root')).message_id
    roots[channel_id] = root_message_id
    for (let n = 0; n < messages; n += portion)
      await Promise.all(
        Array.from({ length: Math.min(portion, messages) }, (_, at) =>
          post(`message ${n + at}`, root_message_id, at % 2 === 0 ? 'writer' : undefined),
        ),
      )
  }
  await fill('small', 10, 10)
  await fill('large', mostMembers, mostMessages)
  await first.stop()

  // Messages are read from disk now.
  const again = lender({ channels: Channels })
  const daemon = await startTestDaemon(t, { root, plugins: [again.plugin] })
  const looks: Record<string, (id: string) => Promise<unknown>> = {
    post: (id) =>
      daemon.request('POST', `/v1/channels/${id}/messages`, {
        sender_actor_id: 'm3',
        content: 'Member 7, what does @m8 say? @nobody',
        reply_to_message_id: roots[id],
      }),
    read: (id) => daemon.request('GET', `/v1/channels/${id}/messages?limit=10&thread_root_message_id=${roots[id]}`),
    view: (id) => daemon.request('GET', `/v1/channels/${id}`),
    spoken: (id) => Promise.resolve(again.services().channels.spoken(roots[id] ?? '')),
    sessions: (id) =>
      Promise.resolve(again.services().channels.messages({ channel_id: id, limit: 10, ofSessions: true })),
    reacted: (id) => Promise.resolve(again.services().channels.reactedSince(roots[id] ?? '', roots[id] ?? '')),
  }
  for (const [name, look] of Object.entries(looks)) {
    const times: Record<string, number[]> = { small: [], large: [] }
    for (let n = 0; n < 100; n += 1)
      for (const id of ['small', 'large']) {
        const from = clock.elapsed()
        await look(id)
        times[id]?.push(clock.elapsed() - from)
      }
    const [small, large] = [median(times['small'] ?? []), median(times['large'] ?? [])]
    t.log(`${name}: ${small.toFixed(3)} ms, large ${large.toFixed(3)} ms`)
    // No figure: what looks at each message or member takes many times as long, on any machine.
    t.true(large < 100 + 10 * small, name)
  }
  const listed = await daemon.request(
    'GET',
    `/v1/channels/large/messages?limit=1&thread_root_message_id=${roots['large']}`,
  )
  t.deepEqual(listed.body[0].addressed_member_ids, ['m7', 'm8'])
})
