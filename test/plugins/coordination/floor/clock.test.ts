/** How long a turn may take. */
import test from 'ava'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { callTool, done } from '../../../../plugins/providers/scripted/contract.js'
import { createLatch } from '../../../support/latch.js'
import { submit, until } from '../../../support/runs.js'
import { eventually, quiet, said, startBots, type Told } from './bots.js'

/** Goes on until it is stopped. */
const forever = ({ signal }: Told): Promise<undefined> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))

test('floor-12: who takes too long hands over to the next one, and its run is cancelled', async (t) => {
  const clock = createLeapingClock()
  const daemon = await startBots(t, ['A', 'B', 'C'], {
    script: (told) => (told.bot === 'A' ? forever(told) : told.bot),
    policy: { max_agent_replies_per_human_message: 1 },
    clock,
  })
  await daemon.post('Hello')
  const [slow] = await eventually(daemon.turns, ([run]) => run?.status === 'running')
  const [lease] = await daemon.leases()
  clock.leap(20_000)
  t.is((await daemon.leases())[0].turn_id, lease.turn_id)
  clock.leap(41_000)
  await eventually(
    () => said(daemon),
    (all) => all.length === 2,
  )
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'B: B'])
  const [first, second] = await daemon.turns()
  t.is(first.status, 'cancelled')
  t.like(second, {
    session_id: 'B',
    input_metadata: { superseded_run_id: slow.run_id, superseded_turn_id: lease.turn_id },
  })
})

test('floor-12: who has published something before it took too long has said it', async (t) => {
  const clock = createLeapingClock()
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B'], {
    script: ({ bot }) => bot,
    behind: async (told) => {
      if (told.bot !== 'A') return
      void gate.wait()
      await forever(told)
    },
    policy: { max_agent_replies_per_human_message: 2 },
    clock,
  })
  await daemon.post('Hello')
  await gate.reached
  t.deepEqual(await said(daemon), ['ann: Hello'])
  clock.leap(61_000)
  await eventually(
    () => said(daemon),
    (all) => all.length === 3,
  )
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'A: A', 'B: B'])
  t.is((await daemon.turns())[0].status, 'cancelled')
})

test('floor-12: without anybody to hand over to a turn goes on', async (t) => {
  const clock = createLeapingClock()
  const gate = createLatch()
  const daemon = await startBots(t, ['A'], {
    script: async () => {
      await gate.wait()
      return 'at last'
    },
    clock,
  })
  await daemon.post('Hello')
  await gate.reached
  const [lease] = await daemon.leases()
  for (let n = 0; n < 3; n += 1) {
    clock.leap(61_000)
    const { expires_at_ms: before } = (await daemon.leases())[0]
    await eventually(daemon.leases, ([now]) => now.expires_at_ms > clock.now() && now.expires_at_ms >= before)
  }
  t.is((await daemon.leases())[0].turn_id, lease.turn_id)
  gate.open()
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'A: at last'])
})

test('floor-12: the time of a turn does not run while its run is queued or waits for a person', async (t) => {
  const clock = createLeapingClock()
  const gate = createLatch()
  const question = { header: 'Which', question: 'Which one?', options: [{ label: 'one' }, { label: 'two' }] }
  const daemon = await startBots(t, ['A', 'B'], {
    script: async ({ bot, message }) => {
      if (bot === '') {
        await gate.wait()
        return undefined
      }
      return bot === 'A'
        ? [callTool('asks', 'ask_user_question', { questions: [question] }), done('tool_calls')]
        : message
    },
    policy: { max_agent_replies_per_human_message: 1 },
    clock,
  })
  await submit(daemon, 'A', 'work')
  await gate.reached
  await daemon.post('Hello', { addressed_member_ids: ['A'] })
  const [turn] = await eventually(daemon.turns, (all) => all.length === 1)
  t.is(turn.status, 'queued')
  const extended = async (): Promise<void> => {
    clock.leap(61_000)
    const [lease] = await eventually(daemon.leases, ([now]) => now.expires_at_ms > clock.now())
    t.is(lease.active_run_id, turn.run_id)
  }
  await extended()
  await extended()
  gate.open()
  const waiting = await until(daemon, turn.run_id, 'waiting_for_user_question')
  await extended()
  t.is((await daemon.turns()).length, 1)
  await daemon.request('POST', `/v1/runs/${waiting.run_id}/cancel`, {})
  await quiet(daemon)
  t.deepEqual(
    (await daemon.turns()).map(({ session_id, status }) => [session_id, status]),
    [
      ['A', 'cancelled'],
      ['B', 'completed'],
    ],
  )
})
