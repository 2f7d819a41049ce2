import type { Json } from '../../../../core/plugin.js'

/** What names a message among all of its connector: its channel, and when it was posted. */
export interface MessageName {
  readonly channel_id: string
  readonly ts: string
}
/** A channel or time in an answer of a platform, as it may be kept; undefined for what can be none. */
export const namedIn = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && /^[A-Za-z0-9._-]{1,100}$/u.test(value) ? value : undefined

export const messageIdOf = ({ channel_id, ts }: MessageName): string => `${channel_id}/${ts}`
export const messageNameIn = (message_id: string): MessageName => {
  const [channel_id = '', ts = ''] = message_id.split('/')
  return { channel_id, ts }
}
