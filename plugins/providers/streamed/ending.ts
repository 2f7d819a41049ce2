/** What an answer is, now that nothing follows. */
import type { AssistantPart, ModelEvent, ModelFailure, Usage } from '../../execution/models/contract.js'
import { failures } from './failure.js'

/** Why the model stopped. `broken`: its server did not finish the answer. */
export type Finish = 'stop' | 'tool_calls' | 'length' | 'paused' | 'filtered' | 'broken' | 'other'

/** All that came of an answer. */
export interface Collected {
  readonly fault: ModelFailure | undefined
  readonly finish: Finish | undefined
  readonly usage: Usage | undefined
  /** A call without a name has an empty one. */
  readonly parts: readonly AssistantPart[]
}

export const endingOf = ({ fault, finish, usage, parts }: Collected): ModelEvent[] => {
  const calls = parts.filter((part) => part.type === 'tool_call')
  const failure = fault ?? flawOf(finish, calls)
  if (failure !== undefined || finish === undefined)
    return [
      {
        type: 'done',
        outcome: 'failed',
        failure: failure ?? failures.truncated(),
        ...(usage !== undefined && { usage }),
      },
    ]
  const ended = calls.length > 0 ? 'tool_calls' : finish === 'paused' ? 'paused' : 'stop'
  const outcome = finish === 'length' || finish === 'other' ? finish : ended
  return [
    ...parts.map((part): ModelEvent => ({ type: 'part', part })),
    { type: 'done', outcome, usage: usage ?? { input_tokens: 0, output_tokens: 0 } },
  ]
}

/** Why an answer does not count. One without a finish is what a cut stream looks like. */
const flawOf = (finish: Finish | undefined, calls: readonly { readonly name: string }[]): ModelFailure | undefined => {
  if (finish === undefined) return failures.truncated()
  if (finish === 'broken') return failures.overloaded()
  if (finish === 'filtered') return failures.filtered()
  if (calls.some(({ name }) => name === '')) return failures.invalid('A tool call of it has no name.')
  if (finish === 'tool_calls' && calls.length === 0) return failures.invalid('It announced tool calls and sent none.')
  if (finish === 'other' && calls.length > 0) return failures.invalid('It ended its tool calls with an unknown reason.')
  return undefined
}
