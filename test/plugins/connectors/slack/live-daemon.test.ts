/** Work that is shown in Slack while it is done: a draft that becomes the answer, buttons, a question. */
import test, { type ExecutionContext } from 'ava'
import { messageEvent, signed, type SlackMessage, type SlackServer } from '../../../support/slack-server.js'
import { until } from '../../../support/runs.js'
import { interactionOf, putConnector, sendEvent, slackPath, startSending } from './sending.js'

type Stand = Awaited<ReturnType<typeof startSending>>

const askedIn = (slack: SlackServer, text: string): SlackMessage | undefined =>
  slack.messages.find((message) => message.text.includes(text) && Array.isArray(message.blocks))

const elementsOf = (message: SlackMessage | undefined): any[] => {
  const blocks: any = message?.blocks ?? []
  return blocks.flatMap(({ element, elements = [] }: any) => [...elements, ...(element === undefined ? [] : [element])])
}

/** What Slack sends when somebody does something with a message. */
const interact = (
  { daemon }: Stand,
  message: SlackMessage | undefined,
  { user, action }: { user: string; action: object },
) => {
  const payload = {
    type: 'block_actions',
    api_app_id: 'A1',
    user: { id: user, name: user.toLowerCase() },
    team: { id: 'T1' },
    channel: { id: 'C1' },
    container: { type: 'message', message_ts: message?.ts, channel_id: 'C1', thread_ts: message?.thread_ts },
    actions: [action],
  }
  const form = interactionOf(payload)
  return daemon.request('POST', slackPath('main'), form, signed(form))
}

const checkApproval = async (t: ExecutionContext, stand: Stand): Promise<void> => {
  const { slack, daemon } = stand
  const event = messageEvent({ text: '/tool bash {"command":"echo one &amp;&amp; true"}\n---\n/say it is done' })
  const { run_id } = (await sendEvent(daemon, event)).body
  await slack.until(() => askedIn(slack, 'Permission is needed') !== undefined, 'the buttons')
  const request = askedIn(slack, 'Permission is needed')
  t.is(request?.thread_ts, event.event.ts)
  const [allow] = elementsOf(request)
  const press = (user: string) =>
    interact(stand, request, { user, action: { action_id: allow.action_id, value: allow.value, type: 'button' } })
  const refused = await press('U9')
  t.deepEqual([refused.status, refused.body], [200, { ignored: true, reason: 'interaction' }])
  await slack.until(() => slack.of('chat.postEphemeral').length === 1, 'a word for who may not')
  t.like(slack.of('chat.postEphemeral')[0]?.args, { channel: 'C1', user: 'U9', thread_ts: event.event.ts })
  t.is((await daemon.request('GET', `/v1/runs/${run_id}`)).body.status, 'waiting_for_approval')
  t.is((await press('U1')).status, 200)
  await until(daemon, run_id, 'completed')
  await slack.until(
    () =>
      askedIn(slack, 'Permission is needed')?.blocks === undefined ||
      elementsOf(askedIn(slack, 'Permission is needed')).length === 0,
    'the buttons are gone',
  )
  await slack.until(() => slack.messages.some(({ text }) => text === 'it is done'), 'the answer')
}

const checkQuestion = async (t: ExecutionContext, stand: Stand): Promise<void> => {
  const { slack, daemon } = stand
  const { run_id } = (await sendEvent(daemon, messageEvent({ text: '/ask Which colour? | Red | Blue' }))).body
  await slack.until(() => askedIn(slack, 'Which colour?') !== undefined, 'the question')
  const question = askedIn(slack, 'Which colour?')
  const field = elementsOf(question).find(({ type }) => type === 'plain_text_input')
  t.truthy(field, 'words can be typed')
  await interact(stand, question, {
    user: 'U1',
    action: { action_id: field.action_id, type: 'plain_text_input', value: 'Green, please' },
  })
  const run = await until(daemon, run_id, 'completed')
  const events = (await daemon.request('GET', `/v1/runs/${run.run_id}/events`)).text
  t.true(events.includes('Green, please'))
}

const checkDraft = async (t: ExecutionContext, { slack, daemon }: Stand): Promise<void> => {
  const { run_id } = (await sendEvent(daemon, messageEvent({ text: '/say Some words.\n/sleep 400\n/say And more.' })))
    .body
  const shown = () => slack.messages.filter(({ text }) => text.includes('Some words.'))
  await slack.until(() => shown().length === 1, 'a draft')
  await until(daemon, run_id, 'completed')
  await slack.until(() => shown().some(({ text }) => text.includes('And more.')), 'the answer')
  const delivered = async () => (await daemon.request('GET', `/v1/deliveries?run_id=${run_id}`)).body
  await slack.until(
    async () => (await delivered()).every(({ status }: any) => status === 'delivered'),
    'it is delivered',
  )
  t.is(shown().length, 1, 'the draft has become the answer')
  t.true(slack.of('chat.update').length > 0)
}

test('slack-32, slack-33, slack-34, slack-35, slack-36: work is shown as it is done, and decided on by who may', async (t) => {
  const stand = await startSending(t)
  await putConnector(stand.daemon, stand.slack.base, { approver_ids: ['U1'], stream_replies: true })
  await checkApproval(t, stand)
  await checkQuestion(t, stand)
  await checkDraft(t, stand)
})
