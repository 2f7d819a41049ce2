/** What a check of a state root found, and what it looked at. */
import type { Clock } from '../../base/clock.js'
import type { Fault } from '../format/line.js'
import type { FindingKind } from './survey/visitor.js'

/**
 * `damage`: something that was acknowledged cannot be read or contradicts
 * itself. `disorder`: nothing is lost, but the daemon would not have left it
 * so. `leftover`: what a kill leaves behind; the next start clears it.
 */
export type Severity = 'damage' | 'disorder' | 'leftover'

export interface Finding extends Fault {
  readonly kind: FindingKind
  readonly severity: Severity
}

/** What one part of the root cost and held. */
export interface Checked {
  readonly area: string
  readonly files: number
  readonly items: number
  readonly bytes: number
  readonly ms: number
  readonly findings: number
}

const severities: Readonly<Record<FindingKind, Severity>> = {
  root: 'damage',
  manifest: 'damage',
  watermark: 'disorder',
  log: 'damage',
  torn: 'leftover',
  page: 'damage',
  index: 'disorder',
  tombstones: 'damage',
  document: 'damage',
  blob: 'damage',
  spool: 'disorder',
  mode: 'disorder',
  stranger: 'disorder',
  leftover: 'leftover',
  behind: 'leftover',
  record: 'damage',
  reference: 'damage',
  chain: 'damage',
}

export interface Inspection {
  readonly findings: readonly Finding[]
  readonly checked: readonly Checked[]
  add(kind: FindingKind, fault: Fault): void
  /** Counts towards the area that is being looked at. */
  count(counts: { readonly files?: number; readonly items?: number; readonly bytes?: number }): void
  /** Runs one part of the check and measures it. */
  look<R>(area: string, run: () => R): R
}

export const createInspection = (clock: Clock): Inspection => {
  const findings: Finding[] = []
  const checked: Checked[] = []
  let counts = { files: 0, items: 0, bytes: 0 }
  const look = <R>(area: string, run: () => R): R => {
    const [from, before] = [clock.elapsed(), findings.length]
    counts = { files: 0, items: 0, bytes: 0 }
    const result = run()
    checked.push({
      area,
      ...counts,
      ms: Math.round((clock.elapsed() - from) * 10) / 10,
      findings: findings.length - before,
    })
    return result
  }
  return {
    findings,
    checked,
    look,
    add: (kind, { file, offset, rule }) => void findings.push({ kind, severity: severities[kind], file, offset, rule }),
    count: ({ files = 0, items = 0, bytes = 0 }) => {
      counts = { files: counts.files + files, items: counts.items + items, bytes: counts.bytes + bytes }
    },
  }
}
