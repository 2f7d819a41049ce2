/** The point through which plugins tell models something in every call of a run. */
import { answerOf, definePoint, hasMembers, string, withAnswers, type Point } from '../../../core/plugin.js'

/** The run that a model is asked for, as far as sections need it. */
export interface SystemSubject {
  readonly run_id: string
  readonly session_id: string
  /** The beginning of what the run was told. */
  readonly text_preview: string
  /**
   * Says of an earlier run of the session whether the model is shown it as it was; absent where it is shown all,
   * and where it needs its run alone.
   */
  readonly shown?: (run_id: string) => boolean
}

/** Text that models are told beside the system prompt, in every call of a run. */
export interface SystemSection {
  /**
   * Unique, in letters and underscores; the text stands between tags of this name. No section's text can end its frame
   * or begin that of another one: the engine sees to that.
   */
  readonly id: string
  /**
   * Sections stand in this order, smallest first: 10 persona, 11 agent, 12 skills of the persona, 20 operator contact,
   * 30 modes, 31 worktree, 33 goal, 35 skills, 36 servers of tools, 40 learnings, 41 runs that are remembered.
   */
  readonly rank: number
  /** Says who the model is to be: left out where an operator overrides the whole prompt. */
  readonly character?: true
  /**
   * Undefined or blank if there is nothing to tell. Must be fast and must not throw; called before every model call,
   * and the same text each time lets providers reuse what they have read.
   */
  text(run: SystemSubject): string | undefined
  /**
   * What stands in place of the daemon's own system prompt, unless an operator overrides that; the first section that
   * says something counts. As `text` otherwise.
   */
  instead?(run: SystemSubject): string | undefined
}
const toldText = answerOf(string(), undefined)
/** Everything that models are told beside the system prompt. */
export const SystemSections: Point<SystemSection> = withAnswers(
  definePoint<SystemSection>(
    'system-sections@1',
    (section) => section.id,
    hasMembers('a system section', { id: 'id', rank: 'number', text: 'function' }),
  ),
  { text: toldText, instead: toldText },
)
