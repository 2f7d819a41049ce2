import { UserQuestionRequestView } from '../sessions/contract.js'
import { enums, named, object, string, type Infer } from '../../../core/plugin.js'
import { runKinds } from '../runs/contract.js'
import { questionAskerFields } from './contract.js'

/** A question that waits (questions-1). The fields of who asks are there when that is another session. */
export const PendingQuestionView = named(
  'PendingQuestionView',
  object({
    session_id: string(),
    agent_id: string(),
    run_id: string(),
    run_kind: enums(runKinds),
    ...questionAskerFields,
    request: UserQuestionRequestView,
  }),
)
export type PendingQuestionView = Infer<typeof PendingQuestionView>
