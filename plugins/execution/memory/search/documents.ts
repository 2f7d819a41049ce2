/** Everything that a session may find, as documents of one form. */
import {
  array,
  boolean,
  doc,
  enums,
  named,
  number,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'
import type { RunMemory } from '../recording/store.js'
import {
  LearningScope,
  learningStatuses,
  publishTiers,
  scopeKinds,
  verificationStatuses,
  type LearningItem,
  type SkillItem,
} from '../sources/learning.js'
import { cutTo } from '../recording/memory.js'
import { isPromptEligible } from '../sources/projection.js'
import type { Match, Texts } from './score.js'

const row = {
  source_id: string(),
  title: string(),
  excerpt: doc(string(), 'The part of the text that was found.'),
  score: doc(number({ min: 0 }), '0 without a query.'),
  timestamp_ms: timestamp(),
  scope: LearningScope,
  prompt_eligible: doc(boolean(), 'True if a model may be shown it.'),
  matched_fields: array(enums(['content', 'kind', 'scope'])),
  learning_status: optional(enums(learningStatuses)),
  publish_tier: optional(enums(publishTiers)),
  verification_status: optional(enums(verificationStatuses)),
}
/** One result of a memory search (memory-10). */
export const MemorySearchResult = named(
  'MemorySearchResult',
  object({ kind: enums(['learning', 'recovered_run', 'skill']), ...row }),
)
/** The value form of `MemorySearchResult`. */
export type MemorySearchResult = Infer<typeof MemorySearchResult>

/** One thing to be found; its texts are what is compared with the query. */
export interface Document extends Texts {
  /** Kind and id: unique. */
  readonly key: string
  readonly timestamp_ms: number
  /** What is shown of it; made for few of many. */
  readonly show: () => Omit<MemorySearchResult, 'score' | 'matched_fields' | 'timestamp_ms'>
}

const titleLength = 80
const excerptLength = 480
const titled = (label: string, text: string): string =>
  text === '' ? label : `${label}: ${cutTo(text.replaceAll(/\s+/gu, ' ').trim(), titleLength)}`

export const runDocument = (memory: RunMemory, session_id: string, prompt_eligible: boolean): Document => {
  const { run_id, request_preview = '', outcome_preview = '', failure_markers, summary, status } = memory
  return {
    key: `recovered_run ${run_id}`,
    timestamp_ms: memory.recorded_at_ms,
    content: [request_preview, outcome_preview, ...failure_markers, status].join('\n'),
    kind: 'recovered run',
    scope: 'session',
    show: () => ({
      kind: 'recovered_run',
      source_id: run_id,
      title: titled(`Run ${status}`, request_preview),
      excerpt: summary,
      scope: { kind: 'session', id: session_id },
      prompt_eligible,
    }),
  }
}

/** Sources give the same objects again: so does this. */
const known = new WeakMap<LearningItem, Document>()

export const learningDocument = (learning: LearningItem): Document => {
  const made = known.get(learning) ?? documentOf(learning)
  known.set(learning, made)
  return made
}

const documentOf = (learning: LearningItem): Document => {
  const { learning_id, kind, content, scope, published_at_ms, status, publish_tier, verification_status } = learning
  const label = kind.replaceAll('_', ' ')
  return {
    key: `learning ${learning_id}`,
    timestamp_ms: published_at_ms,
    content,
    kind: label,
    scope: scope.kind,
    show: () => ({
      kind: 'learning',
      source_id: learning_id,
      title: titled(label.charAt(0).toUpperCase() + label.slice(1), content),
      excerpt: cutTo(content, excerptLength),
      scope: { kind: scope.kind, id: scope.id },
      prompt_eligible: isPromptEligible(learning),
      learning_status: status,
      publish_tier,
      verification_status,
    }),
  }
}

const workspace: LearningScope = { kind: 'workspace', id: 'default' }

export const skillDocument = ({
  summary: { name, description, when_to_use = '' },
  updated_at_ms,
  promoted,
}: SkillItem): Document => {
  const scope = { ...(promoted?.source_scope ?? workspace) }
  return {
    key: `skill ${name}`,
    timestamp_ms: updated_at_ms,
    content: [name, description, when_to_use].join('\n'),
    kind: 'skill',
    scope: scope.kind,
    show: () => ({
      kind: 'skill',
      source_id: name,
      title: name,
      excerpt: cutTo(description, excerptLength),
      scope,
      prompt_eligible: true,
    }),
  }
}

/** A document with how well it answers. */
export interface Scored extends Match {
  readonly document: Document
}

/** Best first; then what is nearer, newer, and by key, so that equal questions have equal answers. */
export const byScore = (a: Scored, b: Scored): number => b.score - a.score || byScope(a.document, b.document)
const nearness = ({ scope }: Document): number => scopeKinds.findIndex((kind) => kind === scope)
const byScope = (a: Document, b: Document): number =>
  nearness(a) - nearness(b) || b.timestamp_ms - a.timestamp_ms || (a.key < b.key ? -1 : 1)
/** Newest first, for looking around. */
export const byTime = (a: Document, b: Document): number => b.timestamp_ms - a.timestamp_ms || byScope(a, b)
