/** What the events of one answer say together: one that contradicts itself is no answer (models-85). */
import type { ModelEvent } from '../contract.js'

/** Sees each event; gives what is wrong with the answer once its end is there. */
export type AnswerCheck = (event: ModelEvent) => string | undefined

type Done = Extract<ModelEvent, { type: 'done' }>

/** What real servers say is left: `stop` with calls, `length` with a part of them. */
const contradiction = ({ outcome }: Done, calls: number): string | undefined => {
  if (outcome === 'tool_calls' && calls === 0) return 'done says tool_calls, and there is no call'
  return (outcome === 'other' || outcome === 'paused') && calls > 0
    ? `done says ${outcome}, and there are calls`
    : undefined
}

/**
 * The words are those of a plugin of others alone: the suites of shipped providers have theirs, and to put them
 * together costs something with each event.
 */
export const createAnswerCheck = (isOfOthers: boolean): AnswerCheck => {
  let calls = 0
  let [shown, said] = ['', '']
  return (event) => {
    if (event.type === 'text_delta' && isOfOthers) shown += event.text
    if (event.type === 'part' && event.part.type === 'tool_call') calls += 1
    if (event.type === 'part' && event.part.type === 'text' && isOfOthers) said += event.part.text
    if (event.type !== 'done' || event.outcome === 'failed') return undefined
    const isOther = shown.trim() !== '' && shown.trim() !== said.trim()
    return contradiction(event, calls) ?? (isOther ? 'its text_deltas say other words than its text parts' : undefined)
  }
}
