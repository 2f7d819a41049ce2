/** What operators grant a plugin: a secret that it names, a hook that they may set, and a number that they watch. */
import { createHmac } from 'node:crypto'
import type { Kit, Metric, Point, Token } from '../../../core/plugin.js'
import type { Tool } from '../../../plugins/execution/tools/contract.js'
import type { HookCallback } from '../../../plugins/operator/hooks/contract.js'
import type { SecretSlots, SecretUses } from '../../../plugins/operator/secrets/contract.js'

const Tools: Point<Tool> = { point: 'tools@1' }
const HookCallbacks: Point<HookCallback> = { point: 'hook-callbacks@1' }
const SecretReferences: Point<SecretUses> = { point: 'secret-references@1' }
const Metrics: Point<Metric> = { point: 'metrics@1' }
const Secrets: Token<SecretSlots> = { token: 'secret-slots@1' }

export default ({ createCount, defaulted, definePlugin, doc, object, open, parse, string }: Kit) => {
  const Text = object({ text: string({ max: 10_000 }) })
  return definePlugin({
    id: 'signer',
    version: '1.0.0',
    api: 1,
    summary: 'Signs texts with a key that is stored as a secret.',
    needs: { slots: Secrets },
    config: object({
      secret_ref: doc(defaulted(string({ min: 1, max: 200 }), 'signer.key'), 'The secret to sign with.'),
    }),
    register(ctx, { slots }) {
      const { secret_ref } = ctx.config
      // part: metric
      const signatures = createCount({
        name: 'service_signatures_total',
        help: 'Texts that were signed since the start.',
        labels: [],
      })
      ctx.contribute(Metrics, signatures.metric)
      // end
      // part: secret
      ctx.contribute(SecretReferences, {
        id: 'signer',
        of: (ref) => (ref === secret_ref ? [{ kind: 'plugin', id: 'signer' }] : []),
      })
      const sign: Tool<typeof Text> = {
        name: 'sign_text',
        description: 'Signs a text.',
        input: Text,
        effect: 'read',
        permission: 'allow',
        parallel: true,
        timeout_ms: 1000,
        sandbox: 'read_only',
        run: ({ text }) => {
          const signature = createHmac('sha256', slots.value(secret_ref)).update(text).digest('hex')
          signatures.add(1)
          return { type: 'result', output: { signature } }
        },
      }
      ctx.contribute(Tools, sign)
      // end
      // part: callback
      ctx.contribute(HookCallbacks, {
        name: 'short-texts',
        call: ({ payload }) => {
          const read = parse(open({ text: string({ max: 100 }) }), payload['tool_input'])
          return Promise.resolve(read.ok ? undefined : { decision: 'block', reason: 'Only short texts are signed.' })
        },
      })
      // end
    },
  })
}
