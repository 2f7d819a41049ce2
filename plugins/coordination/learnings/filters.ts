/** Which candidates and learnings a list is asked for. The smallest group of an index is looked at, in slices. */
import {
  arraySource,
  createPause,
  doc,
  enums,
  holdsText,
  optional,
  searchText,
  string,
  type Collection,
  type PageSource,
  type Skip,
} from '../../../core/plugin.js'
import { learningKinds, learningStatuses, scopeKinds } from '../../execution/memory/contract.js'
import { readScope, scopeKey } from './checked.js'
import { learningErrors } from './errors.js'
import { candidateStates, policyDecisions, type Learning, type LearningCandidate } from './record.js'
import { ruleKey, type LearningStore } from './store.js'

const Text = string({ max: 200 })
const shared = {
  query: optional(doc(Text, 'Only those with this text in id, scope, kind, content or run of the source.')),
  scope_kind: optional(doc(enums(scopeKinds), 'Asks for scope_id too, except for the workspace.')),
  scope_id: optional(doc(Text, 'Asks for scope_kind.')),
  kind: optional(enums(learningKinds)),
}
export const candidateFilters = { ...shared, state: optional(enums(candidateStates)) }
export const learningFilters = {
  ...shared,
  status: optional(enums(learningStatuses)),
  policy_decision: optional(enums(policyDecisions)),
  policy_actor: optional(doc(Text, '`operator` or `daemon`; case does not count.')),
  matched_rule_name: optional(doc(Text, 'The rule of the policy that decided; case does not count.')),
}

interface SharedWish {
  readonly query?: string | undefined
  readonly scope_kind?: Learning['scope']['kind'] | undefined
  readonly scope_id?: string | undefined
  readonly kind?: Learning['kind'] | undefined
}
export interface CandidateWish extends SharedWish {
  readonly state?: LearningCandidate['state'] | undefined
}
export interface LearningWish extends SharedWish {
  readonly status?: Learning['status'] | undefined
  readonly policy_decision?: Learning['policy_decision']
  readonly policy_actor?: string | undefined
  readonly matched_rule_name?: string | undefined
}

/** Records of a group of an index. */
interface Group {
  readonly index: string
  readonly group: string
}
/** What a record must be like: in all of these groups, and so that all of these say yes. */
export interface Filter<T> {
  readonly groups: readonly Group[]
  readonly tests: readonly ((record: T) => boolean)[]
  /** The rule of the policy by which its candidate was published. */
  readonly rule?: string | undefined
}

const groupOf = (index: string, group: string | undefined): Group[] => (group === undefined ? [] : [{ index, group }])
const given = (text: string | undefined): string | undefined => {
  const trimmed = text?.trim().toLowerCase()
  return trimmed === '' ? undefined : trimmed
}

const scopeGroup = ({ scope_kind, scope_id }: SharedWish, from: 'query' | 'body'): Group[] => {
  if (scope_kind !== undefined) {
    const scope = readScope({ kind: scope_kind, id: scope_id }, `${from}.scope_id`, 'invalid_learning_filter')
    return groupOf('scope', scopeKey(scope))
  }
  if (scope_id === undefined) return []
  const errors = [{ path: `${from}.scope_id`, rule: 'must not be given without scope_kind (--scope-kind)' }]
  throw learningErrors.invalid_learning_filter({ errors })
}

type Texts = Pick<Learning, 'scope' | 'kind' | 'content' | 'source'>
const holds =
  (text: string) =>
  (record: Texts & { readonly candidate_id?: string; readonly learning_id?: string }): boolean =>
    holdsText(text, [
      record.candidate_id ?? record.learning_id,
      scopeKey(record.scope),
      record.kind,
      record.content,
      record.source.run_id,
    ])

const sharedFilter = (wish: SharedWish, from: 'query' | 'body') => {
  const text = searchText(wish.query)
  return {
    groups: [...scopeGroup(wish, from), ...groupOf('kind', wish.kind)],
    tests: text === '' ? [] : [holds(text)],
  }
}

/** Throws `invalid_learning_filter`. */
export const candidateFilter = (wish: CandidateWish): Filter<LearningCandidate> => {
  const { groups, tests } = sharedFilter(wish, 'query')
  return { groups: [...groups, ...groupOf('state', wish.state)], tests }
}

