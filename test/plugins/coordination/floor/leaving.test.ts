/** Who leaves while there is something to say, and what ends with a channel. */
import test from 'ava'
import { createLatch } from '../../../support/latch.js'
import { ann, bot, channel, eventually, quiet, said, startBots } from './bots.js'

test('floor-13: a member that is removed loses the floor, says nothing, and the next one is asked', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B', 'C'], {
    script: async ({ bot: name }) => {
      if (name === 'A') await gate.wait()
      return name
    },
    policy: { max_agent_replies_per_human_message: 2 },
  })
  await daemon.post('Hello', { addressed_member_ids: ['A', 'C', 'B'] })
  await gate.reached
  t.is((await daemon.request('DELETE', `${channel}/members/A`)).status, 200)
  t.false((await daemon.leases()).some(({ holder_session_id }) => holder_session_id === 'A'))
  gate.open()
  await eventually(
    () => said(daemon),
    (all) => all.length === 3,
  )
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'C: C', 'B: B'])
  t.is((await daemon.turns())[0].status, 'cancelled')
})

test('floor-13: a member that is removed says nothing, also where a project has its session there still', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A'], {
    script: async () => {
      await gate.wait()
      return 'I speak'
    },
  })
  await daemon.request('POST', '/v1/projects', {
    project_id: 'beds',
    display_name: 'Beds',
    members: [{ ...bot('a'), session_id: 'A' }],
    channel_links: [{ channel_id: 'garden', mirror_members: true }],
  })
  t.is((await daemon.request('GET', `${channel}/members/project:beds:a`)).body.session_id, 'A')
  await daemon.post('Hello')
  await gate.reached
  await daemon.request('DELETE', `${channel}/members/project:beds:a`)
  t.is((await daemon.leases()).length, 1, 'it does not speak as that one')
  await daemon.request('POST', '/v1/projects/beds/channels', { channel_id: 'garden', mirror_members: true })
  await daemon.request('DELETE', `${channel}/members/A`)
  t.is((await daemon.leases()).length, 0)
  gate.open()
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello'])
})

test('floor-13: queues and priorities forget who is removed; who is muted meanwhile is passed over', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B', 'C', 'D'], {
    script: async ({ bot: name }) => {
      if (name === 'A') await gate.wait()
      return name
    },
    policy: { max_agent_replies_per_human_message: 4 },
  })
  await daemon.post('Hello', { addressed_member_ids: ['A', 'B', 'C'] })
  await gate.reached
  await daemon.request('DELETE', `${channel}/members/B`)
  await daemon.request('POST', `${channel}/members`, bot('C', { muted: true }))
  t.like((await daemon.leases())[0], {
    queued_candidate_session_ids: ['C', 'D'],
    last_human_priority_session_ids: ['A', 'C'],
  })
  gate.open()
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'A: A', 'D: D', 'A: A'])
})

test('floor-9, floor-13: whose turn was about an earlier message and who comes back has one about the last', async (t) => {
  const [first, second] = [createLatch(), createLatch()]
  let asked = 0
  const daemon = await startBots(t, ['A', 'B'], {
    script: async ({ bot: name }) => {
      if (name === 'B') await second.wait()
      else if ((asked += 1) === 1) await first.wait()
      return name === 'A' ? 'I am back' : undefined
    },
  })
  const { message_id } = await daemon.post('One', { addressed_member_ids: ['A'] })
  await first.reached
  await daemon.post('Two', { thread_root_message_id: message_id })
  await daemon.request('DELETE', `${channel}/members/A`)
  await second.reached
  await daemon.request('POST', `${channel}/members`, bot('A'))
  first.open()
  second.open()
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: One', 'ann: Two', 'A: I am back'])
})

test('floor-13: what was said before a pause is heard, and nobody is asked behind it', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B'], {
    script: async ({ bot: name }) => {
      await gate.wait()
      return name
    },
  })
  await daemon.post('Hello')
  await gate.reached
  await daemon.request('PUT', channel, { paused: true })
  gate.open()
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'A: A'])
})

test('floor-13: with a channel its turns end', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B'], {
    script: async () => {
      await gate.wait()
      return 'late'
    },
  })
  await daemon.post('Hello')
  await gate.reached
  t.is((await daemon.request('DELETE', channel)).status, 200)
  await eventually(daemon.turns, ([run]) => run.status === 'cancelled')
  gate.open()
  const again = { channel_id: 'garden', title: 'Anew', members: [ann] }
  await eventually(
    async () => (await daemon.request('POST', '/v1/channels', again)).status,
    (status) => status === 201,
  )
  t.deepEqual(await daemon.leases(), [])
  t.is((await daemon.turns()).length, 1)
})

test('floor-13: the floor of a session that is ended passes on, and it is asked again when it is back', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B'], {
    script: async ({ bot: name }) => {
      if (name === 'A') await gate.wait()
      return name
    },
    policy: { max_agent_replies_per_human_message: 1 },
  })
  await daemon.post('Hello', { addressed_member_ids: ['A'] })
  await gate.reached
  await daemon.request('POST', '/v1/sessions/A/end', {})
  gate.open()
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'B: B'])
  await daemon.request('POST', '/v1/sessions', { session_id: 'A' })
  await daemon.post('Back?', { addressed_member_ids: ['A'] })
  await quiet(daemon)
  t.deepEqual((await said(daemon)).slice(2), ['ann: Back?', 'A: A'])
})
