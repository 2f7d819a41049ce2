/** What a turn costs in a channel of 10,000 members. */
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { ann, eventually, handsOf, quiet, scripted } from './bots.js'
import { openInside } from './inside.js'

const members = 9_999
const clock = createClock()

test('floor-18: among 10,000 members the first turn begins at once, and its queue is as long as the budget can use', async (t) => {
  t.timeout(600_000)
  const { inside, shipped } = await openInside()
  const model = scripted({ script: ({ bot }) => bot })
  const daemon = await startTestDaemon(t, { shipped, plugins: [model.plugin], config: model.config })
  await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title: 'The garden', members: [ann] })
  const { channels, sessions, state, leases } = inside
  for (let from = 0; from < members; from += 500)
    await state.commit((tx) => {
      for (let n = from; n < Math.min(members, from + 500); n += 1) {
        const session_id = `s${n}`
        sessions.open(tx, { session_id })
        channels.putMember(tx, 'garden', {
          member_id: session_id,
          member_kind: 'session',
          display_name: session_id,
          participation_mode: 'always_listen',
        })
      }
    })
  t.is(channels.memberCount('garden'), 10_000)
  const hands = handsOf(daemon)
  const took: number[] = []
  const cpu: number[] = []
  for (let n = 0; n < 5; n += 1) {
    const from = clock.elapsed()
    const used = process.cpuUsage()
    await state.commit((tx) => {
      channels.post(tx, {
        channel_id: 'garden',
        sender: { id: 'ann' },
        output: { content: `Question ${n}`, parts: [], artifacts: [] },
      })
    })
    while (leases.count('all', 'all') === 0) await new Promise((resolve) => setImmediate(resolve))
    took.push(Math.round(clock.elapsed() - from))
    const { user, system } = process.cpuUsage(used)
    cpu.push(Math.round((user + system) / 1_000))
    const [lease] = leases.list({ index: 'all', group: 'all', limit: 1 })
    t.is(lease?.queued_candidate_session_ids.length, 12)
    await eventually(hands.leases, (all) => all.length === 0)
    await quiet(hands)
  }
  t.log(`from the post to the grant: ${took.join(', ')} ms, of CPU ${cpu.join(', ')} ms`)
  // A pass over all members for each of them would take minutes.
  t.true(Math.min(...took) < 2_000, took.join())
  t.is((await hands.messages()).length, 5 + 15)
})
