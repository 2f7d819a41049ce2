/** Follows what a subject waits for, down to what nothing else is waited for (explanations-2). */
import type { Log } from '../../../core/plugin.js'
import type { Reason, ReasonSource, Subject, SubjectSource } from './contract.js'

/** A subject with why it does not go on, so many steps below the one that was asked about. */
export interface Explained extends Omit<Subject, 'parts'> {
  readonly depth: number
  readonly reasons: readonly Reason[]
}

export interface Explanation {
  /** The one that was asked about first; each stands behind the one that waits for it. */
  readonly subjects: readonly Explained[]
  readonly is_cut: boolean
}

export interface ExplainParts {
  readonly subjects: () => readonly SubjectSource[]
  readonly reasons: () => readonly ReasonSource[]
  readonly log: Log
}

/** Subjects of one explanation, and reasons of one subject. */
const [mostSubjects, mostReasons] = [50, 50]

const findSubject = async ({ subjects, log }: ExplainParts, id: string): Promise<Subject | undefined> => {
  for (const source of subjects()) {
    try {
      const found = await source.find(id)
      if (found !== undefined) return found
    } catch (error) {
      log.error('a source of subjects failed', { source: source.id, error })
    }
  }
  return undefined
}

/** Whether an id that nobody finds may be of something that is not kept any more. */
export const isExpired = ({ subjects, log }: Pick<ExplainParts, 'subjects' | 'log'>, id: string): boolean =>
  subjects().some((source) => {
    try {
      return source.hasFallen?.(id) === true
    } catch (error) {
      log.error('a source of subjects failed', { source: source.id, error })
      return false
    }
  })

const reasonsOf = async ({ reasons, log }: ExplainParts, subject: Subject): Promise<readonly Reason[]> => {
  const all: Reason[] = []
  for (const source of reasons()) {
    try {
      all.push(...(await source.of(subject)))
    } catch (error) {
      log.error('a source of reasons failed', { source: source.id, error })
    }
  }
  return all.slice(0, mostReasons)
}

/** Undefined for an id that nobody knows. */
export const explain = async (parts: ExplainParts, id: string): Promise<Explanation | undefined> => {
  const explained: Explained[] = []
  const seen = new Set<string>()
  let is_cut = false
  const follow = async (subject: Subject, depth: number): Promise<void> => {
    if (explained.length >= mostSubjects) {
      is_cut = true
      return
    }
    const reasons = await reasonsOf(parts, subject)
    const { parts: made = [], ...rest } = subject
    explained.push({ ...rest, depth, reasons })
    for (const next of [...made, ...reasons.flatMap(({ leads_to = [] }) => leads_to)]) await step(next, depth + 1)
  }
  const step = async (next: string, depth: number): Promise<void> => {
    const subject = seen.has(next) ? undefined : await findSubject(parts, next)
    if (subject === undefined || seen.has(subject.id)) return
    seen.add(next).add(subject.id)
    await follow(subject, depth)
  }
  await step(id, 0)
  return explained.length === 0 ? undefined : { subjects: explained, is_cut }
}
