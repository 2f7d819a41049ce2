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

/** The one id of a member, whichever of its ids is given: each reacts once. Undefined where nobody has it. */
const actorOf = ({ members }: ChannelStore, channel_id: string, id: string): string | undefined => {
  const key = within(channel_id, id)
  if (members.count('actor', key) > 0 || members.count('session', key) > 0) return id
  const member = members.find(key)
  return member && (member.session_id ?? member.actor_id)
}

export const createReact =
  (store: ChannelStore): Channels['react'] =>
  (tx, { message: { message_id, channel_id, root_message_id }, is, ...wish }) => {
    const given = nameOf('actor_id', wish.actor_id, mostMemberId)
    const actor_id = actorOf(store, channel_id, given) ?? refuse('actor_id', 'must be a member of the channel')
    const emoji = nameOf('emoji', wish.emoji, mostEmoji)
    const { reactions } = store
    const idOf = (actor: string): string => `${message_id} ${digest([actor, emoji])}`
    const reaction_id = idOf(actor_id)
    if (is === 'unset') {
      // Earlier versions kept the id that was given.
      for (const id of new Set([reaction_id, idOf(given)])) tx.remove(reactions, id, 'it was taken back')
      return
    }
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
