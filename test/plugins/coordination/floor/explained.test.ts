/** What people are told of the floor. */
import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { readExplanation } from '../../../support/explanations.js'
import { createLatch } from '../../../support/latch.js'
import { quiet, startBots } from './bots.js'

test('floor-1, floor-19: who has the floor and why is told on the terminal', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B', 'C'], {
    script: async () => {
      await gate.wait()
      return undefined
    },
  })
  const line = createCommandLine(daemon)
  t.regex((await line('channels', 'leases', 'garden')).out, /Nobody has the floor\./u)
  await daemon.post('Hello')
  await gate.reached
  const [lease] = await daemon.leases()
  const { out } = await line('channels', 'leases', 'garden')
  t.regex(
    out,
    new RegExp(`${lease.turn_id}  A, until .*\\n.*run ${lease.active_run_id}\\n  3 messages left; next B, C`, 'u'),
  )
  const { subjects } = await readExplanation(daemon, lease.active_run_id)
  const reason = subjects[0].reasons.find(({ code }: any) => code === 'turn')
  t.like(reason, {
    text: 'It has the floor in the channel "garden", 2 sessions behind it; then the next one may be asked.',
    until_ms: lease.expires_at_ms,
    commands: ['holdfast channels leases garden'],
  })
  gate.open()
  await quiet(daemon)
})
