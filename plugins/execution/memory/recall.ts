/** Answers what a session remembers (memory-9 and memory-10). */
import { holdsText, searchText, type Clock } from '../../../core/plugin.js'
import { permitsCapability, type CapabilityScope, type SessionRecord, type Sessions } from '../sessions/contract.js'
import type {
  LearnedEntry,
  LearningItem,
  LearningScope,
  RunMemory,
  RunMemoryPolicy,
  SessionMemoryContextView,
  SessionMemorySearchView,
  SkillItem,
  SkillSummary,
} from './contract.js'
import {
  byScore,
  byTime,
  learningDocument,
  runDocument,
  skillDocument,
  type Document,
  type Scored,
} from './search/documents.js'
import { keep, type Clean } from './recording/memory.js'
import { entryOf, isPromptEligible, isSearchable, isVisibleSkill, live, relevant } from './sources/projection.js'
import { rankOf, scopeKey, sharedKeys } from './sources/scopes.js'
import type { SearchIndex } from './search/search-index.js'
import type { SharedRuns } from './search/shared-runs.js'
import type { Sources } from './sources/sources.js'
import { readQuery, scoreOf, type Query } from './search/score.js'
import type { MemoryStore } from './recording/store.js'

export interface RecallParts {
  readonly store: MemoryStore
  readonly sessions: Sessions
  readonly sources: Sources
  readonly policy: RunMemoryPolicy
  readonly clock: Clock
  readonly clean: Clean
  readonly shared: SharedRuns
  readonly index: SearchIndex
  /** Resolves when every run that has ended is in the store, or cannot be. */
  readonly settled: () => Promise<void>
}

export interface Recall {
  context(session_id: string, query: string | undefined): Promise<SessionMemoryContextView>
  search(
    session_id: string,
    wish: { readonly query: string | undefined; readonly limit: number },
  ): Promise<SessionMemorySearchView>
  /** Learnings for a model that was told `text`: those that answer it, or without one all if `fallback`. */
  learned(session_id: string, text: string, fallback: boolean): readonly LearnedEntry[]
  /**
   * Runs of the session that a model is not shown, as many as the policy says: those that answer `text`, else the
   * newest.
   */
  recovered(session_id: string, text: string, shown: (run_id: string) => boolean): readonly RunMemory[]
  /** Skills that the session may use, by name; with a query those that have it in name or description. */
  skills(session_id: string, query: string | undefined): SkillSummary[]
}

/** What a session sees now. */
interface Sight {
  readonly session: SessionRecord
  readonly capability: CapabilityScope | undefined
  readonly scopes: readonly LearningScope[]
  readonly learnings: readonly LearningItem[]
  readonly skills: readonly SkillItem[]
}

/** Eligible learnings that are compared with a query, the nearest and newest. */
const mostCompared = 1_000
/** Learnings and characters of them that a model is shown at once. */
const mostEntries = 20
const mostContent = 8_000

export const createRecall = (parts: RecallParts): Recall => ({
  async context(session_id, query) {
    const sight = look(parts, session_id)
    await parts.settled()
    const asked = readQuery(query)
    return {
      ...head(sight),
      learned_context: learned(parts, sight, asked),
      recovered_memory: recovered(parts, session_id, { query: asked }),
      visible_skills: summaries(parts, sight),
    }
  },
  async search(session_id, { query, limit }) {
    const sight = look(parts, session_id)
    await parts.settled()
    const asked = readQuery(query)
    const documents = await documentsOf(parts, sight, asked !== undefined)
    const found =
      asked === undefined
        ? documents.toSorted(byTime).map((document) => ({ document, score: 0, matched_fields: [] }))
        : (await rank(parts, documents, asked)).toSorted(byScore)
    return {
      ...head(sight),
      ...(asked !== undefined && query !== undefined && { query }),
      truncated: found.length > limit,
      results: found.slice(0, limit).map((one) => shown(parts, one)),
    }
  },
  learned(session_id, text, fallback) {
    if (!parts.sources.learn()) return []
    const found = learnt(parts, parts.sessions.get(session_id))
    // Asked before each run, and most have learned nothing: the text is only read for those that have.
    const query = found.learnings.length === 0 ? undefined : readQuery(text)
    if (query === undefined) return []
    const { entries } = learned(parts, found, query)
    return fallback || entries.some(({ content }) => scoreOf({ content, kind: '', scope: '' }, query).score > 0)
      ? entries
      : []
  },
  recovered: (session_id, text, shown) => recovered(parts, session_id, { query: readQuery(text), shown }).entries,
  skills: (session_id, query) => {
    const text = searchText(query)
    return summaries(parts, look(parts, session_id)).filter(({ name, description, when_to_use }) =>
      holdsText(text, [name, description, when_to_use]),
    )
  },
})

const learnt = ({ sources, clock }: RecallParts, session: SessionRecord): Pick<Sight, 'scopes' | 'learnings'> => {
  const scopes = sources.scopes(session)
  return { scopes, learnings: live(sources.learnings(scopes), clock.now()) }
}

