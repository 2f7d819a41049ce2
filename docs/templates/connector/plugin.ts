/** A chat platform: its messages become runs, and what the runs say goes back. The secret `my-plugin.key` signs both. */
import type { Kit, Token } from 'holdfast/plugin'
import type { Runs } from 'holdfast/plugins/execution/runs'
import type { Sessions } from 'holdfast/plugins/execution/sessions'
import type { SecretSlots } from 'holdfast/plugins/operator/secrets'
import { replies, ReplyPlugins } from './platform.js'
import { receive } from './receive.js'

const needs = {
  runs: { token: 'runs@1' } as Token<Runs>,
  sessions: { token: 'sessions@1' } as Token<Sessions>,
  slots: { token: 'secret-slots@1' } as Token<SecretSlots>,
}

export default (kit: Kit) => {
  const { defaulted, definePlugin, doc, object, string } = kit
  return definePlugin({
    id: 'my-plugin',
    version: '0.1.0',
    api: 1,
    summary: 'Speaks with a chat platform.',
    needs,
    config: object({
      answers_url: doc(defaulted(string(), 'http://127.0.0.1:8080/'), 'Where answers are posted.'),
    }),
    register(ctx, { runs, sessions, slots }) {
      const key = (): string => slots.value('my-plugin.key')
      ctx.routes(receive(kit, ctx, { runs, sessions, key }))
      ctx.contribute(ReplyPlugins, replies(ctx.config.answers_url, key))
    },
  })
}
