/**
 * A tool that starts an agent for a part of the work, and tells the one above by a message. It imports types only, as a
 * plugin in a state folder does.
 */
import type { Kit, Point, Token } from '../../../core/plugin.js'
import type { Agents as AgentsService } from '../../../plugins/agents/sidechains/contract.js'
import type { Mailboxes as MailboxesService } from '../../../plugins/agents/mailboxes/contract.js'
import type { Tool } from '../../../plugins/execution/tools/contract.js'

// part: tokens
/** A type and a value of one name do not go together where the type is imported. */
const Agents: Token<AgentsService> = { token: 'agents@1' }
const Mailboxes: Token<MailboxesService> = { token: 'mailboxes@1' }
const Tools: Point<Tool> = { point: 'tools@1' }
// end

export default ({ definePlugin, object, string }: Kit) => {
  const Errand = object({ what: string({ min: 1, max: 2000 }) })
  return definePlugin({
    id: 'errand',
    version: '1.0.0',
    api: 1,
    summary: 'Sends an agent on an errand.',
    needs: { agents: Agents, mailboxes: Mailboxes },
    register(ctx, { agents, mailboxes }) {
      // part: tool
      const runErrand: Tool<typeof Errand> = {
        name: 'run_errand',
        description: 'Sends an agent of its own on an errand; its result is read with wait_agent or get_agent.',
        input: Errand,
        effect: 'idempotent',
        permission: 'ask',
        parallel: true,
        timeout_ms: 10_000,
        sandbox: 'inherited',
        async run({ what }, { session_id, run_id, key }) {
          const self = agents.ofSession(session_id)
          const { agent_id: parent_agent_id } = self.session
          const { agent_id } = await agents.start({
            parent_agent_id,
            run_id,
            name: 'errand',
            content: what,
            spawn_request_id: key,
          })
          const above = self.parent_agent_id
          return {
            type: 'result',
            output: { agent_id },
            apply(tx) {
              if (above !== undefined)
                mailboxes.post(tx, {
                  from_agent_id: parent_agent_id,
                  to_agent_id: above,
                  subject: 'errand',
                  payload: { text: `I have sent ${agent_id}: ${what}` },
                })
            },
          }
        },
      }
      // end
      ctx.contribute(Tools, runErrand)
    },
  })
}
