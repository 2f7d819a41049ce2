/** A session's conversation and the progress of its active run. */
import type { ModelMessage, TextPart } from '../../models/contract.js'
import type { Progress } from './turn.js'

/** Where a run begins: its entry, its first message, and the bytes of all messages before it. */
interface RunStart {
  readonly run_id: string
  readonly seq: number
  readonly at: number
  readonly before: number
}

export interface Thread {
  /** Last journal sequence that was folded in. */
  seq: number
  /** What the model is shown; every call in it has its result. */
  messages: ModelMessage[]
  /** The entry that each message came with. */
  seqs: number[]
  /** True if the first message sums up what was before. */
  summed: boolean
  /** The entry of that summary; 0 without one. */
  summary: number
  /** True if what was said before it is neither there nor summed up. */
  lacking: boolean
  /** True if its model looks at the newest run alone: nothing is missing where the others are left out. */
  readonly alone: boolean
  /** The runs whose messages these are, oldest first. */
  starts: RunStart[]
  /** True if it no longer begins where it was read from. */
  moved: boolean
  /** Compactions that failed in a row. */
  uncompacted: number
  /** How many messages there were after the last compaction. */
  compacted: number
  /** Approximate bytes of all messages so far, with those that were left out. */
  weighed: number
  /** Bytes of messages beyond which the oldest runs are left out. */
  readonly limit: number
  /** Texts of accepted runs that have not started: what was submitted, and what interceptors add. */
  readonly inputs: Map<string, Texts>
  progress: Progress | undefined
  /** Gives the texts of a run that was accepted before the part of the journal that was read; undefined if it fell. */
  readonly find: (run_id: string) => Texts | undefined
}
/** What a run is told: texts, and files that stand there as a line each. */
export type Texts = readonly TextPart[]

interface ThreadOptions {
  readonly limit?: number
  readonly lacking?: boolean
  readonly alone?: boolean
}

export const beginThread = (
  seq: number,
  find: Thread['find'],
  { limit = Infinity, lacking = false, alone = false }: ThreadOptions = {},
): Thread => ({
  find,
  seq,
  limit: alone ? 0 : limit,
  lacking,
  alone,
  summed: false,
  summary: 0,
  messages: [],
  seqs: [],
  moved: false,
  uncompacted: 0,
  compacted: 0,
  starts: [],
  weighed: 0,
  inputs: new Map(),
  progress: undefined,
})

/** The runs that are there as they were; undefined where nothing is missing. */
export const shownRuns = ({ lacking, summed, starts }: Thread): ((run_id: string) => boolean) | undefined =>
  lacking || summed ? (run_id) => starts.some((start) => start.run_id === run_id) : undefined

/** About the bytes of its messages. */
export const shownBytes = ({ weighed, starts }: Thread): number => weighed - (starts[0]?.before ?? 0)

/** About the bytes that a thread keeps in memory: its messages, what surrounds them, and texts that wait. */
export const weightOf = (thread: Thread): number => {
  const { messages, inputs } = thread
  let bytes = threadBytes + messages.length * messageBytes + shownBytes(thread)
  for (const texts of inputs.values()) for (const { text } of texts) bytes += text.length
  return bytes
}
const threadBytes = 2_000
/** Of objects and lists, beside what a message says: most of what a short one takes. */
const messageBytes = 200
