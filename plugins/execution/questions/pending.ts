import { enums, named, object, string } from '../../../core/plugin.js'
import type { Infer } from '../../../core/plugin.js'
import { runKinds } from '../runs/contract.js'
import { UserQuestionRequestView } from './contract.js'

/** Contract 1, `PendingQuestionView`. */
export const PendingQuestionView = named('PendingQuestionView', object({
  session_id: string(),
  agent_id: string(),
  run_id: string(),
  run_kind: enums(runKinds),
  request: UserQuestionRequestView,
}))
export type PendingQuestionView = Infer<typeof PendingQuestionView>
