/** What the events of one answer say together: one that contradicts itself is no answer (models-85). */

/** What of an event counts here. */
interface Seen {
  readonly type: string
  readonly text?: string
  readonly part?: { readonly type: string; readonly text?: string }
  readonly outcome?: string
  readonly failure?: unknown
}

/** Sees each event; gives what is wrong with the answer once its end is there. */
export type AnswerCheck = (event: Seen) => string | undefined

/** What real servers say is left: `stop` with calls, `length` with a part of them. */
const contradiction = (outcome: string, calls: number): string | undefined => {
  if (outcome === 'tool_calls' && calls === 0) return 'done says tool_calls, and there is no call'
  return (outcome === 'other' || outcome === 'paused') && calls > 0
    ? `done says ${outcome}, and there are calls`
    : undefined
}

/** White space and how a letter is composed say nothing. */
const wordsOf = (text: string): string => text.replaceAll(/\s+/gu, '').normalize()

/**
 * The words are those of a plugin of others alone: the suites of shipped providers have theirs, and to put them
 * together costs something with each event.
 */
export const createAnswerCheck = (isOfOthers: boolean): AnswerCheck => {
  let calls = 0
  let [shown, said] = ['', '']
  return ({ type, text, part, outcome, failure }) => {
    if (type === 'text_delta' && isOfOthers) shown += text
    if (part?.type === 'tool_call') calls += 1
    if (part?.type === 'text' && isOfOthers) said += part.text
    if (type !== 'done' || outcome === undefined || outcome === 'failed') return undefined
    if (failure !== undefined) return `done says ${outcome}, and there is a failure`
    const isOther = wordsOf(shown) !== '' && wordsOf(shown) !== wordsOf(said)
    return (
      contradiction(outcome, calls) ?? (isOther ? 'its text_deltas say other words than its text parts' : undefined)
    )
  }
}
