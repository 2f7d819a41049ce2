/** What people are told of the floor. */
import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { checkLine, readExplanation } from '../../../support/explanations.js'
import { createLatch } from '../../../support/latch.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { callTool, done, fails } from '../../../../plugins/providers/scripted/contract.js'
import { bot, channel, eventually, quiet, startBots } from './bots.js'

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
    text:
      `It has the floor in the channel "garden" to answer ${lease.origin_message_id}, 2 sessions behind it; ` +
      'then the next one may be asked.',
    until_ms: lease.expires_at_ms,
    commands: ['holdfast channels follow garden', 'holdfast channels leases garden'],
  })
  gate.open()
  await quiet(daemon)
})

test('floor-21: a channel says who speaks in it, and why nobody does', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A'], {
    script: async ({ message }) => {
      await gate.wait()
      return message === 'Hello' ? 'Hello, Ann.' : undefined
    },
    policy: { max_agent_replies_per_human_message: 1 },
  })
  const put = (body: object) => daemon.request('PUT', channel, body)
  const asked = async (id = 'garden'): Promise<any> => (await readExplanation(daemon, id)).subjects
  const only = async (): Promise<any> => {
    const [{ reasons, ...subject }, ...rest] = await asked()
    t.is(reasons.length, 1)
    t.deepEqual(rest, [])
    for (const command of reasons[0].commands) checkLine(t, command)
    return { ...subject, ...reasons[0], command: reasons[0].commands[0] }
  }
  t.like(await only(), { kind: 'channel', id: 'garden', status: 'quiet', code: 'nothing_said' })
  const { message_id } = await daemon.post('Hello')
  await gate.reached
  const [speaking, run] = await asked('channel:garden')
  t.like(speaking, { id: 'garden', status: 'speaking', session_id: undefined })
  t.like(speaking.reasons[0], { code: 'speaks', text: `The session "A" has the floor in the thread of ${message_id}.` })
  t.like(run, { kind: 'run', session_id: 'A', depth: 1 })
  gate.open()
  await quiet(daemon)
  t.like(await only(), {
    code: 'replies_used',
    command: `holdfast channels post --thread ${message_id} garden MEMBER TEXT`,
  })
  await daemon.post('Once more')
  await quiet(daemon)
  const exhausted = await only()
  t.is(exhausted.code, 'nobody_asked')
  t.regex(
    exhausted.text,
    /about \w+\. No agent has answered it, and each session that may be asked had nothing to say/u,
  )
  await put({ paused: true })
  t.like(await only(), {
    status: 'paused',
    code: 'channel_paused',
    command: 'holdfast channels update --resume garden',
  })
  await put({ paused: false })
  await daemon.request('POST', `${channel}/members`, { ...bot('A'), muted: true })
  const silent = await only()
  t.is(silent.code, 'nobody_listens')
  t.regex(silent.text, /^No member may be asked: each is a person, muted, or of the mode manual_only\. Add a session/u)
  t.is((await daemon.request('GET', '/v1/explanations/channel:none')).status, 404)
  await daemon.request('POST', '/v1/sessions', { session_id: 'garden' })
  const kinds = [(await asked('garden'))[0].kind, (await asked('channel:garden'))[0].kind]
  t.true(kinds.includes('channel') && kinds[1] === 'channel')
})

test('floor-13, floor-21: behind a pause it is said that it dropped who was to be asked, and that messages in it call nobody', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B'], {
    script: async () => {
      await gate.wait()
      return undefined
    },
  })
  const put = (paused: boolean) => daemon.request('PUT', channel, { paused })
  const only = async (): Promise<any> => (await readExplanation(daemon, 'garden')).subjects[0].reasons
  const { message_id: first } = await daemon.post('Hello')
  await gate.reached
  await put(true)
  gate.open()
  await quiet(daemon)
  await put(false)
  const [dropped, ...none] = await only()
  t.deepEqual(none, [])
  t.is(dropped.code, 'paused_since')
  t.regex(dropped.text, new RegExp(`Nobody is asked about ${first} any more: the channel was paused behind it`, 'u'))
  for (const command of dropped.commands) checkLine(t, command)
  await put(true)
  const { message_id: second } = await daemon.post('And now?')
  await put(false)
  t.like(await only(), [{ code: 'paused_since' }])
  const { out } = await createCommandLine(daemon)('channels', 'follow', 'garden', '--once')
  t.true(
    out.replaceAll(/\s+/gu, ' ').includes(`Nobody is asked about ${second}: it was said while the channel was paused`),
  )
  await daemon.post('Again')
  await quiet(daemon)
  t.like(await only(), [{ code: 'nobody_asked' }])
  t.false('paused_at_ms' in (await daemon.request('GET', channel)).body)
})

