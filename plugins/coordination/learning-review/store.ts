/** Ended runs about which a model is still to be asked. */
import {
  boolean,
  integer,
  object,
  optional,
  string,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type State,
} from '../../../core/plugin.js'

const WaitingCapture = object({
  run_id: string(),
  session_id: string(),
  agent_id: string(),
  kind: string(),
  /** Nobody asked for it: others had its session told something. */
  is_told: optional(boolean()),
  attempts: integer({ min: 0 }),
  next_attempt_at_ms: timestamp(),
})
export type WaitingCapture = Infer<typeof WaitingCapture>

/** So many wait at most; of runs behind them no model is asked. */
export const mostWaiting = 1_000

const waitingCaptures: CollectionSpec<WaitingCapture> = {
  name: 'learning_captures',
  version: 1,
  id: ({ run_id }) => run_id,
  indexes: { all: { group: () => 'all' } },
  settled: () => true,
  removed: 'forgotten',
  bounded: { learning_captures: `the first ${mostWaiting} runs that wait for a model` },
  schema: WaitingCapture,
}

export const declareCaptures = (state: State): Collection<WaitingCapture> => state.collection(waitingCaptures)
