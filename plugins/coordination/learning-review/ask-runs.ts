/** Asks a model what an ended run may teach, one run after the other, each once. */
import type { Collection } from '../../../core/plugin.js'
import type { RunMemories, RunMemory } from '../../execution/memory/contract.js'
import { jsonIn } from '../../execution/models/contract.js'
import type { LearningPolicy, Learnings } from '../learnings/contract.js'
import { askModel, type AskParts } from './judge.js'
import { createRounds, type RoundParts, type Rounds } from './rounds.js'
import { draftFrom, isRedacted } from './capture.js'
import { capturePrompt, captureRole, captureSchema, extractedFrom, type Extracted } from './extract.js'
import type { WaitingCapture } from './store.js'

export interface ModelCaptureParts extends AskParts, RoundParts {
  readonly learnings: Learnings
  readonly memories: () => RunMemories | undefined
  readonly waiting: Collection<WaitingCapture>
}

const mostAttempts = 3
const pauseMs = 60_000
const portion = 32

type Semantic = LearningPolicy['capture']['semantic_candidates']
const semantic = ({ learnings }: ModelCaptureParts): Semantic => learnings.policy().capture.semantic_candidates

/** Undefined where there is nothing to ask about: it is over, forgotten, or has taught something. */
const askable = (parts: ModelCaptureParts, { run_id, session_id }: WaitingCapture): RunMemory | undefined =>
  semantic(parts).enabled && !parts.learnings.isCaptured(run_id, 'semantic')
    ? parts.memories()?.find(session_id, run_id)
    : undefined

/** What a model says of it; undefined where it could not be asked or its answer is none. */
const ask = async (
  parts: ModelCaptureParts,
  { capture, memory }: { readonly capture: WaitingCapture; readonly memory: RunMemory },
  signal: AbortSignal,
): Promise<readonly Extracted[] | undefined> => {
  const asked = semantic(parts)
  const max = asked.max_candidates_per_run
  const answer = await askModel(
    parts,
    {
      purpose: 'learning_capture',
      asked,
      source: capture,
      system: captureRole,
      text: parts.redact(capturePrompt(memory, capture, max)),
      schema: captureSchema(max),
    },
    signal,
  )
  if (answer.type === 'failed') {
    if (!signal.aborted)
      parts.log.warn('a model did not say what a run teaches: it could not be asked, or its answer does not fit', {
        run_id: capture.run_id,
        code: answer.code,
      })
    return undefined
  }
  const isSecret = (text: string): boolean => isRedacted(text) || parts.learnings.tellsSecret(text)
  return extractedFrom(answer.value ?? jsonIn(answer.text), { max, isSecret })
}

/** Its candidates and the end of its wait are one commit; where it fails it waits again, a few times. */
const settle = (
  parts: ModelCaptureParts,
  capture: WaitingCapture,
  found: readonly Extracted[] | undefined,
): Promise<void> => {
  const { state, waiting, learnings } = parts
  return state.commit((tx) => {
    if (!waiting.has(capture.run_id)) return
    const attempts = capture.attempts + 1
    if (found === undefined && attempts < mostAttempts)
      return tx.put(waiting, { ...capture, attempts, next_attempt_at_ms: tx.now + pauseMs * 2 ** capture.attempts })
    if (askable(parts, capture) !== undefined)
      for (const said of found ?? []) learnings.propose(tx, draftFrom(capture, said))
    tx.remove(waiting, capture.run_id, 'it was looked at')
  })
}

const look = async (parts: ModelCaptureParts, run_id: string, signal: AbortSignal): Promise<void> => {
  const capture = parts.waiting.find(run_id)
  if (capture === undefined) return
  const memory = askable(parts, capture)
  if (memory === undefined) return settle(parts, capture, [])
  if (capture.next_attempt_at_ms > parts.clock.now()) return
  const found = await ask(parts, { capture, memory }, signal)
  if (!signal.aborted) await settle(parts, capture, found)
}

const round = async (parts: ModelCaptureParts, signal: AbortSignal): Promise<void> => {
  for (let beyond: string | undefined; !signal.aborted;) {
    const ids = parts.waiting.page({
      index: 'all',
      group: 'all',
      limit: portion,
      ...(beyond !== undefined && { beyond }),
    })
    if (ids.length === 0) return
    for (const run_id of ids) {
      if (signal.aborted) return
      await look(parts, run_id, signal)
    }
    beyond = ids.at(-1)
  }
}

export const createModelCapture = (parts: ModelCaptureParts): Rounds =>
  createRounds(parts, {
    fact: 'ended runs could not be looked at for what they teach',
    round: (signal) => round(parts, signal),
  })
