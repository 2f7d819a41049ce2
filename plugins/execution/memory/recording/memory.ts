/** What is remembered of a run: a pure function of the run and its texts, so that it can be made again. */
import type { TerminalRun } from '../../runs/contract.js'
import type { MemoryRecord, RunMemory } from './store.js'

/** Removes what must not be stored. */
export type Clean = (text: string) => string
export interface RunTexts {
  readonly request: string
  readonly outcome?: string
}

/** More of a text than this is not looked at. */
const longest = 8_000
const previewLength = 200
const outcomeLength = 400
const summaryLength = 480

/** Cut between code points. */
export const cutTo = (text: string, most: number): string => {
  if (text.length <= most) return text
  const points = Array.from(text.slice(0, most * 2))
  return points.length <= most ? text.slice(0, most * 2) : `${points.slice(0, most - 1).join('')}…`
}

/** The beginning of a text without a word that is cut in two: half of a secret does not look like one. */
const beginning = (text: string): string => {
  if (text.length <= longest) return text
  const start = text.slice(0, longest)
  return start.slice(0, Math.max(0, start.search(/\s\S*$/u)))
}

const brief = (text: string, most: number, clean: Clean): string =>
  cutTo(clean(beginning(text)).replaceAll(/\s+/gu, ' ').trim(), most)

/** The run as its session remembers it. */
export const rememberRun = (run: TerminalRun, texts: RunTexts, clean: Clean): RunMemory => {
  const request = brief(texts.request, previewLength, clean)
  const outcome = brief(texts.outcome ?? '', outcomeLength, clean)
  const error = brief(run.error ?? '', previewLength, clean)
  const failure_markers = run.status === 'completed' ? [] : [run.status, ...(error === '' ? [] : [`error: ${error}`])]
  return {
    run_id: run.run_id,
    recorded_at_ms: run.finished_at_ms,
    status: run.status,
    ...(request !== '' && { request_preview: request }),
    ...(outcome !== '' && { outcome_preview: outcome }),
    artifact_ids: [],
    failure_markers,
    summary: summaryOf({ request, outcome, status: run.status, error }),
  }
}

const summaryOf = ({
  request,
  outcome,
  status,
  error,
}: {
  request: string
  outcome: string
  status: string
  error: string
}): string =>
  cutTo(
    [
      ...(request === '' ? [] : [`Request: ${cutTo(request, 160)}`]),
      ...(outcome === '' ? [] : [`Result: ${cutTo(outcome, 200)}`]),
      `Status: ${status}${error === '' ? '' : ` (${error})`}`,
    ].join('\n'),
    summaryLength,
  )

export interface Bounds {
  readonly now: number
  readonly retention_ms: number
  readonly max_tracked_per_session: number
}

const inOrder = (a: RunMemory, b: RunMemory): number =>
  a.recorded_at_ms - b.recorded_at_ms || (a.run_id < b.run_id ? -1 : 1)

/** What is kept of memories: none twice, none that is too old, and the newest only. Oldest first. */
export const keep = (
  memories: readonly RunMemory[],
  { now, retention_ms, max_tracked_per_session }: Bounds,
): RunMemory[] => {
  const fresh = memories.filter(({ recorded_at_ms }) => recorded_at_ms > now - retention_ms)
  return [...new Map(fresh.map((memory) => [memory.run_id, memory])).values()]
    .toSorted(inOrder)
    .slice(-max_tracked_per_session)
}

export const isRemembered = (record: MemoryRecord | undefined, run_id: string): boolean =>
  record?.memories.some((memory) => memory.run_id === run_id) ?? false
