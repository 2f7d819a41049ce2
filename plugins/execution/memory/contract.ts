/**
 * What a session remembers: recovered runs, and the learnings and skills that other plugins bring. Rules:
 * docs/rules/memory.md.
 */
import { array, boolean, doc, named, object, optional, string, type Infer } from '../../../core/plugin.js'
import { CapabilityScope } from '../sessions/contract.js'
import { RunMemory } from './recording/store.js'
import { MemorySearchResult } from './search/documents.js'
import { LearnedEntry, LearningScope, SkillSummary } from './sources/learning.js'

/** The policy of run memory (memory-14 to memory-19). */
export { RunMemoryPolicy } from './recording/policy.js'
/** A run that is remembered. */
export { RunMemory } from './recording/store.js'
/** Who keeps more of ended runs, in the commit in which they are remembered, and who reads what is remembered. */
export { RunMemories, RunMemoryUsers } from './recording/users.js'
/** One who keeps more of ended runs. */
export type { RunMemoryUser } from './recording/users.js'
/** What other plugins bring: learnings, where they belong, and skills. */
export {
  LearnedEntry,
  learningKinds,
  LearningScope,
  learningStatuses,
  publishTiers,
  scopeKinds,
  sensitivities,
  skillFields,
  SkillSummary,
  verificationStatuses,
} from './sources/learning.js'
/** The same as their plugins keep them. */
export type { LearningItem, SkillItem } from './sources/learning.js'
/** How far the rollout of a promoted skill is, as it is taken from others. */
export { TakenPromotion } from './sources/taken.js'
/** Who brings them. */
export { MemorySources } from './sources/sources.js'
/** One who brings them. */
export type { MemorySource } from './sources/sources.js'
/** One result of a search. */
export { MemorySearchResult } from './search/documents.js'

/** What a session remembers at once (memory-9). */
export const SessionMemoryContextView = named(
  'SessionMemoryContextView',
  object({
    session_id: doc(string(), 'Id of the session.'),
    effective_capability_scope: optional(doc(CapabilityScope, 'What applies after all scopes are combined.')),
    learning_scopes: doc(array(LearningScope), 'Scopes whose learnings are seen.'),
    learned_context: object({ entries: array(LearnedEntry), truncated: boolean() }),
    recovered_memory: object({ entries: array(RunMemory), truncated: boolean() }),
    visible_skills: array(SkillSummary),
  }),
)
/** The value form of `SessionMemoryContextView`. */
export type SessionMemoryContextView = Infer<typeof SessionMemoryContextView>

/** What a search in a session found (memory-10). */
export const SessionMemorySearchView = named(
  'SessionMemorySearchView',
  object({
    session_id: doc(string(), 'Id of the session.'),
    effective_capability_scope: optional(doc(CapabilityScope, 'What applies after all scopes are combined.')),
    learning_scopes: doc(array(LearningScope), 'Scopes whose learnings are seen.'),
    query: optional(string()),
    truncated: doc(boolean(), 'True if there is more than the limit lets through.'),
    results: array(MemorySearchResult),
  }),
)
/** The value form of `SessionMemorySearchView`. */
export type SessionMemorySearchView = Infer<typeof SessionMemorySearchView>
