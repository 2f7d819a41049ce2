import { UserQuestionRequestView } from '../sessions/contract.js'
import { doc, enums, named, object, string, type Infer } from '../../../core/plugin.js'
import { runKinds } from '../runs/contract.js'
import { questionAskerFields } from './contract.js'

/** A question that waits (questions-1). The fields of who asks are there when that is another session. */
export const PendingQuestionView = named(
  'PendingQuestionView',
  object({
    session_id: doc(string(), 'Id of the session.'),
    agent_id: doc(string(), 'Id of the agent.'),
    run_id: doc(string(), 'Id of the run.'),
    run_kind: doc(enums(runKinds), 'What kind of run it is.'),
    ...questionAskerFields,
    request: UserQuestionRequestView,
  }),
)
export type PendingQuestionView = Infer<typeof PendingQuestionView>
