/** What operators do with candidates and learnings. Each is one commit: it happens whole, or nothing does. */
import type { Observers, State } from '../../../core/plugin.js'
import { readContent, readScope, refuse, scopeKey, type ScopeWish, type SecretGuard } from './checked.js'
import type { LearningUser } from './contract.js'
import { learningErrors } from './errors.js'
import { isEmpty, learningFilter, type Found, type LearningWish } from './filters.js'
import { checkReplaceable, type Draft, type Publishing } from './publish.js'
import type { Learning, LearningCandidate } from './record.js'
import { keptOf, type LearningService } from './service.js'
import { isLive, statementMark, type LearningStore } from './store.js'

export interface OperateParts {
  readonly store: LearningStore
  readonly publishing: Publishing
  readonly service: Pick<LearningService, 'keep'>
  readonly guard: SecretGuard
  readonly found: Found
  readonly users: Pick<Observers<LearningUser>, 'settle'>
  readonly state: State
}

type Evidence = LearningCandidate['evidence_refs']
/** What a caller may say of something that is learned. */
interface Said {
  readonly scope?: ScopeWish | undefined
  readonly kind?: Learning['kind'] | undefined
  readonly sensitivity?: Learning['sensitivity'] | undefined
  readonly content?: string | undefined
  readonly confidence?: number | undefined
  readonly expires_at_ms?: number | undefined
  readonly evidence_refs?: Evidence
}
export interface NewWish extends Said {
  readonly scope: ScopeWish
  readonly kind: Learning['kind']
  readonly sensitivity: Learning['sensitivity']
  readonly content: string
  readonly confidence: number
  readonly source: Learning['source']
}
export interface PublishWish extends Said {
  readonly publish_tier: Learning['publish_tier']
  readonly supersedes?: string | undefined
}
export interface SupersedeWish extends Said {
  readonly content: string
}

export interface Operations {
  create(wish: NewWish): Promise<LearningCandidate>
  publish(candidate_id: string, wish: PublishWish): Promise<Learning>
  reject(candidate_id: string): Promise<LearningCandidate>
  revoke(learning_id: string, reason: string | undefined): Promise<Learning>
  supersede(learning_id: string, wish: SupersedeWish): Promise<Learning>
  /** The first of those that fit and are not revoked yet, by id: as many as one commit may take. */
  revokeMatching(wish: LearningWish, reason: string | undefined): Promise<readonly Learning[]>
}

/** Learnings, and characters of them, that are revoked at once. */
export const mostRevoked = 1_000
const mostRevokedCharacters = 4 * 1024 * 1024

/** What a request waits for those who keep what rests on learnings, milliseconds. */
export const longestSettlingMs = 10_000

export const createOperations = (parts: OperateParts): Operations => {
  const publish = publishing(parts)
  const replace = settling(parts, publish)
  return {
    create: creating(parts),
    publish: (candidate_id, wish) => (wish.supersedes === undefined ? publish : replace)(candidate_id, wish),
    reject: rejecting(parts),
    revoke: settling(parts, revoking(parts)),
    supersede: settling(parts, superseding(parts)),
    revokeMatching: settling(parts, revokingMatching(parts)),
  }
}

/**
 * Whoever hears that a learning has ended finds nothing any more that rested on it, also where it had ended before;
 * else the answer says that it is not so yet.
 */
const settling =
  <A extends unknown[], R>({ users }: OperateParts, operation: (...wish: A) => Promise<R>) =>
  async (...wish: A): Promise<R> => {
    const done = await operation(...wish)
    const what = 'what follows from ended learnings'
    if (await users.settle(longestSettlingMs, what, (user) => user.settled?.())) return done
    throw learningErrors.learnings_unsettled()
  }

/** Summaries of runs are made by the daemon alone; one that is there may be kept as what it is. */
const checkKind = (kind: Learning['kind'], before?: Learning['kind']): void => {
  if (kind === 'run_summary' && kind !== before) refuse('body.kind', 'must not be run_summary: the daemon makes these')
}

type Told = Pick<Learning, 'kind' | 'content' | 'scope' | 'source'> & { readonly evidence_refs?: Evidence }

/** Ids are looked at too: they are texts of callers, and a learning shows them. */
const checkSecrets = (guard: SecretGuard, { kind, content, scope, source, evidence_refs = [] }: Told): void => {
  if (guard.inLearning({ kind, content })) guard.refuse(content, 'body.content')
  guard.refuse(scope.id, 'body.scope.id')
  refuseIn(guard, source, 'body.source')
  for (const [at, ref] of evidence_refs.entries()) refuseIn(guard, ref, `body.evidence_refs.${at}`)
}

const refuseIn = (guard: SecretGuard, texts: object, path: string): void => {
  for (const [name, value] of Object.entries(texts))
    if (typeof value === 'string') guard.refuse(value, `${path}.${name}`)
}

/** What is over already would be told to nobody. */
const checkEnd = ({ expires_at_ms = Infinity }: Pick<Draft, 'expires_at_ms'>, now: number): void => {
  if (expires_at_ms <= now)
    refuse(
      'body.expires_at_ms',
      'must be in the future (--expires-at-ms), and be given where the end that it had is over',
    )
}

