/** A file on its way into a channel: an address to send it to, the bytes, and its completion (slack-27 to slack-29). */
import type { JsonObject, OutboundAnswer } from '../../../../core/plugin.js'
import type { AttachmentRef } from '../../../media/assets/contract.js'
import { namedIn } from '../api/message-name.js'
import type { Progress } from './progress.js'
import {
  ask,
  callSlack,
  codeOf,
  errorIn,
  halfDone,
  limited,
  said,
  unanswered,
  wasNeverSent,
  waitOf,
  type Api,
  type Failed,
} from '../api/web-api.js'

/** Where it is shown. */
export interface Shown {
  readonly channel_id: string
  readonly thread_ts?: string | undefined
}
export interface FileStep {
  readonly api: Api
  readonly progress: Progress
  readonly key: string
  readonly file: AttachmentRef
  readonly shown: Shown
  /** Its bytes; undefined if they are gone or damaged. */
  readonly read: () => Promise<Uint8Array | undefined>
}

/** Nobody knows whether a file was shown: it is not shown once more. */
const unknownCompletion: Failed = { type: 'terminal', code: 'slack_completion_unknown', uncertain: true }

const nameOf = ({ file_name, id }: AttachmentRef): string => file_name ?? id

/** Sends a file that was not sent. Undefined: it is with Slack, and what is shown of it stands in its progress. */
const send = async ({ api, progress, key, file, read }: FileStep): Promise<Failed | undefined> => {
  const bytes = await read()
  if (bytes === undefined) return { type: 'terminal', code: 'slack_file_unreadable' }
  const args = { filename: nameOf(file), length: bytes.length }
  const place = await callSlack(api, { method: 'files.getUploadURLExternal', args, form: true })
  if (place.type !== 'ok') return place
  const { upload_url } = place.body
  const file_id = namedIn(place.body['file_id'])
  if (typeof upload_url !== 'string' || file_id === undefined) return { type: 'retry', code: 'slack_answer_unreadable' }
  if (!isUploadHost(api.base, upload_url)) return { type: 'terminal', code: 'slack_upload_url_refused' }
  await progress.setUpload(key, { file_id, uploaded: false, completion_requested: false })
  const failed = sent(await post(api, { upload_url, bytes, media_type: file.media_type }))
  if (failed === undefined) await progress.setUpload(key, { uploaded: true })
  return failed
}

/** What is in a file is no stranger's: it goes where https leads, or to the host that the operator named. */
const isUploadHost = (base: string, url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { protocol, origin } = new URL(url)
  return protocol === 'https:' || origin === new URL(base).origin
}

interface Sending {
  readonly upload_url: string
  readonly bytes: Uint8Array
  readonly media_type: string
}
/** Without a token: the address says what it is for. */
const post = ({ outbound, config, signal }: Api, { upload_url, bytes, media_type }: Sending): Promise<OutboundAnswer> =>
  outbound.request({
    method: 'POST',
    url: upload_url,
    headers: { 'content-type': media_type },
    body: bytes,
    ignore_body: true,
    allow_cidrs: config.allow_cidrs,
    timeout_ms: config.timeout_ms,
    signal,
  })

const sent = (answer: OutboundAnswer): Failed | undefined => {
  if (answer.type === 'failure') return unanswered(answer.code, false)
  const { status, headers } = answer
  if (status === 429) return limited(waitOf(headers))
  return status >= 200 && status < 300 ? undefined : { type: 'retry', code: `http_status_${status}` }
}

/** What came of a completion; `again` if it was not taken and may be made once more. */
type Completion = { readonly type: 'completed' } | { readonly type: 'again' | 'over'; readonly failed: Failed }
const over = (failed: Failed): Completion => ({ type: 'over', failed })
const again = (failed: Failed): Completion => ({ type: 'again', failed })

const completion = (answer: OutboundAnswer): Completion => {
  if (answer.type === 'failure')
    return wasNeverSent(answer.code) ? again(unanswered(answer.code, false)) : over(unknownCompletion)
  const { status, headers } = answer
  if (status === 429) return again(limited(waitOf(headers)))
  if (status >= 400 && status < 500) return over({ type: 'terminal', code: `http_status_${status}` })
  const body = status >= 200 && status < 300 ? said(answer) : undefined
  if (body === undefined) return over(unknownCompletion)
  const error = errorIn(body)
  if (error === undefined) return { type: 'completed' }
  if (error === 'ratelimited' || error === 'rate_limited') return again(limited(waitOf(headers)))
  return over(halfDone.has(error) ? unknownCompletion : { type: 'terminal', code: codeOf(error) })
}

const completionArgs = ({ progress, key, file, shown: { channel_id, thread_ts } }: FileStep): JsonObject => ({
  files: JSON.stringify([{ id: progress.upload(key).file_id, title: nameOf(file) }]),
  channel_id,
  ...(thread_ts !== undefined && { thread_ts }),
})

/** Shows a file that was not shown yet. Undefined: it is shown. */
export const showFile = async (step: FileStep): Promise<Failed | undefined> => {
  const { api, progress, key } = step
  // It was asked for and nothing came back, such as when the daemon died: Slack takes it once.
  if (progress.upload(key).completion_requested) return unknownCompletion
  const failed = progress.upload(key).uploaded ? undefined : await send(step)
  if (failed !== undefined) return failed
  await progress.setUpload(key, { completion_requested: true })
  const method = 'files.completeUploadExternal'
  const came = completion(await ask(api, { method, args: completionArgs(step), form: true }))
  if (came.type === 'completed') await progress.setUpload(key, { completed: true })
  if (came.type === 'again') await progress.setUpload(key, { completion_requested: false })
  return came.type === 'completed' ? undefined : came.failed
}
