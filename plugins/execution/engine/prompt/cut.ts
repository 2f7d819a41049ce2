/**
 * What of a conversation is sent where it does not fit (prompt-5). The oldest runs go first; then the oldest turns of
 * the newest run, but not what it was told; the newest turn stays. A call and its result go together.
 */
import type { ModelMessage } from '../../models/contract.js'

/** A conversation, as it is known to the one who cuts. */
export interface Conversation {
  readonly messages: readonly ModelMessage[]
  /** Where each run begins, oldest first. */
  readonly starts: readonly { readonly at: number }[]
  /** True if the first message sums up what was before: it stays. */
  readonly summed: boolean
  /** True if something before it is not shown. */
  readonly lacking: boolean
}

/** Of a conversation: `from` is where the part begins that stays, and `kept` is what stays before it. */
export interface Cut {
  readonly from: number
  readonly kept: readonly number[]
}

export type Weigh = (message: ModelMessage) => number

/** What stands where messages are left out. */
export const leftOut: ModelMessage = {
  role: 'user',
  content: [
    {
      type: 'text',
      text: '<conversation_start>\nEarlier messages of this conversation are not shown.\n</conversation_start>',
    },
  ],
}

/** Where a conversation may begin anew: a result never stands without its call. */
const mayBegin = (message: ModelMessage | undefined): boolean => message !== undefined && message.role !== 'tool'

/** Where the newest turn begins: the last answer, or what the newest run was told. */
export const newestTurn = ({ messages, starts }: Conversation): number => {
  const first = starts.at(-1)?.at ?? 0
  const answer = messages.findLastIndex(({ role }) => role === 'assistant')
  return Math.max(first, answer)
}

/** Every way to cut, from the one that leaves most. */
export function* cutsOf(conversation: Conversation): Generator<Cut> {
  const { messages, starts, summed } = conversation
  const head = summed ? [0] : []
  const first = starts.at(-1)?.at ?? head.length
  for (const { at } of starts) if (at > head.length) yield { from: at, kept: head }
  const newest = newestTurn(conversation)
  for (let from = first + 2; from <= newest; from += 1)
    if (mayBegin(messages[from])) yield { from, kept: [...head, first] }
}

/** So much of the room goes at once: what is sent begins at the same place for a while, and providers reuse it. */
const stride = 1 / 4

/** The cut for so much room; undefined if not even the newest turn fits: `smallest` is what leaves least. */
export const cutFor = (
  conversation: Conversation,
  room: number,
  weigh: Weigh,
): { readonly cut: Cut | undefined; readonly smallest: Cut | undefined } => {
  const weights = conversation.messages.map(weigh)
  const before = [0]
  for (const weight of weights) before.push((before.at(-1) ?? 0) + weight)
  const all = before.at(-1) ?? 0
  const bytesOf = ({ from, kept }: Cut): number =>
    all - (before[from] ?? 0) + kept.reduce((sum, at) => sum + (weights[at] ?? 0), 0)
  const mark = weigh(leftOut)
  const step = Math.max(1, room * stride)
  const wanted = all - Math.ceil((all + mark - room) / step) * step
  let fitting: Cut | undefined
  let smallest: Cut | undefined
  for (const cut of cutsOf(conversation)) {
    smallest = cut
    const bytes = bytesOf(cut)
    if (bytes + mark > room) continue
    if (bytes <= wanted) return { cut, smallest }
    fitting ??= cut
  }
  return { cut: fitting, smallest }
}

/** The messages that are sent. */
export const cutMessages = ({ messages, summed, lacking }: Conversation, { from, kept }: Cut): ModelMessage[] => {
  const head = kept.flatMap((at) => messages[at] ?? [])
  const tail = messages.slice(from)
  const isWhole = from <= (summed ? 1 : 0) && !lacking
  if (isWhole) return [...head, ...tail]
  return summed ? [...head.slice(0, 1), leftOut, ...head.slice(1), ...tail] : [leftOut, ...head, ...tail]
}
