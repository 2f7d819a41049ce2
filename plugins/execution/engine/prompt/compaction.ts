/** Which part of a conversation is summed up (prompt-7). */
import type { ModelMessage } from '../../models/contract.js'
import { newestTurn, type Conversation, type Weigh } from './cut.js'

/** So much of the conversation stays as it is; and so much must go, or it is not worth a call. */
const [stays, least] = [1 / 4, 1 / 5]

export interface Part {
  /** The entry from which the conversation stays as it is. */
  readonly from: number
  /** What is summed up. */
  readonly messages: readonly ModelMessage[]
  /** Bytes of what stays. */
  readonly kept: number
  /** Bytes of all. */
  readonly bytes: number
  /** True if something before it is neither there nor summed up. */
  readonly lacking: boolean
}

interface Counted extends Conversation {
  readonly seqs: readonly number[]
}

/** Where the part that stays may begin: not between a call and its result, nor between messages of one entry. */
const mayBegin = ({ messages, seqs }: Counted, at: number): boolean =>
  messages[at] !== undefined && messages[at].role !== 'tool' && seqs[at] !== seqs[at - 1]

/** Where it begins: whole runs stay, but of the newest one its newest turns may stay alone. */
const beginOf = (conversation: Counted, after: (at: number) => number, room: number): number | undefined => {
  const { starts, summed } = conversation
  const first = starts.at(-1)?.at ?? 0
  const newest = newestTurn(conversation)
  let found: number | undefined
  for (let at = summed ? 2 : 1; at <= newest; at += 1) {
    if (!mayBegin(conversation, at)) continue
    found = at
    if (after(at) <= room) break
  }
  if (found === undefined || found >= first) return found
  const from = found
  return starts.find(({ at }) => at >= from && mayBegin(conversation, at))?.at
}

/** Undefined if there is too little to sum up. */
export const partOf = (conversation: Counted, room: number, weigh: Weigh): Part | undefined => {
  const { messages, seqs, starts, lacking } = conversation
  const before = [0]
  for (const message of messages) before.push((before.at(-1) ?? 0) + weigh(message))
  const bytes = before.at(-1) ?? 0
  const at = beginOf(conversation, (from) => bytes - (before[from] ?? 0), Math.min(room, bytes) * stays)
  const from = at === undefined ? undefined : seqs[at]
  if (at === undefined || from === undefined) return undefined
  const first = starts.at(-1)?.at ?? 0
  const input = first < at ? messages[first] : undefined
  const kept = bytes - (before[at] ?? 0) + (input === undefined ? 0 : weigh(input))
  return bytes - kept < bytes * least ? undefined : { from, messages: messages.slice(0, at), kept, bytes, lacking }
}
