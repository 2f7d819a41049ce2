/** Everything that a session may find, as documents of one form. */
import type { LearningItem, LearningScope, MemorySearchResult, RunMemory, SkillItem } from './contract.js'
import { cutTo } from './memory.js'
import { isPromptEligible } from './projection.js'
import { rankOf } from './scopes.js'
import type { Match, Texts } from './score.js'

/** One thing to be found; `texts` are what is compared with the query. */
export interface Document extends Texts {
  /** Kind and id: unique. */
  readonly key: string
  readonly result: Omit<MemorySearchResult, 'score' | 'matched_fields'>
}

const titleLength = 80
const excerptLength = 480
const titled = (label: string, text: string): string => (text === '' ? label : `${label}: ${cutTo(text.replaceAll(/\s+/gu, ' ').trim(), titleLength)}`)

export const runDocument = (memory: RunMemory, { session_id, prompt_eligible }: { session_id: string; prompt_eligible: boolean }): Document => {
  const { run_id, request_preview = '', outcome_preview = '', failure_markers, summary } = memory
  return {
    key: `recovered_run ${run_id}`, content: [request_preview, outcome_preview, ...failure_markers, memory.status].join('\n'), kind: 'recovered run', scope: 'session',
    result: {
      kind: 'recovered_run', source_id: run_id, title: titled(`Run ${memory.status}`, request_preview), excerpt: summary,
      timestamp_ms: memory.recorded_at_ms, scope: { kind: 'session', id: session_id }, prompt_eligible,
    },
  }
}

export const learningDocument = (learning: LearningItem): Document => {
  const { learning_id, kind, content, scope, published_at_ms, status, publish_tier, verification_status } = learning
  const label = kind.replaceAll('_', ' ')
  return {
    key: `learning ${learning_id}`, content, kind: label, scope: scope.kind,
    result: {
      kind: 'learning', source_id: learning_id, title: titled(label.charAt(0).toUpperCase() + label.slice(1), content), excerpt: cutTo(content, excerptLength),
      timestamp_ms: published_at_ms, scope: { kind: scope.kind, id: scope.id }, prompt_eligible: isPromptEligible(learning),
      learning_status: status, publish_tier, verification_status,
    },
  }
}

const workspace: LearningScope = { kind: 'workspace', id: 'default' }

export const skillDocument = ({ summary: { name, description, when_to_use = '' }, updated_at_ms, promoted }: SkillItem): Document => ({
  key: `skill ${name}`, content: [name, description, when_to_use].join('\n'), kind: 'skill', scope: (promoted?.source_scope ?? workspace).kind,
  result: {
    kind: 'skill', source_id: name, title: name, excerpt: cutTo(description, excerptLength),
    timestamp_ms: updated_at_ms, scope: { ...(promoted?.source_scope ?? workspace) }, prompt_eligible: true,
  },
})

/** A document with how well it answers. */
export interface Scored extends Match { readonly document: Document }

/** Best first; then what is nearer, newer, and by key, so that equal questions have equal answers. */
export const byScore = (a: Scored, b: Scored): number => b.score - a.score || byScope(a.document, b.document)
const byScope = (a: Document, b: Document): number => rankOf(a.result.scope) - rankOf(b.result.scope) || b.result.timestamp_ms - a.result.timestamp_ms || (a.key < b.key ? -1 : 1)
/** Newest first, for looking around. */
export const byTime = (a: Document, b: Document): number => b.result.timestamp_ms - a.result.timestamp_ms || byScope(a, b)