test('floor-7: no retry of a turn is offered, whose answer would go nowhere', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A'], {
    script: async () => {
      await gate.wait()
      return undefined
    },
  })
  await daemon.post('Hello')
  await gate.reached
  const [{ active_run_id: run_id }] = await daemon.leases()
  await daemon.request('DELETE', channel)
  gate.open()
  await until(daemon, run_id, 'cancelled')
  const [{ reasons }] = (await readExplanation(daemon, run_id)).subjects
  t.like(reasons, [{ code: 'not_completed' }])
  t.regex(reasons[0].text, /a retry of it would say nothing in a channel\.$/u)
  t.deepEqual(reasons[0].commands ?? [], [])
})

test('floor-21: a turn that failed is told with what moves it, and so is a session that has ended', async (t) => {
  const daemon = await startBots(t, ['A', 'B'], {
    script: ({ bot: name }) => (name === 'A' ? [fails(false)] : undefined),
  })
  const line = createCommandLine(daemon)
  const reasons = async (): Promise<any[]> => {
    const found = (await readExplanation(daemon, 'garden')).subjects[0].reasons
    for (const { commands } of found) for (const command of commands) checkLine(t, command)
    return found
  }
  const { message_id } = await daemon.post('Hello')
  await quiet(daemon)
  const [failed, others] = await reasons()
  const run = (await daemon.turns()).find(({ session_id }: any) => session_id === 'A')
  t.is(run.status, 'failed')
  const ask = `holdfast channels post --thread ${message_id} --to`
  t.like(failed, {
    code: 'turn_failed',
    text: `The turn of "A" about ${message_id} failed.`,
    commands: [`holdfast runs get ${run.run_id}`, `${ask} A garden MEMBER TEXT`],
  })
  t.regex(others.text, /No agent has answered it, and each other session that may be asked/u)
  t.like(others, { code: 'nobody_asked', commands: [`${ask} A garden MEMBER TEXT`] })
  t.regex(
    (await line('channels', 'follow', 'garden', '--once')).out,
    /\n {2}- The turn of "A" about \w+ failed\.\n {6}holdfast runs get /u,
  )
  await openSession(daemon, 'other')
  for (let n = 0; n < 201; n += 1) {
    const { run_id } = await submit(daemon, 'other', `${n}`)
    await until(daemon, run_id, 'completed')
  }
  t.deepEqual((await reasons())[0], failed, 'also behind many runs')
  for (const id of ['A', 'B']) await daemon.request('POST', `/v1/sessions/${id}/end`, {})
  const ended = await reasons()
  t.deepEqual(
    ended.map(({ code, commands }) => [code, ...commands]),
    [
      ['session_ended', 'holdfast sessions create A'],
      ['session_ended', 'holdfast sessions create B'],
    ],
  )
})

test('floor-1: a lease whose turn waits for a person is shown without an end', async (t) => {
  const daemon = await startBots(t, ['A'], {
    script: () => [
      callTool('q1', 'ask_user_question', {
        questions: [
          {
            question: 'Which one?',
            header: 'Which',
            options: [
              { label: 'a', description: 'a' },
              { label: 'b', description: 'b' },
            ],
            multi_select: false,
          },
        ],
      }),
      done('tool_calls'),
    ],
  })
  await daemon.post('Hello')
  await eventually(daemon.turns, ([turn]) => turn?.status === 'waiting_for_user_question')
  const { out } = await createCommandLine(daemon)('channels', 'leases', 'garden')
  t.regex(out, /^\S+ {2}A, waiting_for_user_question\n/u)
})
