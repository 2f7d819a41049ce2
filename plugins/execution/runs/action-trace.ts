/** Those who watch a run see what it does outside as the ledger enters it. */
import type { ActionListener } from '../external-actions/contract.js'
import type { RunStore } from './store.js'
import { Trace } from './trace.js'

export const traceActions = ({ runs }: RunStore): ActionListener => ({
  id: 'runs',
  entered(tx, { run_id, session_id, tool_call_id, ...action }) {
    const agent_id = runs.find(run_id)?.agent_id
    if (agent_id === undefined) return
    const trace = {
      timestamp_ms: tx.now,
      session_id,
      agent_id,
      run_id,
      ...(tool_call_id !== undefined && { tool_call_id }),
      kind: { type: 'external_action' as const, ...action },
    }
    tx.emit(Trace, { session: session_id, run: run_id }, () => ({ trace }))
  },
})
