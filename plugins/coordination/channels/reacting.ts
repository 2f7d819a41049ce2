/** Emojis that members give to messages (channels-20). */
import { digest } from '../../../core/plugin.js'
import type { Channels } from './contract.js'
import { channelErrors } from './errors.js'
import { mostMemberId } from './members.js'
import { emojisOf, mostEmojis } from './reading.js'
import { within, type ChannelStore } from './record/store.js'
import { nameOf, refuse } from './refuse.js'

/** Most characters of an emoji, which may be a word such as `:tada:`. */
const mostEmoji = 64

const isMember = ({ members }: ChannelStore, channel_id: string, id: string): boolean =>
  members.has(within(channel_id, id)) ||
  members.count('actor', within(channel_id, id)) > 0 ||
  members.count('session', within(channel_id, id)) > 0

export const createReact =
  (store: ChannelStore): Channels['react'] =>
  (tx, { message: { message_id, channel_id, root_message_id }, is, ...wish }) => {
    const actor_id = nameOf('actor_id', wish.actor_id, mostMemberId)
    const emoji = nameOf('emoji', wish.emoji, mostEmoji)
    if (!isMember(store, channel_id, actor_id)) refuse('actor_id', 'must be a member of the channel')
    const { reactions } = store
    const reaction_id = `${message_id} ${digest([actor_id, emoji])}`
    if (is === 'unset') return tx.remove(reactions, reaction_id, 'it was taken back')
    if (reactions.has(reaction_id)) return
    const isNew = reactions.count('emoji', `${message_id} ${emoji}`) === 0
    if (isNew && emojisOf(store, message_id).length >= mostEmojis)
      throw channelErrors.channel_reactions_full({ details: { message_id, most: mostEmojis } })
    tx.insert(reactions, {
      reaction_id,
      message_id,
      channel_id,
      root_message_id,
      actor_id,
      emoji,
      created_at_ms: tx.now,
    })
  }
