/** The route that the platform calls: a signed message opens the session of its chat and becomes one run. */
import type { IngressHead, Kit, PluginContext } from 'holdfast/plugin'
import type { Runs } from 'holdfast/plugins/execution/runs'
import type { Sessions } from 'holdfast/plugins/execution/sessions'
import { isSame, sign } from './platform.js'

type Services = { runs: Runs; sessions: Sessions; key: () => string }

export const receive = (kit: Kit, { state }: PluginContext<unknown>, { runs, sessions, key }: Services) => {
  const { defineErrors, defineRoute, digest, jsonReply, object, open, string } = kit
  const word = string({ min: 1, max: 100 })
  const errors = defineErrors({ my_plugin_unsigned: { status: 401, detail: 'The signature does not fit the bytes.' } })
  const verify = (given: readonly string[]) => (bytes: Uint8Array) => {
    if (!isSame(given.join(), sign(key(), bytes))) throw errors.my_plugin_unsigned()
  }
  return defineRoute({
    id: 'my-plugin.receive',
    method: 'POST',
    path: '/v1/my-plugin',
    summary: 'Takes a message of the platform.',
    access: 'ingress',
    ingress: ({ header }: IngressHead<undefined>) => ({ subject: 'platform', verify: verify(header('x-signature')) }),
    bodyForm: 'lenient',
    body: open({ chat: word, id: word, text: string({ max: 4000 }) }),
    reply: jsonReply(object({ run_id: string() }), 202),
    problems: [errors.my_plugin_unsigned],
    durability: 'A',
    handler: ({ body: { chat, id, text } }) => {
      const session_id = `my-plugin-${digest(chat).slice(0, 16)}`
      const receipt = { scope: 'my-plugin', key: id, digest: digest([chat, text]) }
      const input = { content: text, reply_plugin: 'my-plugin', reply_address: chat }
      return state.commit((tx) => {
        sessions.open(tx, { session_id })
        return { run_id: runs.admit({ session_id, input, receipt })(tx).run_id }
      })
    },
  })
}
