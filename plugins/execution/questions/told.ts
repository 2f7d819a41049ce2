/** What became of a question is told to whoever looks at that moment. */
import { unsafeCast, type JsonObject } from '../../../core/plugin.js'
import type { Interception } from '../interception/contract.js'
import type { QuestionSettler } from './contract.js'

/** The same settler, which tells of what it has settled. */
export const telling = (settler: QuestionSettler, interception: () => Interception | undefined): QuestionSettler => {
  const told =
    <T extends Parameters<QuestionSettler['expire']>[0]>(outcome: string, settle: (settlement: T) => Promise<void>) =>
    async (settlement: T): Promise<void> => {
      await settle(settlement)
      const { run, resolution } = settlement
      const payload = { outcome, ...unsafeCast<JsonObject>(resolution) }
      const { run_id, session_id, agent_id } = run
      interception()?.tell({ event: 'elicitation_result', run_id, session_id, agent_id, payload })
    }
  return {
    asker: (run) => settler.asker(run),
    answer: told('answered', (one) => settler.answer(one)),
    cancel: told('cancelled', (one) => settler.cancel(one)),
    expire: told('expired', (one) => settler.expire(one)),
  }
}
