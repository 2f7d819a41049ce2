/**
 * A Slack that counts, and a daemon that is killed at each step of a delivery: as a call arrives, when it is done and
 * nobody was told, and as its answer comes.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { spawnTestDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { rootForKills } from '../../../support/folders.js'
import { until } from '../../../support/runs.js'
import { storeNotes } from '../../../support/sent-files.js'
import { messageEvent, startSlack, type SlackServer } from '../../../support/slack-server.js'
import { partOf } from '../../../support/volume.js'
import { putConnector, sendEvent } from './sending.js'

const env = { SERVICE_DELIVERY_INITIAL_RETRY_MS: '5', SERVICE_DELIVERY_CIRCUIT_COOLDOWN_MS: '20' }

const steps = [
  { method: 'chat.postMessage', call: 1 },
  { method: 'files.getUploadURLExternal', call: 1 },
  { method: 'upload', call: 1 },
  { method: 'files.completeUploadExternal', call: 1 },
  { method: 'chat.postMessage', call: 2 },
] as const
const moments = ['arrived', 'done', 'answered'] as const

interface Life {
  readonly slack: SlackServer
  readonly root: string
  daemon: SpawnedDaemon
}
interface Death {
  readonly method: string
  readonly call: number
  readonly moment: (typeof moments)[number]
}

/** Has the daemon die at this call; resolves when it is dead. */
const dieAt = ({ slack, daemon }: Life, { method, call, moment }: Death): Promise<unknown> => {
  slack.on(method, (_, __, count) => {
    if (count !== call) return false
    if (moment === 'answered') {
      setTimeout(() => void daemon.die(), (call * 7) % 5)
      return false
    }
    void daemon.die()
    return moment === 'done' ? 'unanswered' : undefined
  })
  return daemon.exited
}

/** Says two things with a file between them, through one death; the run, and the delivery of these. */
const deliverThrough = async (t: ExecutionContext, life: Life, death: Death, no: number): Promise<any> => {
  const { slack, root } = life
  const parts = [
    { type: 'text', text: `one ${no}` },
    { type: 'asset', asset_id: await storeNotes(life.daemon, `# ${no}`) },
    { type: 'text', text: `two ${no}` },
  ]
  const died = dieAt(life, death)
  const event = messageEvent({ text: `/tool emit_output ${JSON.stringify({ parts })}\n---\n/say done ${no}` })
  const { body } = await sendEvent(life.daemon, event)
  await died
  slack.on(death.method, undefined)
  life.daemon = await spawnTestDaemon(t, { root, env })
  await until(life.daemon, body.run_id, 'completed')
  const deliveries = async (): Promise<any[]> =>
    (await life.daemon.request('GET', `/v1/deliveries?run_id=${body.run_id}`)).body
  await slack.until(
    async () =>
      (await deliveries()).filter(({ status }) => status === 'delivered' || status === 'dead_lettered').length === 2,
    `the deliveries of ${no}`,
  )
  const { body: actions } = await life.daemon.request('GET', `/v1/runs/${body.run_id}/external-actions`)
  const delivery = (await deliveries()).find(({ parts_count }) => parts_count === 3)
  return { delivery, action: actions.find(({ action_id }: any) => action_id === delivery.delivery_id) }
}

const said = ({ messages }: SlackServer, text: string) => messages.filter((message) => message.text === text)

/** What Slack shows of one, and what the daemon says of it. */
const check = (t: ExecutionContext, { slack }: Life, death: Death, { no, delivery, action }: any): void => {
  const { method, call, moment } = death
  const name = `${method} ${call} ${moment}`
  // What comes behind an answer may be under way too.
  const isLater = moment === 'answered'
  const isLost = (method === 'files.completeUploadExternal' || isLater) && delivery.status === 'dead_lettered'
  for (const [at, word] of ['one', 'two'].entries()) {
    const shown = said(slack, `${word} ${no}`)
    const isCut = isLater || (moment === 'done' && method === 'chat.postMessage' && call === at + 1)
    t.true(shown.length <= (isCut && !slack.dedupes ? 2 : 1), `${name}: ${word} is shown ${shown.length} times`)
    if (!isLost) t.true(shown.length > 0, `${name}: ${word} is shown`)
    t.is(new Set(shown.map(({ client_msg_id }) => client_msg_id)).size, Math.min(1, shown.length), name)
  }
  t.true(action.attempts > 1 || moment === 'answered', `${name}: what was cut off is another attempt`)
  if (!isLost) {
    t.is(delivery.status, 'delivered', name)
    t.is(action.outcome, 'done', name)
    return
  }
  t.is(delivery.terminal_error, 'slack_completion_unknown', name)
  t.is(action.outcome, 'unknown', name)
}

const killEverywhere = async (t: ExecutionContext, dedupes: boolean): Promise<void> => {
  const [slack, root] = [await startSlack(t), rootForKills()]
  slack.dedupes = dedupes
  writeFileSync(join(root, 'config', 'slack.toml'), 'allow_cidrs = ["127.0.0.0/8"]\n')
  const life: Life = { slack, root, daemon: await spawnTestDaemon(t, { root, env }) }
  await putConnector(life.daemon, slack.base)
  const all = steps.flatMap((step) => moments.map((moment): Death => ({ ...step, moment })))
  const deaths = dedupes ? all.filter((_, at) => at % partOf(4, 1) === 0) : all
  for (const [no, death] of deaths.entries()) {
    const came = await deliverThrough(t, life, death, no)
    check(t, life, death, { no, ...came })
  }
  for (const { id, shared } of slack.files.values())
    t.true(shared.length <= 1, `${id} was completed ${shared.length} times`)
  const completed = slack.of('files.completeUploadExternal').map(({ args }) => args['files'])
  t.is(new Set(completed).size, completed.length, 'no file is completed twice')
  t.log(`${deaths.length} kills, ${slack.messages.length} messages, ${completed.length} completions`)
}

test('slack-24, slack-29, slack-30: through a kill at each step no file is completed twice, and words come twice only where their answer was lost', (t) =>
  killEverywhere(t, false))

test('slack-24: where Slack knows the id of a message, words come once through a kill at each step', (t) =>
  killEverywhere(t, true))
