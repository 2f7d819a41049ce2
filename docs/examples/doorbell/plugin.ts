/** A platform that calls in: signed requests, a session for each chat, and one run for each message. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IngressHead, Kit, Token } from '../../../core/plugin.js'
import type { Runs } from '../../../plugins/execution/runs/contract.js'
import type { Sessions } from '../../../plugins/execution/sessions/contract.js'
import type { SecretSlots } from '../../../plugins/operator/secrets/contract.js'

const RunsToken: Token<Runs> = { token: 'runs@1' }
const SessionsToken: Token<Sessions> = { token: 'sessions@1' }
const Secrets: Token<SecretSlots> = { token: 'secret-slots@1' }

export default ({
  defaulted,
  defineErrors,
  definePlugin,
  defineRoute,
  digest,
  doc,
  jsonReply,
  object,
  open,
  string,
}: Kit) => {
  const Rung = open({
    chat: string({ min: 1, max: 100 }),
    id: string({ min: 1, max: 100 }),
    text: string({ max: 4000 }),
  })
  const errors = defineErrors({
    doorbell_signature_wrong: {
      status: 401,
      domain: 'doorbell',
      detail: 'The signature does not fit the request.',
      action: 'Sign the bytes of the body with the secret of this doorbell.',
    },
  })
  return definePlugin({
    id: 'doorbell',
    version: '1.0.0',
    api: 1,
    summary: 'Turns messages of a platform into runs.',
    needs: { runs: RunsToken, sessions: SessionsToken, slots: Secrets },
    config: object({
      doorbell_secret_ref: doc(
        defaulted(string({ min: 1, max: 200 }), 'doorbell.key'),
        'The secret that the platform signs with.',
      ),
    }),
    register(ctx, { runs, sessions, slots }) {
      // part: ingress
      const ingress = ({ header }: IngressHead<undefined>) => {
        const given = Buffer.from(header('x-signature').join())
        const verify = (body: Uint8Array): void => {
          const key = slots.value(ctx.config.doorbell_secret_ref)
          const wanted = Buffer.from(createHmac('sha256', key).update(body).digest('hex'))
          if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) throw errors.doorbell_signature_wrong()
        }
        return { subject: 'platform', verify }
      }
      // end
      // part: route
      ctx.routes(
        defineRoute({
          id: 'doorbell.ring',
          method: 'POST',
          path: '/v1/doorbell',
          summary: 'Takes a message of the platform.',
          access: 'ingress',
          scheme: {
            id: 'doorbell',
            header: 'x-signature',
            description: 'HMAC-SHA-256 of the body under the secret of the doorbell, in hex.',
          },
          ingress,
          bodyForm: 'lenient',
          body: Rung,
          reply: jsonReply(object({ run_id: string() }), 202),
          problems: [errors.doorbell_signature_wrong],
          durability: 'A',
          handler: async ({ body: { chat, id, text } }) => {
            const session_id = `doorbell-${digest(chat).slice(0, 16)}`
            const receipt = { scope: 'doorbell', key: id, digest: digest([chat, text]) }
            const run = await ctx.state.commit((tx) => {
              sessions.open(tx, { session_id })
              return runs.admit({ session_id, input: { content: text }, receipt })(tx)
            })
            return { run_id: run.run_id }
          },
        }),
      )
      // end
    },
  })
}
