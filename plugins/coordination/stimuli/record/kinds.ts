/** What a stimulus tells of. */
export const stimulusKinds = [
  'agent_idea',
  'schedule_fire',
  'schedule_result',
  'task_completed',
  'review_completed',
  'sidechain_milestone',
  'observation_materialized',
  'thread_idle_followup',
  'result_summary',
  'supersession_notice',
] as const
/** One of `stimulusKinds`. */
export type StimulusKind = (typeof stimulusKinds)[number]
