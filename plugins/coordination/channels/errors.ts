import { defineErrors } from '../../../core/plugin.js'

/** Problems of channels. */
export const channelErrors = defineErrors({
  channel_not_found: {
    status: 404,
    domain: 'channels',
    detail: 'There is no channel {channel_id}.',
    action: 'List those that there are with GET /v1/channels.',
  },
  channel_exists: {
    status: 409,
    domain: 'channels',
    detail: 'There is a channel {channel_id} already, or what it held is still being removed.',
    action: 'Take another channel_id, or change that channel with PUT /v1/channels/{channel_id}.',
  },
  channel_in_use: {
    status: 409,
    domain: 'channels',
    detail: 'The channel {channel_id} cannot be deleted: {reason}',
    action: 'Take away what keeps it first.',
  },
  channel_member_not_found: {
    status: 404,
    domain: 'channels',
    detail: 'The channel {channel_id} has no member {member_id}.',
    action: 'List its members with GET /v1/channels/{channel_id}/members.',
  },
  channel_message_not_found: {
    status: 404,
    domain: 'channels',
    detail: 'The channel {channel_id} has no message {message_id}.',
    action: 'List its messages with GET /v1/channels/{channel_id}/messages.',
  },
  channel_full: {
    status: 409,
    domain: 'channels',
    detail: 'The channel {channel_id} has {most} members, which is the most.',
    action: 'Take members away, or make another channel.',
  },
  channel_reactions_full: {
    status: 409,
    domain: 'channels',
    detail: 'The message {message_id} has {most} different emojis, which is the most.',
    action: 'Take one of those that it has.',
  },
  channel_invalid_request: {
    status: 400,
    domain: 'channels',
    detail: 'This cannot be done in the channel: {reason}',
    action: 'Correct what is named.',
  },
})
