/** What is told of stimuli that wait. */
import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { readExplanation } from '../../../support/explanations.js'

test('stimuli-18: a channel tells what waits to be said in it, and why', async (t) => {
  const daemon = await startTestDaemon(t)
  await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title: 'The garden' })
  const say = (content: string) =>
    daemon.request('POST', '/v1/channels/garden/stimuli', { content, scope: 'channel', kind: 'agent_idea' })
  const waiting = async (): Promise<any[]> =>
    (await readExplanation(daemon, 'garden')).subjects[0].reasons.filter(({ code }: any) => code === 'stimulus')
  await say('The first')
  await say('The second')
  let found = await waiting()
  for (let n = 0; n < 1_000 && !/quiet/u.test(found[0]?.text ?? ''); n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    found = await waiting()
  }
  t.is(found.length, 1)
  t.like(found[0], {
    text: '"The second" waits to be said: the quiet period is not over.',
    commands: ['holdfast channels stimuli list garden'],
  })
  t.true(found[0].until_ms > found[0].since_ms)
})

test('stimuli-2, stimuli-7: in a paused channel one waits without a time that is over, and keeps the time it wants', async (t) => {
  const daemon = await startTestDaemon(t)
  const garden = '/v1/channels/garden'
  await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title: 'The garden' })
  await daemon.request('PUT', garden, { paused: true })
  const later = Date.now() + 3_600_000
  for (const [content, available_at_ms] of [
    ['now', undefined],
    ['later', later],
  ] as const)
    await daemon.request('POST', `${garden}/stimuli`, {
      content,
      scope: 'channel',
      kind: 'agent_idea',
      available_at_ms,
    })
  const listed = async (): Promise<any[]> => (await daemon.request('GET', `${garden}/stimuli`)).body
  const until = async (holds: (found: any[]) => boolean): Promise<any[]> => {
    for (let n = 0; n < 2_000; n += 1) {
      const found = await listed()
      if (holds(found)) return found
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new TypeError('it never was so')
  }
  const paused = 'the channel is paused'
  const held = await until(
    (found) => found.every(({ last_error }) => last_error === paused) && found[0].available_at_ms < Date.now(),
  )
  t.is(held[1].available_at_ms, later)
  const [first, second] = (await readExplanation(daemon, 'garden')).subjects[0].reasons.filter(
    ({ code }: any) => code === 'stimulus',
  )
  t.deepEqual([first.until_ms, second.until_ms], [undefined, later])
  await daemon.request('PUT', garden, { paused: false })
  const [said] = await until(([one]) => one.state === 'dispatched')
  t.false('last_error' in said)
  const { code, err } = await createCommandLine(daemon)('channels', 'stimuli', 'create', 'garden', 'x', '--kind', 'foo')
  t.is(code, 2)
  t.regex(err, /--kind must be agent_idea, .*supersession_notice \(flag_invalid\)/u)
})