const look = (parts: RecallParts, session_id: string): Sight => {
  const { sessions, sources } = parts
  const session = sessions.get(session_id)
  const { scopes, learnings } = learnt(parts, session)
  const seen = new Set(scopes.map(scopeKey))
  const capability = sessions.effectiveCapabilityScope(session)
  return {
    session,
    scopes,
    capability,
    learnings,
    skills: sources
      .skills()
      .filter(
        (skill) =>
          permitsCapability(capability, 'skill', skill.summary.name) && isVisibleSkill(skill, (key) => seen.has(key)),
      ),
  }
}

const nearest = (a: LearningItem, b: LearningItem): number =>
  rankOf(a.scope) - rankOf(b.scope) || b.published_at_ms - a.published_at_ms || (a.learning_id < b.learning_id ? -1 : 1)

const head = ({
  session,
  capability,
  scopes,
}: Sight): Pick<SessionMemorySearchView, 'session_id' | 'effective_capability_scope' | 'learning_scopes'> => ({
  session_id: session.session_id,
  ...(capability !== undefined && { effective_capability_scope: capability }),
  learning_scopes: [...scopes],
})

const contentScore = ({ content }: LearningItem, query: Query): number =>
  scoreOf({ content, kind: '', scope: '' }, query).score

const learned = (
  { clean }: RecallParts,
  { learnings }: Pick<Sight, 'learnings'>,
  query: Query | undefined,
): SessionMemoryContextView['learned_context'] => {
  const eligible = learnings.filter(isPromptEligible).toSorted(nearest)
  const scored = eligible
    .slice(0, mostCompared)
    .map((learning) => ({ learning, score: query === undefined ? 0 : contentScore(learning, query) }))
  const wanted = relevant(scored).flatMap(({ learning }) => entryOf(learning))
  let room = mostContent
  const entries = wanted.slice(0, mostEntries).filter(({ content }) => (room -= content.length) >= 0)
  return {
    entries: entries.map((entry) => ({ ...entry, content: clean(entry.content) })),
    truncated: entries.length < wanted.length || eligible.length > mostCompared,
  }
}

const memoriesOf = ({ store, policy, clock }: RecallParts, session_id: string): RunMemory[] =>
  policy.enabled
    ? keep(store.memories.find(session_id)?.memories ?? [], { now: clock.now(), ...policy }).toReversed()
    : []

const recovered = (
  parts: RecallParts,
  session_id: string,
  { query, shown }: { readonly query: Query | undefined; readonly shown?: (run_id: string) => boolean },
): SessionMemoryContextView['recovered_memory'] => {
  const memories = memoriesOf(parts, session_id).filter(({ run_id }) => shown?.(run_id) !== true)
  const all = memories.map((memory) => ({
    memory,
    score: query === undefined ? 0 : scoreOf(runDocument(memory, session_id, true), query).score,
  }))
  const wanted = relevant(all)
  const entries = wanted.slice(0, parts.policy.max_prompt_entries).map(({ memory }) => cleanMemory(parts.clean, memory))
  return { entries, truncated: entries.length < wanted.length }
}

/** What was stored under a laxer policy is shown under the one in force. */
const cleanMemory = (clean: Clean, { request_preview, outcome_preview, ...memory }: RunMemory): RunMemory => ({
  ...memory,
  summary: clean(memory.summary),
  failure_markers: memory.failure_markers.map(clean),
  ...(request_preview !== undefined && { request_preview: clean(request_preview) }),
  ...(outcome_preview !== undefined && { outcome_preview: clean(outcome_preview) }),
})

const summaries = ({ clean }: RecallParts, { skills }: Sight): SkillSummary[] =>
  skills
    .map(({ summary }) => ({ ...summary, description: clean(summary.description) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** Rule 7: runs of other sessions only when the policy says so. */
const documentsOf = async (
  parts: RecallParts,
  { session: { session_id }, scopes, learnings, skills }: Sight,
  asked: boolean,
): Promise<Document[]> => {
  const { enabled, search_visibility, max_prompt_entries } = parts.policy
  const others =
    enabled && search_visibility === 'learning_scopes'
      ? await parts.shared.documents(sharedKeys(scopes), session_id)
      : []
  return [
    ...memoriesOf(parts, session_id).map((memory) => runDocument(memory, session_id, max_prompt_entries > 0)),
    ...others,
    ...learnings.filter(isSearchable).map(learningDocument),
    ...(asked ? skills.map(skillDocument) : []),
  ]
}

/** Up to here, reading is quicker than keeping an index. */
const readOnly = 256

const rank = async ({ index }: RecallParts, documents: readonly Document[], query: Query): Promise<Scored[]> =>
  documents.length > readOnly
    ? index.rank(documents, query)
    : documents.map((document) => ({ document, ...scoreOf(document, query) })).filter(({ score }) => score > 0)

const shown = (
  { clean }: RecallParts,
  { document, score, matched_fields }: Scored,
): SessionMemorySearchView['results'][number] => {
  const { title, excerpt, ...result } = document.show()
  return {
    ...result,
    title: clean(title),
    excerpt: clean(excerpt),
    score,
    timestamp_ms: document.timestamp_ms,
    matched_fields,
  }
}
