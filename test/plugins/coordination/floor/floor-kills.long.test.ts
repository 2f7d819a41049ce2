/** A real process, killed again and again while people speak: each session is asked once about each message. */
import { rmSync } from 'node:fs'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { spawnDaemon, type Answer } from '../../../support/daemon.js'
import { rootForKills } from '../../../support/folders.js'
import { readAll } from '../../agents/sidechains/recount.js'
import { ann, bot, channel } from './bots.js'
import { partOf } from '../../../support/volume.js'

const clock = createClock()
const [messages, fewestKills, mostKills] = [partOf(18, 60), 11, 60]
/** A daemon that is killed answers nothing. */
const tried = (asked: Promise<Answer>): Promise<Answer | undefined> => asked.catch(() => undefined)

test('floor-7, floor-16: through kills each session has one turn for each message, and none is forgotten', async (t) => {
  t.timeout(1_800_000)
  const root = rootForKills()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  let daemon = await spawnDaemon({ root })
  const sessions = ['A', 'B']
  for (const session_id of sessions) await daemon.request('POST', '/v1/sessions', { session_id })
  const members = [ann, ...sessions.map((one) => bot(one))]
  await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title: 'The garden', members })
  let kills = 0
  const sent: string[] = []
  while ((sent.length < messages || kills < fewestKills) && kills < mostKills) {
    const asked = [0, 1, 2].map(() =>
      tried(daemon.request('POST', `${channel}/messages`, { sender_actor_id: 'ann', content: 'Well?' })),
    )
    const answers = Promise.all(asked)
    if (kills % 2 === 1) await answers
    await clock.sleep((kills * 7) % 60)
    await daemon.kill('SIGKILL')
    kills += 1
    for (const answer of await answers) if (answer?.status === 201) sent.push(answer.body.message_id)
    daemon = await spawnDaemon({ root })
  }
  const turns = (): Promise<any[]> => readAll(daemon, '/v1/runs')
  const isBusy = async (): Promise<boolean> =>
    (await daemon.request('GET', `${channel}/leases`)).body.length > 0 ||
    (await turns()).some(({ finished_at_ms }) => finished_at_ms === undefined)
  for (let calm = 0; calm < 3; calm = (await isBusy()) ? 0 : calm + 1) await clock.sleep(50)
  const asked = (await turns()).map(
    ({ session_id, input_metadata }) => `${input_metadata.human_origin_message_id} ${session_id}`,
  )
  t.log(`${kills} kills, ${sent.length} messages were accepted, ${asked.length} turns`)
  t.is(new Set(asked).size, asked.length, 'nobody is asked twice')
  t.deepEqual(
    sent.flatMap((id) => sessions.map((one) => `${id} ${one}`)).filter((one) => !asked.includes(one)),
    [],
  )
  await daemon.stop()
})
