/** What is told of stimuli that wait. */
import test from 'ava'
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
