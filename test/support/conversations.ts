/** Conversations of any shape, as journals tell them. */
import fc from 'fast-check'
import { unsafeCast } from '../../core/base/schema.js'
import { foldEntry } from '../../plugins/execution/engine/thread/fold.js'
import { beginThread, type Thread } from '../../plugins/execution/engine/thread/thread.js'
import type { ModelMessage } from '../../plugins/execution/models/contract.js'
import type { JournalEntry } from '../../plugins/execution/sessions/contract.js'

type Step =
  | { readonly type: 'start' | 'end' | 'context'; readonly size: number }
  | { readonly type: 'answer'; readonly calls: number; readonly size: number }
  | { readonly type: 'outcome'; readonly which: number; readonly size: number }

const size = fc.nat({ max: 400 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ type: fc.constant('start' as const), size }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('end' as const), size }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('context' as const), size }) },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('answer' as const), calls: fc.nat({ max: 3 }), size }) },
  { weight: 16, arbitrary: fc.record({ type: fc.constant('outcome' as const), which: fc.nat({ max: 3 }), size }) },
)
/** Steps in any order, whether they make sense or not. */
export const steps: fc.Arbitrary<Step[]> = fc
  .array(step, { minLength: 20, maxLength: 80 })
  .map((list) => [{ type: 'start', size: 1 }, ...list])

const entryOf = (one: Step, at: number, thread: Thread): JournalEntry => {
  const text = 'x'.repeat(one.size)
  const head = { run_id: `r${thread.starts.length}`, at }
  const calls = thread.progress?.calls ?? []
  switch (one.type) {
    case 'start':
      return { ...head, type: 'event', event: { type: 'started' } }
    case 'end':
      return { ...head, run_id: thread.progress?.run_id ?? '', type: 'event', event: { type: 'completed' } }
    case 'context':
      return unsafeCast({
        ...head,
        type: 'intercepted',
        event: 'post_tool_use',
        by: [],
        tool_call_id: calls[0]?.part.id,
        contexts: [text],
      })
    case 'answer': {
      const made = Array.from({ length: one.calls }, (_, n) => ({
        type: 'tool_call' as const,
        id: `c${at}-${n}`,
        name: 'peek',
        input: {},
      }))
      return { ...head, type: 'message', message: { role: 'assistant', content: [{ type: 'text', text }, ...made] } }
    }
    case 'outcome': {
      const left = calls.filter(({ state }) => state.type !== 'done')
      const tool_call_id = left[one.which % Math.max(1, left.length)]?.part.id ?? 'nobody'
      return { ...head, type: 'outcome', tool_call_id, tool_name: 'peek', state: 'done', output: text }
    }
  }
}

const isOpen = (thread: Thread): boolean => thread.progress?.calls.some(({ state }) => state.type !== 'done') === true

/** A thread of these steps; each time that a model would be asked, it is looked at, and may be told something. */
export const foldSteps = (
  list: readonly Step[],
  look: (thread: Thread) => JournalEntry | undefined | void,
): { readonly thread: Thread; readonly entries: readonly JournalEntry[] } => {
  const thread = beginThread(0, () => [{ type: 'text', text: 'do it' }])
  const entries: JournalEntry[] = []
  const fold = (entry: JournalEntry): void => {
    entries.push(entry)
    foldEntry(thread, entries.length, entry)
  }
  for (const one of list) {
    // A model is asked for the next answer when every call of the last one has its result.
    if (one.type === 'answer' && (thread.progress === undefined || isOpen(thread))) continue
    fold(entryOf(one, entries.length + 1, thread))
    if (thread.progress === undefined || isOpen(thread)) continue
    const told = look(thread)
    if (told !== undefined) fold(told)
  }
  return { thread, entries }
}

/** What providers refuse: calls without results right behind them, and results without calls right before them. */
export const orphans = (messages: readonly ModelMessage[]): string[] =>
  messages.flatMap((message, at) => {
    const [before, after] = [messages[at - 1], messages[at + 1]]
    const answered = after?.role === 'tool' ? after.content.map(({ tool_call_id }) => tool_call_id) : []
    const asked =
      before?.role === 'assistant' ? before.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : [])) : []
    if (message.role === 'tool')
      return message.content.flatMap(({ tool_call_id }) => (asked.includes(tool_call_id) ? [] : [tool_call_id]))
    if (message.role === 'user') return []
    return message.content.flatMap((part) =>
      part.type === 'tool_call' && !answered.includes(part.id) ? [part.id] : [],
    )
  })
