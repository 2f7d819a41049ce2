/** Evidence of a flow: things of the daemon must belong to it, all else is what people attest (flows-12). */
import { inTurns, type Tx } from '../../../core/plugin.js'
import { primitiveKinds, type EvidenceRef } from '../playbooks/contract.js'
import { flowErrors } from './errors.js'
import { look } from './projection.js'
import type { FlowEvidence, FlowRecord, PrimitiveRefs } from './record.js'
import { primitiveKey } from './scope.js'
import type { Settling, SettleParts } from './settle.js'

/** Pieces of evidence of one flow. */
const mostRefs = 500

const keyOf = ({ kind, id }: EvidenceRef): string => primitiveKey(kind, id)
const isPrimitive: ReadonlySet<string> = new Set(primitiveKinds)

/** Throws `flow_evidence_unresolved` for the first thing of the daemon that is not there. */
export const checkResolved = (refs: readonly EvidenceRef[], found: ReadonlySet<string>, flow_id?: string): void => {
  for (const [at, ref] of refs.entries())
    if (isPrimitive.has(ref.kind) && !found.has(keyOf(ref)))
      throw flowErrors.flow_evidence_unresolved({
        details: { kind: ref.kind, id: ref.id, ...(flow_id !== undefined && { flow_id }) },
        errors: [{ path: `body.evidence_refs.${at}.id`, rule: 'must belong to the flow' }],
      })
}

/** Each once by kind and id; what was there first stays. */
export const withEvidence = (before: readonly FlowEvidence[], more: readonly FlowEvidence[]): FlowEvidence[] => {
  const known = new Map(before.map((ref) => [keyOf(ref), ref]))
  for (const ref of more) if (!known.has(keyOf(ref))) known.set(keyOf(ref), ref)
  return [...known.values()]
}

const listed = (flow_id: string, refs: PrimitiveRefs): Set<string> =>
  new Set([
    primitiveKey('flow', flow_id),
    ...Object.entries(refs).flatMap(([list, ids]) => ids.map((id) => primitiveKey(list.replace(/_ids$/u, ''), id))),
  ])

const foundIn = async (
  parts: SettleParts,
  flow: FlowRecord,
  refs: readonly EvidenceRef[],
): Promise<ReadonlySet<string>> => {
  if (flow.settled !== undefined) return listed(flow.flow_id, flow.settled.refs)
  const wanted = new Set(refs.filter(({ kind }) => isPrimitive.has(kind)).map(keyOf))
  return wanted.size === 0 ? wanted : (await inTurns(look(parts, flow, { wanted }))).scope.found
}

interface Added {
  readonly flow: FlowRecord
  readonly refs: readonly FlowEvidence[]
  /** They stand in place of those of the same kind and id that say something else, or that people attest. */
  readonly renews?: true
}

/** Adds evidence in a commit. Throws `flow_evidence_full`. */
export const addEvidence = (
  { store }: Pick<SettleParts, 'store'>,
  tx: Tx,
  { flow, refs, renews }: Added,
): FlowRecord => {
  const kept = flow.evidence_refs
  const isOld = (ref: FlowEvidence): boolean =>
    renews === true &&
    refs.some(
      (one) => keyOf(one) === keyOf(ref) && (one.description !== ref.description || ref.verified_at_ms === undefined),
    )
  const rest = kept.filter((ref) => !isOld(ref))
  const evidence_refs = withEvidence(rest, refs)
  if (evidence_refs.length === kept.length && rest.length === kept.length) return flow
  if (evidence_refs.length > mostRefs)
    throw flowErrors.flow_evidence_full({ details: { flow_id: flow.flow_id, most: mostRefs } })
  return store.change(tx, flow, { evidence_refs, evidence_at_ms: tx.now })
}

/** The flow with more evidence, and how it ended if that was all that it lacked. Rejects with the problems of both. */
export const attest = async (
  parts: SettleParts & Pick<Settling, 'settle'>,
  flow_id: string,
  refs: readonly EvidenceRef[],
): Promise<FlowRecord> => {
  const { store } = parts
  checkResolved(refs, await foundIn(parts, store.get(flow_id), refs), flow_id)
  await store.state.commit((tx) => addEvidence(parts, tx, { flow: store.get(flow_id), refs }))
  await parts.settle(flow_id)
  return store.get(flow_id)
}
