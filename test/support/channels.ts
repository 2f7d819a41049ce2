/** Short forms for tests of channels. */
import type { Answer, Ask } from './daemon.js'

interface Target {
  readonly request: Ask
}

export const person = (member_id: string, more: object = {}) => ({
  member_id,
  member_kind: 'human_actor',
  display_name: member_id,
  ...more,
})
export const speaker = (session_id: string, more: object = {}) => ({
  member_id: session_id,
  member_kind: 'session',
  display_name: `The ${session_id}`,
  ...more,
})

/** Makes a channel. */
export const channel = async ({ request }: Target, channel_id: string, more: object = {}): Promise<any> => {
  const answer = await request('POST', '/v1/channels', { channel_id, title: `Channel ${channel_id}`, ...more })
  if (answer.status !== 201) throw new TypeError(answer.text)
  return answer.body
}

export const say = ({ request }: Target, channel_id: string, body: object): Promise<Answer> =>
  request('POST', `/v1/channels/${channel_id}/messages`, body)

/** Says it, and answers with the message. */
export const said = async (daemon: Target, channel_id: string, body: object): Promise<any> => {
  const answer = await say(daemon, channel_id, body)
  if (answer.status !== 201) throw new TypeError(answer.text)
  return answer.body
}
