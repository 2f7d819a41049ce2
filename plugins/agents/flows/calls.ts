/** What the journals of runs say that was called and asked; what was read once is not read again. */
import { createCache, type Cache, type Portions } from '../../../core/plugin.js'
import type { RunRecord, Runs } from '../../execution/runs/contract.js'
import type { JournalEntry } from '../../execution/sessions/contract.js'
import { nativeWebSearch } from '../../execution/tools/contract.js'

/** Of one run, up to an entry of the journal. */
export interface Called {
  last: number
  /** Names of tools whose calls were made, also those that failed; not those that were refused. */
  readonly tools: Set<string>
  /** There were more names than are kept. */
  tools_cut: boolean
  readonly approvals: Set<string>
  readonly questions: Set<string>
}

export interface Calls {
  /** Reads on where it ended before, some entries at a time. */
  of(run: RunRecord): Portions<Called>
}

const mostRuns = 1_000
/** Entries that are read before others are served. */
const slice = 64
/** Names and ids of one run, at most. */
const mostNames = 1_000

const add = (to: Set<string>, names: readonly string[]): void => {
  for (const name of names) if (to.size < mostNames) to.add(name)
}

const note = (called: Called, entry: JournalEntry): void => {
  if (entry.type === 'intent' || (entry.type === 'outcome' && entry.state !== 'refused')) {
    add(called.tools, [entry.tool_name])
    if (!called.tools.has(entry.tool_name)) called.tools_cut = true
  }
  if (entry.type === 'message' && entry.message.role === 'assistant')
    if (entry.message.content.some(({ type }) => type === 'search')) add(called.tools, [nativeWebSearch.name])
  if (entry.type !== 'event') return
  if (entry.event.type === 'waiting_for_approval') add(called.approvals, entry.event.request_ids)
  if (entry.event.type === 'waiting_for_user_question') add(called.questions, entry.event.request_ids)
}

export const createCalls = (runs: Pick<Runs, 'entries'>): Calls => {
  const known: Cache<Called> = createCache<Called>(mostRuns)
  return {
    *of(run) {
      const { run_id, first } = run
      const called = known.get(run_id) ?? {
        last: first - 1,
        tools: new Set<string>(),
        tools_cut: false,
        approvals: new Set<string>(),
        questions: new Set<string>(),
      }
      let left = slice
      for (const { seq, entry } of runs.entries(run, called.last)) {
        note(called, entry)
        called.last = seq
        left -= 1
        if (left > 0) continue
        left = slice
        yield
      }
      known.set(run_id, called)
      return called
    },
  }
}

/** True if a pattern of a playbook, a name or a beginning with a `*`, fits a tool. */
const fits = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name

/** Tools that a playbook does not let its runs call. */
export const strays = (
  names: Iterable<string>,
  { allow, deny }: { readonly allow: readonly string[]; readonly deny: readonly string[] },
): string[] =>
  [...names].filter(
    (name) =>
      deny.some((pattern) => fits(pattern, name)) ||
      (allow.length > 0 && !allow.some((pattern) => fits(pattern, name))),
  )
