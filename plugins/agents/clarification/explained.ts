/** Whom an agent has asked for a decision (explanations-11). */
import type { ReasonSource } from '../../operator/explanations/contract.js'
import type { ClarificationStore } from './store.js'

export const clarificationReasons = (store: ClarificationStore): ReasonSource => ({
  id: 'clarification',
  of({ kind, session_id }) {
    const asked = kind === 'agent' ? store.find(session_id) : undefined
    if (asked === undefined) return []
    const { parent_agent_id, asked_at_ms, run_id } = asked
    return [
      {
        code: 'asks_parent',
        text: `It has asked whoever answers for its parent ${parent_agent_id}.`,
        since_ms: asked_at_ms,
        leads_to: [run_id],
      },
    ]
  },
})
