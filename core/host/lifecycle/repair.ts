/** Repair steps in their order: check, fix, check again. */
import type { RepairStep } from '../../plugin/contract.js'
import { errors } from '../errors.js'

export interface OwnedStep {
  readonly owner: string
  readonly value: RepairStep
}
export interface RepairOutcome {
  readonly step: string
  readonly plugin: string
  readonly found: number
  /** Those of them that an orderly stop leaves. */
  readonly expected: number
  readonly fixed: boolean
}

/** Steps after the ones they name, otherwise as declared. Throws if they wait for each other. */
export const orderSteps = (steps: readonly OwnedStep[]): readonly OwnedStep[] => {
  const ordered: OwnedStep[] = []
  const done = new Set<string>()
  let left = [...steps]
  while (left.length > 0) {
    const next = left.find(({ value }) => (value.after ?? []).every((id) => done.has(id)))
    if (next === undefined)
      throw errors.repair_order({ details: { ids: left.map(({ value }) => value.id).join(', ') } })
    ordered.push(next)
    done.add(next.value.id)
    left = left.filter((step) => step !== next)
  }
  return ordered
}

export interface StepRun {
  readonly writable: boolean
  /** Waits for a fix, as long as whose it is may take. */
  readonly wait: (fix: Promise<void>) => Promise<void>
}

/** Runs one step. `writable` false: what it finds stays and is reported. */
export const runStep = async (
  { owner, value: step }: OwnedStep,
  { writable, wait }: StepRun,
): Promise<RepairOutcome> => {
  const findings = step.check()
  const outcome = {
    step: step.id,
    plugin: owner,
    found: findings.length,
    expected: findings.filter((finding) => step.isExpected?.(finding) === true).length,
  }
  if (findings.length === 0 || !writable) return { ...outcome, fixed: findings.length === 0 }
  await wait(step.fix(findings))
  const rest = step.check().length
  if (rest > 0) throw errors.repair_unsettled({ details: { id: step.id, count: rest } })
  return { ...outcome, fixed: true }
}
