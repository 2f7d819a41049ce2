/**
 * What starts, recoveries and repairs found: logged once, shown in the status, and kept in a document until an operator
 * has acknowledged it. Where nothing can be written, memory and the status have it.
 */
import type { Clock } from '../base/clock.js'
import type { Warning } from '../base/health.js'
import type { Ids } from '../base/ids.js'
import type { Log } from '../base/text/log.js'
import { parse } from '../base/parse.js'
import { array, doc, enums, integer, named, object, optional, string, timestamp, type Infer } from '../base/schema.js'
import type { State } from '../state/contract.js'
import { errors } from '../state/errors.js'

export const StateFinding = named(
  'StateFinding',
  object({
    finding_id: string(),
    code: string(),
    severity: enums(['info', 'warning', 'error']),
    file: optional(doc(string(), 'Relative to the state root.')),
    byte: optional(doc(integer({ min: 0 }), 'Where in the file.')),
    message: string(),
    action: doc(string(), 'What was done or what to do, one sentence.'),
    found_at_ms: timestamp(),
    last_found_at_ms: timestamp(),
    times: doc(integer({ min: 1 }), 'Starts that found it.'),
  }),
)
export type StateFinding = Infer<typeof StateFinding>

/** What was found now. Found again before it was acknowledged, it is the same finding: `code` and `about` name it. */
export interface Found extends Pick<StateFinding, 'code' | 'severity' | 'message' | 'action'> {
  readonly about?: string
  readonly file?: string | undefined
  readonly byte?: number | undefined
}

type Kept = { readonly about: string; readonly finding: StateFinding }
const Stored = object({ findings: array(object({ about: string(), finding: StateFinding })) })

export interface Findings {
  /** Takes what earlier starts kept; call when the state is loaded. */
  load(): void
  /** Logs what was not found before in this life. */
  note(found: readonly Found[]): void
  /** Keeps what was noted for the next starts; storage that refuses writes is no reason not to go on. */
  keep(): Promise<void>
  /** What nobody has acknowledged, the oldest first. */
  list(): readonly StateFinding[]
  /** One of them or `all`; returns how many. Throws `finding_not_found`. */
  acknowledge(finding_id: string): Promise<number>
  warnings(): readonly Warning[]
}

export interface FindingsParts {
  readonly state: State
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
}

/** The document that keeps them. */
export const nameOfFindings = 'findings'
/** A root on which more is found has other worries. */
const most = 500

const keyOf = ({ code, about }: { readonly code: string; readonly about?: string | undefined }): string =>
  `${code} ${about ?? ''}`

/** What the document holds; undefined if it is of another shape. */
export const keptIn = (document: unknown): readonly Kept[] | undefined => {
  const parsed = parse(Stored, document ?? { findings: [] })
  return parsed.ok ? parsed.value.findings : undefined
}

/** What is kept of something found now. */
export const merged = (
  { about, ...found }: Found,
  before: StateFinding | undefined,
  { clock, ids }: Pick<FindingsParts, 'clock' | 'ids'>,
): Kept => {
  const now = clock.now()
  const finding: StateFinding = {
    finding_id: before?.finding_id ?? ids.make('finding'),
    ...found,
    found_at_ms: before?.found_at_ms ?? now,
    last_found_at_ms: Math.max(now, before?.last_found_at_ms ?? 0),
    times: (before?.times ?? 0) + 1,
  }
  return { about: about ?? '', finding }
}

export const createFindings = (parts: FindingsParts): Findings => {
  const { state, log } = parts
  const kept = new Map<string, Kept>()
  const seen = new Set<string>()
  let unsaved = false
  const save = (): Promise<void> => state.document(nameOfFindings).write({ findings: [...kept.values()] })

  const load = (): void => {
    const stored = keptIn(state.document(nameOfFindings).read())
    if (stored === undefined) return log.warn('the kept findings cannot be read')
    const noted = [...kept]
    kept.clear()
    for (const one of stored) kept.set(keyOf({ code: one.finding.code, about: one.about }), one)
    for (const [key, { about, finding }] of noted)
      kept.set(key, merged({ ...finding, about }, kept.get(key)?.finding, parts))
  }
  const noteOne = (found: Found): void => {
    const key = keyOf(found)
    if (seen.has(key)) return
    seen.add(key)
    const one = merged(found, kept.get(key)?.finding, parts)
    kept.set(key, one)
    unsaved = true
    const level = { info: log.info, warning: log.warn, error: log.error }[found.severity]
    const { code, file, byte, action } = one.finding
    level(found.message, { code, ...(file !== undefined && { file, byte }), action })
    for (const oldest of kept.keys()) if (kept.size > most) kept.delete(oldest)
  }
  const keep = async (): Promise<void> => {
    if (!unsaved || state.health.mode !== 'ok') return
    try {
      unsaved = false
      await save()
    } catch (error) {
      unsaved = true
      log.warn('the findings of this start were not kept', { error })
    }
  }
  const acknowledge = async (finding_id: string): Promise<number> => {
    const gone = [...kept].filter(([, { finding }]) => finding_id === 'all' || finding.finding_id === finding_id)
    if (gone.length === 0 && finding_id !== 'all') throw errors.finding_not_found({ details: { finding_id } })
    for (const [key] of gone) kept.delete(key)
    try {
      if (gone.length > 0) await save()
    } catch (error) {
      for (const [key, one] of gone) kept.set(key, one)
      throw error
    }
    for (const [, { finding }] of gone)
      log.info('a finding was acknowledged', { finding_id: finding.finding_id, code: finding.code })
    return gone.length
  }
  const list = (): readonly StateFinding[] => Array.from(kept.values(), ({ finding }) => finding)
  return { load, note: (found) => found.forEach(noteOne), keep, list, acknowledge, warnings: () => warn(list()) }
}

const rank = { error: 0, warning: 1, info: 2 }

/** One warning for all of them, as grave as the gravest; none for what needs nobody's hand. */
const warn = (findings: readonly StateFinding[]): Warning[] => {
  const [gravest] = findings.toSorted((a, b) => rank[a.severity] - rank[b.severity])
  if (gravest === undefined || gravest.severity === 'info') return []
  const others = findings.length === 1 ? '' : ` And ${findings.length - 1} more.`
  return [
    {
      severity: gravest.severity,
      code: 'state_findings_unacknowledged',
      related_id: gravest.finding_id,
      message: `${gravest.message}${others}`,
      action: 'See what was found: holdfast state findings',
    },
  ]
}
