/** One plugin in the host, from candidate to stopped. */
import { wellFormed } from '../../base/text/well-formed.js'
import type { AnyPlugin } from '../../plugin/contract.js'
import type { Candidate } from '../load/candidate.js'
import type { StartRun } from '../context/context.js'
import type { PluginReport } from '../contract.js'
import type { Faults } from '../context/faults.js'
import type { Scope } from '../context/scope.js'

export interface PluginEntry {
  readonly candidate: Candidate
  readonly plugin: AnyPlugin | undefined
  scope: Scope | undefined
  starts: readonly StartRun[]
  state: Exclude<PluginReport['state'], 'degraded'>
  reason: string | undefined
  /** Milliseconds that its stop waits on purpose. */
  stopMs: number
  readonly ms: { readonly load: number; register: number; start: number }
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10

export const report = ({ candidate, plugin, state, reason, ms }: PluginEntry, faults: Faults): PluginReport => {
  const count = faults.count(candidate.id)
  const last = faults.last(candidate.id)
  return {
    id: candidate.id,
    version: plugin?.version ?? '',
    summary: wellFormed(plugin?.summary ?? ''),
    from: candidate.from,
    required: candidate.required,
    state: state === 'ready' && count > 0 ? 'degraded' : state,
    ...(reason !== undefined && { reason }),
    fault_count: count,
    ...(last !== undefined && { last_fault: last }),
    load_ms: tenths(ms.load),
    register_ms: tenths(ms.register),
    start_ms: tenths(ms.start),
  }
}
