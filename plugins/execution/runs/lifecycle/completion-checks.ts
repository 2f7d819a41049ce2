/** What judges whether a run has done what it must: one check for each type of requirement. */
import {
  answerOf,
  awaited,
  definePoint,
  hasMembers,
  jsonObject,
  open,
  optional,
  string,
  withAnswers,
  yesOrNo,
  type Point,
} from '../../../../core/plugin.js'
import type { CompletionMark } from '../../sessions/contract.js'
import type { ToolCall } from '../../tools/contract.js'
import { runErrors } from '../record/errors.js'
import type { CompletionRequirement } from '../record/run-record.js'

/** Where the calls of the run work. */
export type WorkPlace = Pick<ToolCall, 'workspace' | 'within'>

/** What is known of a run that says it is done. */
export interface CompletionEvidence {
  /** What `mark` gave when the run began. */
  readonly mark: CompletionMark | undefined
  /** Paths that calls of the run wrote to, as the tools themselves told. */
  readonly written: ReadonlySet<string>
  readonly at: WorkPlace
}

/** Judges one type of completion requirement, by what is there and never by what the model says. */
export interface CompletionCheck {
  readonly type: CompletionRequirement['type']
  /** Why no run can meet the requirement, as a sentence; undefined if a run can. */
  refusal(requirement: CompletionRequirement): Promise<string | undefined>
  /** What the journal keeps of how things are before the run does anything; undefined if nothing has to be kept. */
  mark(requirement: CompletionRequirement, at: WorkPlace): Promise<CompletionMark | undefined>
  isMet(requirement: CompletionRequirement, evidence: CompletionEvidence): Promise<boolean>
}
/** Every check, by the type of requirement that it judges. */
export const CompletionChecks: Point<CompletionCheck> = withAnswers(
  definePoint<CompletionCheck>(
    'completion-checks@1',
    ({ type }) => type,
    hasMembers('a completion check', { type: 'id', refusal: 'function', mark: 'function', isMet: 'function' }),
  ),
  {
    refusal: awaited(answerOf(string(), 'the plugin that judges it fails.', { nothing: undefined })),
    mark: awaited(answerOf(open({ path: string(), state: optional(jsonObject()) }), undefined)),
    isMet: awaited(yesOrNo(false)),
  },
)

/** The checks that there are. */
export type Checks = () => readonly CompletionCheck[]

export const checkOf = (checks: Checks, { type }: CompletionRequirement): CompletionCheck | undefined =>
  checks().find((check) => check.type === type)

/** Refuses requirements that no run can meet. */
export const checkRequirements = async (
  checks: Checks,
  requirements: readonly CompletionRequirement[],
): Promise<void> => {
  for (const [at, requirement] of requirements.entries()) {
    const check = checkOf(checks, requirement)
    const reason = check === undefined ? 'no plugin looks at files.' : await check.refusal(requirement)
    if (reason !== undefined)
      throw runErrors.completion_requirement_invalid({
        details: { reason },
        errors: [{ path: `body.completion_requirements.${at}.path`, rule: 'must be a file inside the workspace' }],
      })
  }
}
