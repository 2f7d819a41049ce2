/** Flows by id. */
import type { Collection, Skip, State, Tx } from '../../../core/plugin.js'
import { flowErrors } from './errors.js'
import { flowCollection, type FlowRecord } from './record.js'

export interface FlowStore {
  readonly state: State
  readonly flows: Collection<FlowRecord>
  readonly skip: Skip
  /** Throws `flow_not_found`. */
  get(flow_id: string): FlowRecord
  ofRun(run_id: string): FlowRecord | undefined
  ofKey(idempotency_key: string): FlowRecord | undefined
  /** Ids of those that have not ended: of a session, or all. */
  open(session_id?: string): readonly string[]
  hasOpen(): boolean
  /** Changes a flow in a commit. */
  change(tx: Tx, flow: FlowRecord, news: Partial<FlowRecord>): FlowRecord
}

export const declareFlows = (state: State, skip: Skip): FlowStore => {
  const flows = state.collection(flowCollection)
  const first = (index: string, group: string): FlowRecord | undefined => flows.list({ index, group, limit: 1 })[0]
  return {
    state,
    flows,
    skip,
    get(flow_id) {
      const found = flows.find(flow_id)
      if (found === undefined) throw flowErrors.flow_not_found({ details: { flow_id } })
      return found
    },
    ofRun: (run_id) => first('run', run_id),
    ofKey: (key) => first('key', key),
    open: (session_id) => (session_id === undefined ? flows.ids('open', 'all') : flows.ids('open_session', session_id)),
    hasOpen: () => flows.count('open', 'all') > 0,
    change(tx, flow, news) {
      const changed = {
        ...flow,
        ...news,
        updated_at_ms: Math.max(tx.now, flow.updated_at_ms),
        revision: flow.revision + 1,
      }
      tx.put(flows, changed)
      return changed
    },
  }
}
