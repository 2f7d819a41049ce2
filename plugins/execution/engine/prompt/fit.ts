/** Makes a conversation fit into its call. What is sent again with more at its end is the same list as before. */
import type { ModelMessage } from '../../models/contract.js'
import type { Budget } from './budget.js'
import { cutFor, cutMessages, type Conversation, type Cut, type Weigh } from './cut.js'

/** What is sent, about its bytes, and how many messages are not; `overflow` if not even the newest turn fits. */
export type Fitted =
  | {
      readonly type: 'fits'
      readonly messages: readonly ModelMessage[]
      readonly bytes: number
      readonly left_out: number
    }
  | { readonly type: 'overflow' }

interface Sent {
  readonly from: number
  readonly kept: number
  readonly lacking: boolean
  readonly messages: ModelMessage[]
  /** How many messages of the conversation are in it. */
  taken: number
}

const sent = new WeakMap<readonly ModelMessage[], Sent>()

const listOf = (conversation: Conversation, cut: Cut): readonly ModelMessage[] => {
  const { messages, lacking } = conversation
  const known = sent.get(messages)
  if (known?.from === cut.from && known.kept === cut.kept.length && known.lacking === lacking) {
    for (; known.taken < messages.length; known.taken += 1)
      known.messages.push(...messages.slice(known.taken, known.taken + 1))
    return known.messages
  }
  const made = cutMessages(conversation, cut)
  sent.set(messages, { from: cut.from, kept: cut.kept.length, lacking, messages: made, taken: messages.length })
  return made
}

const whole = ({ messages, summed, lacking, ...rest }: Conversation, bytes: number): Fitted => ({
  type: 'fits',
  messages: lacking
    ? listOf({ messages, summed, lacking, ...rest }, summed ? { from: 1, kept: [0] } : { from: 0, kept: [] })
    : messages,
  bytes,
  left_out: 0,
})

/** `bytes` are those of all its messages. Where nobody knows the window the model is asked with what is smallest. */
export const fit = (
  conversation: Conversation,
  { bytes, budget, weigh }: { readonly bytes: number; readonly budget: Budget | undefined; readonly weigh: Weigh },
): Fitted => {
  if (budget === undefined || bytes <= budget.bytes) return whole(conversation, bytes)
  const { cut, smallest } = cutFor(conversation, Math.max(0, budget.bytes), weigh)
  const taken = cut ?? (budget.isGuessed ? smallest : undefined)
  if (taken !== undefined) {
    const messages = listOf(conversation, taken)
    const sum = messages.reduce((all, message) => all + weigh(message), 0)
    return { type: 'fits', messages, bytes: sum, left_out: taken.from - taken.kept.length }
  }
  return budget.isGuessed ? whole(conversation, bytes) : { type: 'overflow' }
}
