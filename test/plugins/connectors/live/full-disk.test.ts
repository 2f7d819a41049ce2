import test from 'ava'
import { createFaultyDisk } from '../../../../core/testing/faulty-disk.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { createChat, liveDaemon, seen } from '../../../support/live-chat.js'
import { openSession, until } from '../../../support/runs.js'

/** What is written when a request is to be put to a chat, when its message was sent, and when it is to say its end. */
const commits = ['"decidable":"yes"', '"message_id":"m1"', '"status":"closing"']

for (const commit of commits)
  test(`live-14, live-19, live-23: a request is put to its chat once and told its end, though ${commit} could not be kept at first`, async (t) => {
    const chat = createChat({ approver_ids: ['tg:7'] })
    const { disk, fail, heal } = createFaultyDisk()
    let isDue = true
    const failing: Disk = {
      ...disk,
      open: async (at, how) => {
        const file = await disk.open(at, how)
        const write: typeof file.write = (bytes, position) => {
          if (isDue && Buffer.from(bytes).includes(commit)) {
            isDue = false
            fail('full')
          }
          return file.write(bytes, position)
        }
        return { ...file, write }
      },
    }
    const options = await liveDaemon(chat, effectTools(createWorld()))
    const daemon = await startTestDaemon(t, { ...options, disk: failing })
    await openSession(daemon)
    const comes = (what: string, look: () => boolean) => seen(what, look, () => options.clock.leap(20_000))
    /** Until it is refused, and from then on until it is done. */
    const reaches = async (what: string, look: () => boolean): Promise<void> => {
      await comes(what, () => look() || daemon.log.some(({ fact }) => fact === 'storage refuses changes'))
      heal()
      await comes(what, look)
    }
    const content = '/tool mcp__pay {"what":"a"}'
    const reply_targets = [{ plugin: 'telegram', address: 'chat-1' }]
    const { body: run } = await daemon.request('POST', '/v1/sessions/s1/runs', { content, reply_targets })
    await reaches('the message', () => chat.messages.size === 1)
    const { pending_approval_ids: ids } = await until(daemon, run.run_id, 'waiting_for_approval')
    const resolutions = [{ request_id: ids[0], behavior: 'deny' }]
    const decide = () => daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, { resolutions })
    for (let status = 503; status === 503;) {
      options.clock.leap(20_000)
      ;({ status } = await decide())
    }
    const isOver = () => chat.messages.get('m1')?.text.endsWith('Denied by an operator.') === true
    await reaches('its end', isOver)
    t.is(chat.count('post'), 1)
    t.false(isDue)
  })
