/** A flow as text for terminals. */
import {
  array,
  boolean,
  integer,
  open,
  optional,
  showTime,
  string,
  visibleLine,
  type Infer,
} from '../../../../core/plugin.js'

const Phase = open({
  phase_id: string(),
  status: string(),
  missing_evidence: optional(array(open({ kind: string(), id: string() }))),
})
/** A flow, as far as it is shown. */
export const Shown = open({
  flow_id: string(),
  status: string(),
  session_id: string(),
  playbook_ref: open({ playbook_id: string(), version: string() }),
  created_at_ms: integer(),
  completed_at_ms: optional(integer()),
  run: optional(open({ run_id: string(), agent_id: string(), status: string() })),
  primitive_refs: open({ agent_ids: array(string()) }),
  phase_states: optional(array(Phase)),
  contract: open({ checks: optional(array(open({ name: string(), passed: boolean(), details: string() }))) }),
})
export type Shown = Infer<typeof Shown>

/** What a flow stays, or cannot be told. */
export const over: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'interrupted', 'unknown'])
const signs: Readonly<Record<string, string>> = { satisfied: '[x]', blocked: '[!]' }

export const phaseLine = ({ phase_id, status, missing_evidence = [] }: Infer<typeof Phase>): string => {
  const missing = missing_evidence.map(({ kind, id }) => `${kind}:${id}`).join(', ')
  const lacks = missing === '' ? '' : `  lacks ${visibleLine(missing)}`
  return `  ${signs[status] ?? '[ ]'} ${visibleLine(phase_id)}${lacks}`
}

export const headOf = (flow: Shown): string[] => {
  const { flow_id, status, playbook_ref, session_id, created_at_ms, completed_at_ms, run } = flow
  const times = `since ${showTime(created_at_ms)}`
  return [
    [flow_id, status, `${playbook_ref.playbook_id} ${playbook_ref.version}`, session_id]
      .map((text) => visibleLine(text))
      .join('  '),
    `  ${times}${completed_at_ms === undefined ? '' : `, over ${showTime(completed_at_ms)}`}`,
    ...(run === undefined ? [] : [`  run  ${visibleLine(run.run_id)}  ${run.status}`]),
  ]
}

/** What does not pass of a flow that is open may still come. */
export const checkLines = ({ status, contract: { checks = [] } }: Shown): string[] =>
  checks.map(({ name, passed, details }) => {
    const how = passed ? 'passed' : over.has(status) ? 'failed' : 'open'
    return `  ${how}  ${visibleLine(name)}  ${visibleLine(details)}`
  })
