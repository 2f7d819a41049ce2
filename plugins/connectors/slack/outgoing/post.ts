/** Words on their way into a channel (slack-26). */
import type { JsonObject } from '../../../../core/plugin.js'
import { escapeText, mostEdited } from '../api/mrkdwn.js'
import { namedIn } from '../api/message-name.js'
import type { Progress } from './progress.js'
import { clientMessageId } from './steps.js'
import type { Shown } from './upload.js'
import { callSlack, uneditable, type Api, type Failed } from '../api/web-api.js'

export interface TextStep {
  readonly api: Api
  readonly progress: Progress
  readonly delivery_id: string
  readonly key: string
  readonly text: string
  readonly shown: Shown
  /** A message that becomes this one, by its `ts`. */
  readonly draft?: string | undefined
}

/** Says what was not said yet. Undefined: it is there. */
export const showText = async (step: TextStep): Promise<Failed | undefined> => {
  const { draft } = step
  if (draft === undefined) return post(step)
  if (escapeText(step.text).length > mostEdited) return replace(step, draft)
  const edited = await edit(step, draft)
  return edited === 'gone' ? post(step) : edited === 'done' ? undefined : edited
}

/** Says it in a message of its own, and takes the draft away: what stays of that is a beginning, and no harm. */
const replace = async (step: TextStep, ts: string): Promise<Failed | undefined> => {
  const failed = await post(step, ts)
  if (failed === undefined) await takeAway(step.api, step.shown, ts)
  return failed
}

export const takeAway = async (api: Api, { channel_id: channel }: Shown, ts: string): Promise<void> => {
  await callSlack(api, { method: 'chat.delete', args: { channel, ts } })
}

const post = async (
  { api, progress, delivery_id, key, text, shown }: TextStep,
  replaces?: string,
): Promise<Failed | undefined> => {
  const client_msg_id = clientMessageId(delivery_id, key)
  const name = { client_msg_id, ...(replaces !== undefined && { replaces }) }
  await progress.setMessage(key, name)
  const args: JsonObject = {
    channel: shown.channel_id,
    text: escapeText(text),
    ...(shown.thread_ts !== undefined && { thread_ts: shown.thread_ts }),
    client_msg_id,
  }
  const called = await callSlack(api, { method: 'chat.postMessage', args, isSeen: true })
  if (called.type !== 'ok') return called
  // Without a time it is posted, and there is no thread for what follows.
  await progress.setMessage(key, { ...name, ts: namedIn(called.body['ts']) ?? '' })
  return undefined
}

/** An edit that is made twice changes nothing the second time. */
const edit = async ({ api, progress, key, text, shown }: TextStep, ts: string): Promise<Failed | 'done' | 'gone'> => {
  // Buttons and blocks of a draft go with what it was.
  const args: JsonObject = { channel: shown.channel_id, ts, text: escapeText(text), blocks: [] }
  const called = await callSlack(api, { method: 'chat.update', args })
  if (called.type === 'ok') {
    await progress.setMessage(key, { ts })
    return 'done'
  }
  return uneditable.has(called.code) ? 'gone' : called
}
