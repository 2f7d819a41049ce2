/** Whether a text bears out what a candidate says. Pure. */
import type { RunMemory } from '../../execution/memory/contract.js'
import type { LearningCandidate } from '../learnings/contract.js'
import { isSaid } from './evaluate.js'

const stopWords: ReadonlySet<string> = new Set('a an and are is of the to de des du est et la le les un une'.split(' '))
/** Words that turn what is said into its opposite. */
const denials: ReadonlySet<string> = new Set(
  'not no never none cannot without nor neither ne n pas non jamais aucun aucune sans ni'.split(' '),
)
const leastTerms = 2

const words = (text: string): readonly string[] =>
  text
    .normalize('NFC')
    .toLowerCase()
    // `isn't` denies as `is not` does.
    .replaceAll(/n['’]t(?![\p{L}\p{N}])/gu, ' not')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .split(' ')
    .filter((word) => word !== '')

/** The words that count, without those of grammar. */
export const termsOf = (text: string): ReadonlySet<string> =>
  new Set(words(text).filter((word) => !stopWords.has(word)))

const includesAll = (of: ReadonlySet<string>, terms: ReadonlySet<string>): boolean =>
  [...terms].every((term) => of.has(term))

/**
 * True of a text that has the content as it is, or all its terms. One that denies something which the content does not
 * proves nothing by its terms.
 */
export const bearsOut = (content: string, text: string): boolean => {
  if (text.includes(content)) return true
  const terms = termsOf(content)
  const found = termsOf(text)
  const isDenied = [...found].some((term) => denials.has(term) && !terms.has(term))
  return terms.size >= leastTerms && !isDenied && includesAll(found, terms)
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
