/** What became of a run, in a sentence with what to do. */
import { sentence, visibleLine, showClockTime } from '../../../../core/plugin.js'
import { endTexts, type RunRow } from '../terminal/run-text.js'

const again = '/retry makes it anew.'

/** What helps, by what the error of a run begins with. */
const advice: readonly (readonly [RegExp, string])[] = [
  [
    /^model_auth\b/u,
    `holdfast secrets list shows which keys are stored, holdfast secrets set NAME --stdin replaces one; ${again}`,
  ],
  [/^model_(?:network|timeout|overloaded|retries_exhausted|truncated)\b/u, `See that the model server is up; ${again}`],
  [/^model_rate_limited\b/u, `Wait a little; ${again}`],
  [/^model_context_length\b/u, 'The conversation is too long for the model: /new begins another one.'],
  [/^model_bad_request\b/u, `/model NAME takes another model; ${again}`],
  [/^budget_exhausted\b/u, 'holdfast usage tells what was used.'],
]

const adviceOn = (error: string): string => advice.find(([begin]) => begin.test(error))?.[1] ?? again

/** How it ended; undefined where its answer says it all, and while it goes on. */
export const outcomeText = ({
  status,
  error = 'nobody said why',
  outputs = [],
  answer_ended = '',
}: RunRow): string | undefined => {
  if (status === 'failed') return `The run failed: ${sentence(visibleLine(error))}`
  if (status === 'interrupted' || status === 'cancelled') return `The run was ${status}.`
  if (endTexts[answer_ended] !== undefined) return `(${endTexts[answer_ended]})`
  return status === 'completed' && outputs.length === 0 ? '(the last answer of the model was empty)' : undefined
}

/** The same with what to do about it. */
export const endText = (run: RunRow): string | undefined => {
  const outcome = outcomeText(run)
  if (outcome === undefined || run.status === 'completed') return outcome
  return `${outcome} ${run.status === 'failed' ? adviceOn(run.error ?? '') : again}`
}

/** What an open run waits for, where no question says it. */
export const waitText = ({
  status,
  daemon_held,
  waiting_for_model_route: wait,
  model_call_held: held,
}: RunRow): string | undefined => {
  if (daemon_held === true) return 'The daemon holds and begins no run: holdfast release'
  if (status === 'queued') return 'Another run of this session goes first.'
  if (held !== undefined)
    return `The server of the model has asked for time: it is called at ${showClockTime(held.until_ms)}.`
  if (wait === undefined) return undefined
  const at = showClockTime(wait.next_attempt_at_ms)
  return `The model does not answer (${visibleLine(wait.message)}): attempt ${wait.attempts + 1} at ${at}.`
}

/** Where a run works that has a folder of its own. */
export const placeText = ({ worktree }: RunRow): string | undefined =>
  worktree === undefined
    ? undefined
    : `Works in a git worktree of its own: ${visibleLine(worktree.path)}. What it leaves there is kept.`