/** Throws `invalid_learning_filter`. */
export const learningFilter = (wish: LearningWish, from: 'query' | 'body'): Filter<Learning> => {
  const { groups, tests } = sharedFilter(wish, from)
  const actor = given(wish.policy_actor)
  return {
    groups: [...groups, ...groupOf('status', wish.status), ...groupOf('decision', wish.policy_decision)],
    tests: [...tests, ...(actor === undefined ? [] : [(one: Learning) => one.policy_actor?.toLowerCase() === actor])],
    rule: given(wish.matched_rule_name),
  }
}

export const isEmpty = ({ groups, tests, rule }: Filter<never>): boolean =>
  groups.length === 0 && tests.length === 0 && rule === undefined

const slice = 50

/** Records of a group by id, with a pause between slices; what cannot be read is left out. */
async function* walk<T extends object>(collection: Collection<T>, group: Group, skip: Skip): AsyncGenerator<T> {
  const pause = createPause(1)
  for (let beyond: { readonly beyond?: string } = {}; ; await pause()) {
    const records = collection.list({ ...group, limit: slice, ...beyond, skip })
    yield* records
    const last = records.at(-1)
    if (last === undefined || records.length < slice) return
    beyond = { beyond: collection.spec.id(last) }
  }
}

const everything: Group = { index: 'all', group: 'all' }
const smallest = <T extends object>(collection: Collection<T>, groups: readonly Group[]): Group =>
  groups.reduce((least, group) => (sizeOf(collection, group) < sizeOf(collection, least) ? group : least), everything)
const sizeOf = <T extends object>(collection: Collection<T>, { index, group }: Group): number =>
  collection.count(index, group)

const fits = <T extends object>(collection: Collection<T>, { groups, tests }: Filter<T>, record: T): boolean =>
  groups.every(({ index, group }) => collection.spec.indexes[index]?.group(record) === group) &&
  tests.every((test) => test(record))

export interface Found {
  candidates(filter: Filter<LearningCandidate>): Promise<PageSource<string>>
  learnings(filter: Filter<Learning>): Promise<PageSource<string>>
  /** Those that fit, one by one. */
  each(filter: Filter<Learning>): AsyncGenerator<Learning>
  fits(filter: Filter<Learning>, learning: Learning): boolean
}

export const createFound = ({ candidates, learnings }: LearningStore, skip: Skip): Found => {
  const ruleOf = ({ source_candidate_id = '' }: Learning): string | undefined =>
    ruleKey(candidates.find(source_candidate_id)?.automation_review?.matched_rule_name)
  const fitting = (filter: Filter<Learning>, learning: Learning): boolean =>
    fits(learnings, filter, learning) && (filter.rule === undefined || ruleOf(learning) === filter.rule)

  async function* ofRule(rule: string): AsyncGenerator<Learning> {
    for await (const { candidate_id } of walk(candidates, { index: 'rule', group: rule }, skip))
      yield* learnings.list({ index: 'candidate', group: candidate_id, limit: slice, skip })
  }
  async function* each(filter: Filter<Learning>): AsyncGenerator<Learning> {
    const group = smallest(learnings, filter.groups)
    const { rule } = filter
    const byRule = rule !== undefined && candidates.count('rule', rule) < sizeOf(learnings, group)
    for await (const learning of byRule ? ofRule(rule) : walk(learnings, group, skip))
      if (fitting(filter, learning)) yield learning
  }
  return {
    fits: fitting,
    each,
    async candidates(filter) {
      const { groups, tests } = filter
      if (tests.length === 0 && groups.length < 2) return idSource(candidates, groups[0] ?? everything)
      const ids: string[] = []
      for await (const candidate of walk(candidates, smallest(candidates, groups), skip))
        if (fits(candidates, filter, candidate)) ids.push(candidate.candidate_id)
      return arraySource(ids, asIs)
    },
    async learnings(filter) {
      const { groups, tests, rule } = filter
      if (tests.length === 0 && groups.length < 2 && rule === undefined)
        return idSource(learnings, groups[0] ?? everything)
      const ids: string[] = []
      for await (const { learning_id } of each(filter)) ids.push(learning_id)
      return arraySource(ids, asIs)
    },
  }
}

const asIs = (id: string): string => id

/** Ids of a group that is in order of ids; no record is read. */
const idSource = <T extends object>(collection: Collection<T>, group: Group): PageSource<string> => ({
  count: () => sizeOf(collection, group),
  key: asIs,
  list: ({ limit, order, beyond }) =>
    collection.page({ ...group, limit, order, ...(beyond !== undefined && { beyond }) }),
})
