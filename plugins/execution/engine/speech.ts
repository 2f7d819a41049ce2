/** What a model says in one call, shown to people who watch until it is closed. */
import type { ModelEvent } from '../models/contract.js'
import { ModelDeltas } from '../runs/contract.js'
import type { Execution } from './execution.js'

export interface Speech {
  hear(event: ModelEvent): void
  /** Must be called before anything is written down of the call. */
  close(): void
}

interface Call {
  readonly turn: number
  readonly attempt: number
}

export const openSpeech = ({ context, session_id, run_id, agent_id }: Execution, { turn, attempt }: Call): Speech => {
  const deltas = context.events.openDeltas(
    ModelDeltas,
    { session: session_id, run: run_id },
    { session_id, agent_id, run_id, turn, attempt },
  )
  return {
    hear(event) {
      if (event.type === 'text_delta') deltas.write('model_text_delta', event.text)
      else if (event.type === 'reasoning_delta') deltas.write('model_reasoning_delta', event.text)
    },
    close: () => deltas.close(),
  }
}
