/** What the daemon brings of ended runs by itself, in the commit in which they are remembered. */
import type { Collection, Log, Tx } from '../../../core/plugin.js'
import type { RunMemory, RunMemoryUser } from '../../execution/memory/contract.js'
import type { TerminalRun } from '../../execution/runs/contract.js'
import type { CandidateDraft, Learnings } from '../learnings/contract.js'
import { isAsked } from './asked.js'
import { hasLabel, labelledIn, type Labelled } from './labels.js'
import { mostWaiting, type WaitingCapture } from './store.js'

export interface CaptureParts {
  readonly learnings: Learnings
  readonly waiting: Collection<WaitingCapture>
  readonly log: Log
  /** What a run was asked, in its lines. */
  readonly request: (run: TerminalRun) => string
  /** A run waits for a model. */
  readonly wake: () => void
}

/** How long a summary is a candidate. */
const summaryLifeMs = 30 * 86_400_000
/** Summaries of one session that nobody published; as many as a session remembers runs, unless that was changed. */
const mostSummaries = 32
const labelConfidence = 98

type Origin = Pick<WaitingCapture, 'run_id' | 'session_id' | 'agent_id' | 'is_told'>

/** What the daemon says of where a candidate comes from. What a session was told by others is evidence of nothing. */
export const draftFrom = (
  { run_id, session_id, agent_id, is_told }: Origin,
  said: Pick<CandidateDraft, 'kind' | 'content' | 'confidence'>,
): CandidateDraft => ({
  scope: { kind: 'session', id: session_id },
  sensitivity: 'scoped',
  source: { run_id, session_id, agent_id },
  ...(is_told !== true && { evidence_refs: [{ run_id }] }),
  ...said,
})

/** What was taken out of a text leaves a sentence that says something else. */
export const isRedacted = (text: string): boolean => text.includes('<redacted')

const makeRoom = ({ learnings }: CaptureParts, tx: Tx, session_id: string): void => {
  const { candidates } = learnings
  const beyond = candidates.count('summaries', session_id) - mostSummaries + 1
  if (beyond > 0) learnings.forget(tx, candidates.page({ index: 'summaries', group: session_id, limit: beyond }))
}

interface Ended {
  readonly run: TerminalRun
  readonly memory: RunMemory
}

const summarise = (parts: CaptureParts, tx: Tx, { run, memory }: Ended): void => {
  const expires_at_ms = run.finished_at_ms + summaryLifeMs
  if (expires_at_ms <= tx.now || parts.learnings.isCaptured(run.run_id, 'summary')) return
  makeRoom(parts, tx, run.session_id)
  const { evidence_refs: _, ...draft } = draftFrom(run, {
    kind: 'run_summary',
    content: memory.summary,
    confidence: 100,
  })
  parts.learnings.propose(tx, { ...draft, sensitivity: 'sensitive', expires_at_ms })
}

/** Most characters of a request that are looked at. */
const mostRead = 8_000

/** What was cut off or taken out of what is remembered of the run is left out. */
const labelledOf = (request: string, { request_preview = '' }: RunMemory): readonly Labelled[] =>
  labelledIn(request).filter(({ content }) => request_preview.includes(content) && !isRedacted(content))

const take = (parts: CaptureParts, tx: Tx, { run, memory }: Ended): void => {
  const { learnings, waiting, log, wake } = parts
  const { run_id, session_id, agent_id, kind, status } = run
  const { max_candidates_per_run } = learnings.policy().capture.semantic_candidates
  if (status !== 'completed' || learnings.isCaptured(run_id, 'semantic') || waiting.has(run_id)) return
  const is_told = !isAsked(run)
  const request = is_told ? '' : parts.request(run).slice(0, mostRead)
  for (const said of labelledOf(request, memory).slice(0, max_candidates_per_run))
    learnings.propose(tx, draftFrom(run, { ...said, confidence: labelConfidence }))
  if (hasLabel(request)) return
  if (waiting.count('all', 'all') >= mostWaiting)
    return log.warn('a run is not looked at for what it may teach: too many wait', { run_id })
  const capture = { run_id, session_id, agent_id, kind, attempts: 0, next_attempt_at_ms: tx.now }
  tx.put(waiting, is_told ? { ...capture, is_told } : capture)
  tx.after(wake)
}

export const createCapture = (parts: CaptureParts): RunMemoryUser => ({
  id: 'learning-review',
  remembered(tx, run, memory) {
    const { run_summary_candidates, semantic_candidates } = parts.learnings.policy().capture
    if (run_summary_candidates) summarise(parts, tx, { run, memory })
    if (semantic_candidates.enabled) take(parts, tx, { run, memory })
  },
})
