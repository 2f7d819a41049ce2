/** Whether a text bears out what a candidate says. Pure. */
import type { RunMemory } from '../../execution/memory/contract.js'
import type { LearningCandidate } from '../learnings/contract.js'
import { asksOrDoubts, gap, lastSentences, openQuote, unquoted } from './doubts.js'
import { isSaid } from './evaluate.js'
import { hasLabel, withoutLabel } from './labels.js'
import { denies, termsOf } from './words.js'

const leastTerms = 2

const includesAll = (of: ReadonlySet<string>, terms: ReadonlySet<string>): boolean =>
  [...terms].every((term) => of.has(term))

/** Signs at the beginning of a line that is quoted; a text that is remembered has its lines in a row. */
const quotedLine = /(?:^|\s)>+\s/u

/** Whether the content, which stands there, is said there. Behind a label its line was looked at when it was taken. */
const isSaidAt = (content: string, text: string, at: number): boolean => {
  const prefix = text.slice(0, at)
  const bare = withoutLabel(prefix)
  const isLabelled = bare !== prefix
  const rest = text.slice(at + content.length)
  const end = isLabelled ? /(?=\p{L}|\p{N})/u : gap
  const [behind = ''] = /[.!?…]$/u.test(content) ? [] : rest.split(end)
  const [before, own] = lastSentences(bare)
  const around = [before, own].filter((one) => !isLabelled || !hasLabel(one)).concat(behind)
  const terms = termsOf(content)
  return (
    openQuote(bare) === undefined &&
    !quotedLine.test(own) &&
    !around.some((one) => asksOrDoubts(one) || denies(one, terms))
  )
}

const places = (content: string, text: string): readonly number[] => {
  const found: number[] = []
  for (let at = text.indexOf(content); at >= 0; at = text.indexOf(content, at + content.length)) found.push(at)
  return found
}

/** True of a text that has all its terms, and says nothing that may be about them otherwise. */
const hasTerms = (content: string, text: string): boolean => {
  const terms = termsOf(content)
  const isDoubted = denies(text, terms) || (asksOrDoubts(text) && !asksOrDoubts(content)) || quotedLine.test(text)
  return terms.size >= leastTerms && !isDoubted && includesAll(termsOf(unquoted(text)), terms)
}

/** True of a text that says the content as it is, or with all its terms, and does not ask, doubt, deny or quote it. */
export const bearsOut = (content: string, text: string): boolean => {
  const found = content === '' ? [] : places(content, text)
  return found.length > 0 ? found.some((at) => isSaidAt(content, text, at)) : hasTerms(content, text)
}

type Claim = Pick<LearningCandidate, 'origin' | 'kind' | 'content' | 'source' | 'evidence_refs'>

/** True of what may be borne out by what is remembered of its run. */
export const restsOnMemory = ({ origin, kind, source, evidence_refs = [] }: Omit<Claim, 'content'>): boolean =>
  origin === 'daemon' &&
  isSaid({ kind }) &&
  source.run_id !== undefined &&
  evidence_refs.some(({ run_id }) => run_id === source.run_id)

/**
 * Each text of a memory counts by itself: what is half in one and half in another was not said. The outcome, which is
 * in the summary, too, does not count: what a model says bears out nothing that a model took from it.
 */
export const isInMemory = (
  { content }: Pick<Claim, 'content'>,
  { request_preview = '', failure_markers }: Pick<RunMemory, 'request_preview' | 'failure_markers'>,
): boolean => [request_preview, ...failure_markers].some((text) => bearsOut(content.trim(), text))

/** Artifacts of its run that a candidate names, each once. */
export const namedArtifacts = ({ source, evidence_refs = [] }: Pick<Claim, 'source' | 'evidence_refs'>): string[] => [
  ...new Set(
    evidence_refs.flatMap(({ run_id, artifact_id }) =>
      run_id === source.run_id && artifact_id !== undefined ? [artifact_id] : [],
    ),
  ),
]

/** Evidence is JSON, in which a quote or the end of a line is written otherwise. */
export const isInEvidence = ({ content }: Pick<Claim, 'content'>, text: string): boolean => {
  const bare = content.trim()
  return text.includes(bare) || text.includes(JSON.stringify(bare).slice(1, -1))
}