/** What was there, with what is said instead. */
const overridden = (before: LearningCandidate | Learning, said: Said) => {
  const { scope, content, evidence_refs = [] } = said
  const kept = keptOf(before)
  return {
    ...kept,
    scope: scope === undefined ? kept.scope : readScope(scope, 'body.scope.id'),
    kind: said.kind ?? kept.kind,
    sensitivity: said.sensitivity ?? kept.sensitivity,
    content: content === undefined ? kept.content : readContent(content),
    confidence: said.confidence ?? kept.confidence,
    expires_at_ms: said.expires_at_ms ?? before.expires_at_ms,
    ...(evidence_refs.length > 0 && { evidence_refs }),
  }
}

const creating =
  ({ guard, state, service }: OperateParts): Operations['create'] =>
  async ({ evidence_refs = [], expires_at_ms, ...wish }) => {
    checkKind(wish.kind)
    const candidate = {
      ...wish,
      scope: readScope(wish.scope, 'body.scope.id'),
      content: readContent(wish.content),
      ...(evidence_refs.length > 0 && { evidence_refs }),
      ...(expires_at_ms !== undefined && { expires_at_ms }),
      origin: 'api' as const,
    }
    checkSecrets(guard, candidate)
    return state.commit((tx) => service.keep(tx, candidate))
  }

const publishing =
  ({ store, publishing: { published, publish }, guard, state }: OperateParts): Operations['publish'] =>
  (candidate_id, { publish_tier, supersedes, ...said }) =>
    state.commit((tx) => {
      const candidate = store.candidate(candidate_id)
      const known = published(candidate)
      if (known !== undefined) return known
      const draft: Draft = {
        ...overridden(candidate, said),
        publish_tier,
        source_candidate_id: candidate_id,
        by: 'operator',
      }
      checkKind(draft.kind, candidate.kind)
      checkSecrets(guard, draft)
      checkEnd(draft, tx.now)
      if (supersedes !== undefined && publish_tier !== 'active')
        refuse('body.supersedes', 'must not be given unless publish_tier (--publish-tier) is active')
      const replaced = supersedes === undefined ? undefined : store.learning(supersedes)
      const learning =
        (replaced === undefined ? undefined : sameInPlaceOf(store, replaced, draft)) ??
        publish(tx, draft, replaced === undefined ? undefined : checkReplaced(replaced, draft))
      store.putCandidate(tx, { ...candidate, state: 'published', published_learning_id: learning.learning_id })
      return learning
    })

const checkReplaced = (replaced: Learning, { scope }: Pick<Draft, 'scope'>): Learning => {
  const { learning_id } = checkReplaceable(replaced)
  if (scopeKey(replaced.scope) === scopeKey(scope)) return replaced
  throw learningErrors.learning_scope_mismatch({ details: { learning_id, scope: scopeKey(replaced.scope) } })
}

/** What stands for a superseded one already, if it says just this. */
const sameInPlaceOf = (store: LearningStore, replaced: Learning, draft: Draft): Learning | undefined => {
  const successor = replaced.status === 'superseded' ? store.learnings.find(replaced.superseded_by ?? '') : undefined
  return successor !== undefined && isLive(successor) && statementMark(successor) === statementMark(draft)
    ? successor
    : undefined
}

const rejecting =
  ({ store, state }: OperateParts): Operations['reject'] =>
  (candidate_id) =>
    state.commit((tx) => {
      const candidate = store.candidate(candidate_id)
      if (candidate.state === 'rejected') return candidate
      if (candidate.state !== 'published') return store.putCandidate(tx, { ...candidate, state: 'rejected' })
      const details = { candidate_id, learning_id: candidate.published_learning_id ?? '' }
      throw learningErrors.learning_candidate_published({ details })
    })

const revoking =
  ({ store, publishing: { revoke }, guard, state }: OperateParts): Operations['revoke'] =>
  async (learning_id, reason) => {
    guard.refuse(reason, 'body.reason')
    return state.commit((tx) => revoke(tx, store.learning(learning_id), reason))
  }

const superseding =
  ({ store, publishing: { publish }, guard, state }: OperateParts): Operations['supersede'] =>
  (learning_id, said) =>
    state.commit((tx) => {
      const before = store.learning(learning_id)
      const draft: Draft = {
        ...overridden(before, said),
        created_at_ms: tx.now,
        publish_tier: 'active',
        by: 'operator',
      }
      checkKind(draft.kind, before.kind)
      checkSecrets(guard, draft)
      const successor = before.status === 'superseded' ? store.learnings.find(before.superseded_by ?? '') : undefined
      // What would be lost is refused by the check.
      if (successor?.status === 'active' && statementMark(successor) === statementMark(draft)) return successor
      checkEnd(draft, tx.now)
      return publish(tx, draft, checkReplaced(before, draft))
    })

const revokingMatching =
  ({ found, store, publishing: { revoke }, guard, state }: OperateParts): Operations['revokeMatching'] =>
  async (wish, reason) => {
    guard.refuse(reason, 'body.reason')
    const filter = learningFilter(wish, 'body')
    if (isEmpty(filter)) {
      const errors = [{ path: 'body', rule: 'must have a filter: everything is revoked by nobody' }]
      throw learningErrors.invalid_learning_filter({ errors })
    }
    const ids: string[] = []
    let characters = 0
    for await (const learning of found.each(filter)) {
      if (learning.status === 'revoked') continue
      ids.push(learning.learning_id)
      characters += JSON.stringify(learning).length
      if (ids.length === mostRevoked || characters > mostRevokedCharacters) break
    }
    if (ids.length === 0) return []
    return state.commit((tx) =>
      ids
        .map((id) => store.learning(id))
        .filter((learning) => learning.status !== 'revoked' && found.fits(filter, learning))
        .map((learning) => revoke(tx, learning, reason)),
    )
  }
