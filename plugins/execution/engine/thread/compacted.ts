/** A conversation whose older part is summed up: what a compaction of the journal makes of it (prompt-8). */
import type { ModelMessage } from '../../models/contract.js'
import { summaryMessage } from '../prompt/summary.js'
import type { Thread } from './thread.js'
import { weigh } from './weight.js'

/** What the newest run was told, where it is cut in its middle. */
const keptInput = ({ starts, messages }: Thread, at: number): ModelMessage | undefined => {
  const newest = starts.at(-1)
  return newest !== undefined && newest.at < at ? messages[newest.at] : undefined
}

/**
 * The summary stands for what came before the entry `from`. What is folded from any earlier place comes to the same.
 * A thread of one run alone has nothing before it.
 */
export const foldCompaction = (
  thread: Thread,
  { from, summary, lacking = false }: { from: number; summary: string; lacking?: boolean },
): void => {
  if (thread.limit === 0) return
  const found = thread.seqs.findIndex((seq) => seq >= from)
  const at = found < 0 ? thread.messages.length : found
  const newest = thread.starts.at(-1)
  const input = keptInput(thread, at)
  const head = [summaryMessage(summary), ...(input === undefined ? [] : [input])]
  thread.messages = [...head, ...thread.messages.slice(at)]
  thread.seqs = [0, ...(input === undefined ? [] : [newest?.seq ?? 0]), ...thread.seqs.slice(at)]
  thread.starts =
    input !== undefined && newest !== undefined
      ? [{ ...newest, at: 1 }]
      : thread.starts.filter((start) => start.at >= at).map((start) => ({ ...start, at: start.at - at + 1 }))
  weighAnew(thread)
  thread.summed = true
  thread.summary = thread.seq
  thread.lacking = lacking
  thread.moved = true
  thread.uncompacted = 0
  thread.compacted = thread.messages.length
  settle(thread)
}

/** Its bytes count from its first message on. */
const weighAnew = (thread: Thread): void => {
  const before = [0]
  for (const message of thread.messages) before.push((before.at(-1) ?? 0) + weigh(message))
  thread.weighed = before.at(-1) ?? 0
  thread.starts = thread.starts.map((start, index) => ({ ...start, before: index === 0 ? 0 : (before[start.at] ?? 0) }))
}

/** Begins a thread with a summary whose entry is not folded again: it stayed when the runs behind it were left out. */
export const beginSummed = (thread: Thread, seq: number, summary: string): void => {
  thread.messages = [summaryMessage(summary)]
  thread.seqs = [0]
  thread.weighed = thread.messages.reduce((sum, message) => sum + weigh(message), 0)
  thread.summed = true
  thread.summary = seq
  thread.compacted = 1
}

export const foldFailedCompaction = (thread: Thread): void => {
  thread.uncompacted += 1
  if (thread.progress !== undefined) thread.progress.uncompacted = thread.progress.turns
  settle(thread)
}

/** A model that refused the conversation is asked once more, whatever came of it. */
const settle = ({ progress }: Thread): void => {
  if (progress?.overflow === 'refused') progress.overflow = 'compacted'
}
