/** What a flow is now: the status of its scope, its phases, and what its playbook requires (flows-8 to flows-11). */
import type { Portions } from '../../../core/plugin.js'
import type { EvidenceRef, PlaybookManifest, Playbooks, RequiredEvidence } from '../playbooks/contract.js'
import { strays } from './calls.js'
import {
  productView,
  type ContractCheck,
  type FlowEvidence,
  type FlowRecord,
  type PhaseState,
  type PrimitiveRefs,
} from './record.js'
import { scopeOf, type Scope, type ScopeParts, type ScopeWish } from './scope.js'
import { boundaryOf, flowStatus, isTerminal, type FlowStatus } from './status.js'

export interface ProjectionParts extends ScopeParts {
  readonly playbooks: Playbooks
}

export interface Projection {
  readonly status: FlowStatus
  readonly completed_at_ms: number | undefined
  readonly updated_at_ms: number
  readonly refs: PrimitiveRefs
  readonly is_cut: boolean
  readonly phases: PhaseState[]
  readonly checks: ContractCheck[]
}
/** With what it was made from. */
export interface Looked extends Projection {
  readonly scope: Scope
}

/** What a list requires and nobody has added. */
const missingOf = (required: readonly RequiredEvidence[], given: readonly EvidenceRef[]): RequiredEvidence[] =>
  required.filter(({ kind, id }) => !given.some((ref) => ref.kind === kind && (id === '*' || ref.id === id)))

const shown = (list: readonly { readonly kind: string; readonly id: string }[]): string =>
  list.map(({ kind, id }) => `${kind} ${id}`).join(', ')

/** Tools that completed runs called and may not, with the time when the first of these runs was over. */
const violationsOf = ({ used }: Scope, { tools }: PlaybookManifest): { readonly names: string[]; at: number } => {
  const names = new Set<string>()
  let at = Infinity
  for (const { run, called } of used) {
    if (run.status !== 'completed') continue
    const found = [...strays(called.tools, tools), ...(called.tools_cut ? ['too many tools'] : [])]
    if (found.length > 0) at = Math.min(at, run.finished_at_ms)
    for (const name of found) names.add(name)
  }
  return { names: [...names], at }
}

const requiredOf = ({ required_evidence, phases }: PlaybookManifest): readonly RequiredEvidence[] => [
  ...required_evidence,
  ...phases.flatMap((phase) => phase.required_evidence),
]

/** What the playbook of a flow requires, of itself or of a phase, and nobody has added. */
export const missingEvidence = ({ playbooks }: ProjectionParts, flow: FlowRecord): readonly RequiredEvidence[] =>
  missingOf(requiredOf(playbooks.manifest(flow.playbook_ref)), flow.evidence_refs)

/** Reports for which a person vouches alone. */
const unseenOf = (required: readonly RequiredEvidence[], given: readonly FlowEvidence[]): RequiredEvidence[] =>
  required.filter(
    ({ kind, id }) =>
      kind === productView &&
      !given.some((ref) => ref.kind === kind && (id === '*' || ref.id === id) && ref.verified_at_ms !== undefined),
  )

const evidenceCheck = (required: readonly RequiredEvidence[], given: readonly FlowEvidence[]): ContractCheck => {
  const missing = missingOf(required, given)
  const unseen = unseenOf(required, given)
  const told = unseen.length === 0 ? '' : ` A person attests, and the daemon has not looked at: ${shown(unseen)}.`
  return {
    name: 'required_evidence',
    passed: missing.length === 0,
    details: missing.length === 0 ? `All that is required is there.${told}` : `Missing: ${shown(missing)}.`,
  }
}

const checksOf = (
  manifest: PlaybookManifest,
  given: readonly FlowEvidence[],
  violations: readonly string[],
): ContractCheck[] => {
  const required = requiredOf(manifest)
  return [
    ...(required.length === 0 ? [] : [evidenceCheck(required, given)]),
    ...(manifest.tools.enforce
      ? [
          {
            name: 'tools',
            passed: violations.length === 0,
            details:
              violations.length === 0
                ? 'No run called another tool than it may.'
                : `Called: ${violations.slice(0, 20).join(', ')}.`,
          },
        ]
      : []),
  ]
}

/** Nothing works on the flow any more. */
const isOver = (status: FlowStatus, { open }: Scope): boolean =>
  isTerminal(status) || status === 'unknown' || (status === 'waiting' && open.length === 0)

const phaseOf =
  (given: readonly EvidenceRef[], { status, is_over }: { readonly status: FlowStatus; readonly is_over: boolean }) =>
  ({ phase_id, required_evidence }: PlaybookManifest['phases'][number]): PhaseState => {
    const missing = missingOf(required_evidence, given)
    const isDone = missing.length === 0 && (required_evidence.length > 0 || status === 'succeeded')
    const phase = isDone ? 'satisfied' : is_over && (missing.length > 0 || isTerminal(status)) ? 'blocked' : 'pending'
    return { phase_id, status: phase, ...(missing.length > 0 && { missing_evidence: missing }) }
  }

/** Looks at all that belongs to a flow that has not ended. */
export function* look(parts: ProjectionParts, flow: FlowRecord, wish: Partial<ScopeWish> = {}): Portions<Looked> {
  const manifest = parts.playbooks.manifest(flow.playbook_ref)
  const { enforce } = manifest.tools
  const scope = yield* scopeOf(parts, flow, { needs_tools: enforce, ...wish })
  const violations = enforce ? violationsOf(scope, manifest) : { names: [], at: Infinity }
  const checks = checksOf(manifest, flow.evidence_refs, violations.names)
  const found = flowStatus({
    has_run: true,
    is_cancelled: false,
    is_missing: scope.is_missing,
    runs: scope.runs,
    tasks: scope.tasks,
    is_violated: violations.names.length > 0,
    lacks_evidence: checks.some(({ name, passed }) => name === 'required_evidence' && !passed),
  })
  const isEnded = flow.cancelled_at_ms !== undefined && found !== 'failed' && found !== 'cancelled'
  const status = isEnded ? 'cancelled' : found
  const told = requiredOf(manifest).length > 0 ? (flow.evidence_at_ms ?? 0) : 0
  return {
    scope,
    status,
    completed_at_ms: isEnded
      ? flow.cancelled_at_ms
      : boundaryOf(status, { ...scope.times, violated: violations.at, told }),
    updated_at_ms: Math.max(flow.updated_at_ms, scope.times.last),
    refs: scope.refs,
    is_cut: scope.is_cut,
    phases: manifest.phases.map(phaseOf(flow.evidence_refs, { status, is_over: isOver(status, scope) })),
    checks,
  }
}

/** A flow as it is: how it ended, or what is found now. */
export function* project(parts: ProjectionParts, flow: FlowRecord): Portions<Projection> {
  const { settled } = flow
  if (settled === undefined) return yield* look(parts, flow)
  const { refs_truncated, ...kept } = settled
  return { ...kept, updated_at_ms: Math.max(kept.updated_at_ms, flow.updated_at_ms), is_cut: refs_truncated === true }
}
