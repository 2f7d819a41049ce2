/** A real process, killed again and again while messages are sent and read: each is read in one run that completes. */
import { rmSync } from 'node:fs'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { spawnDaemon, type Answer } from '../../../support/daemon.js'
import { rootForKills } from '../../../support/folders.js'
import { readAll } from '../sidechains/recount.js'

const clock = createClock()
const messages = 120

/** A daemon that is killed answers nothing. */
const tried = (asked: Promise<Answer>): Promise<Answer | undefined> => asked.catch(() => undefined)

test('mailboxes-4: through kills each message that was accepted is read in one run that completes', async (t) => {
  const root = rootForKills()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  let daemon = await spawnDaemon({ root })
  const agents: string[] = []
  for (const session_id of ['s1', 's2'])
    agents.push((await daemon.request('POST', '/v1/sessions', { session_id })).body.agent_id)
  const [from_agent_id = '', to_agent_id = ''] = agents
  const post = (message_id: string) =>
    tried(
      daemon.request('POST', '/v1/mailboxes', { from_agent_id, to_agent_id, subject: 's', payload: {}, message_id }),
    )
  let kills = 0
  const left = Array.from({ length: messages }, (_, n) => `m${n}`)
  const sent: string[] = []
  while (left.length > 0) {
    const batch = left.slice(0, 10)
    const asked = batch.map(post)
    const answers = Promise.all(asked)
    // Every other life has answered them all when it is killed.
    if (kills % 2 === 1) await answers
    await clock.sleep((kills * 7) % 40)
    await daemon.kill('SIGKILL')
    kills += 1
    for (const [at, answer] of (await answers).entries())
      if (answer?.status === 202) {
        const id = batch[at] ?? ''
        sent.push(id)
        left.splice(left.indexOf(id), 1)
      }
    daemon = await spawnDaemon({ root })
  }
  const waiting = async (): Promise<any[]> => (await daemon.request('GET', `/v1/agents/${to_agent_id}/mailbox`)).body
  const runs = (): Promise<any[]> => readAll(daemon, '/v1/runs')
  const isBusy = async (): Promise<boolean> =>
    (await waiting()).length > 0 || (await runs()).some(({ finished_at_ms }) => finished_at_ms === undefined)
  while (await isBusy()) await clock.sleep(50)
  const completed = (await runs()).filter(({ status }) => status === 'completed')
  const read = completed.flatMap(({ input_metadata }) => input_metadata.mailbox_message_ids)
  t.log(`${kills} kills, ${completed.length} runs`)
  t.is(new Set(read).size, read.length, 'no message is read twice')
  t.deepEqual(
    sent.filter((id) => !read.includes(id)),
    [],
  )
  t.deepEqual((await daemon.request('GET', `/v1/agents/${to_agent_id}/mailbox/dead-letter`)).body, [])
  await daemon.stop()
  t.true(kills > 10)
})
