/** What names a message among all of its connector: its channel, and when it was posted. */
export interface MessageName {
  readonly channel_id: string
  readonly ts: string
}
export const messageIdOf = ({ channel_id, ts }: MessageName): string => `${channel_id}/${ts}`
export const messageNameIn = (message_id: string): MessageName => {
  const [channel_id = '', ts = ''] = message_id.split('/')
  return { channel_id, ts }
}
