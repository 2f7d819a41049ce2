import { array, defineRoute, jsonReply, object, string, type Route } from '../../../core/plugin.js'
import { channelErrors, type Channels } from '../channels/contract.js'
import { shownLease, TurnLease } from './record/lease.js'
import type { FloorStore } from './record/store.js'

export interface FloorRouteParts {
  readonly store: FloorStore
  readonly channels: Channels
}

/** Leases of a list. */
const mostListed = 1_000

export const floorRoutes = ({ store, channels }: FloorRouteParts): readonly Route[] => [
  defineRoute({
    id: 'channels.leases',
    method: 'GET',
    path: '/v1/channels/:channel_id/leases',
    summary: 'Who has the floor in the threads of a channel, by the time at which it passes on; at most 1,000.',
    access: 'read',
    params: object({ channel_id: string({ min: 1, max: 400 }) }),
    reply: jsonReply(array(TurnLease)),
    problems: [channelErrors.channel_not_found],
    handler: ({ params: { channel_id } }) => {
      channels.get(channel_id)
      return store.inChannel(channel_id, mostListed).map(shownLease)
    },
  }),
]
