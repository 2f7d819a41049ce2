import test from 'ava'
import { definePlugin, object, Problem } from '../../../../core/plugin.js'
import type { State } from '../../../../core/plugin.js'
import { fault } from '../../../../core/assert.js'
import { Outbox } from '../../../../plugins/execution/deliveries/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'

/** A plugin that lends a test the outbox. */
const lender = () => {
  const lent: { outbox: Outbox | undefined; state: State | undefined } = { outbox: undefined, state: undefined }
  const plugin = definePlugin({
    id: 'lender', version: '1.0.0', api: 1, summary: 'Lends the outbox to a test.', needs: { outbox: Outbox }, config: object({}),
    register(ctx, { outbox }) {
      lent.outbox = outbox
      lent.state = ctx.state
    },
  })
  const get = (): { outbox: Outbox; state: State } => {
    if (lent.outbox === undefined || lent.state === undefined) throw fault('the lender was not loaded')
    return { outbox: lent.outbox, state: lent.state }
  }
  return { plugin, get }
}

const refusal = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error instanceof Problem ? [error.code, error.spec.status, error.occurrence.errors] : error
  }
  return 'accepted'
}

test('requested targets become handles, in order and without repetitions', async (t) => {
  const { plugin, get } = lender()
  await startTestDaemon(t, { plugins: [plugin] })
  const handles = get().outbox.normalize([
    { type: 'http', url: 'https://b.example/x' },
    { plugin: 'http', address: 'https://a.example/x' },
    { type: 'raw', plugin: 'http', address: 'https://b.example/x' },
    { type: 'http', url: 'https://a.example/x', headers: { 'X-Tag': 'one' } },
  ], 'body.reply_targets')
  t.deepEqual(handles, [
    { plugin: 'http', address: 'https://b.example/x' },
    { plugin: 'http', address: 'https://a.example/x' },
    { plugin: 'http', address: '{"url":"https://a.example/x","headers":{"X-Tag":"one"}}' },
  ])
})

test('a target that cannot work is refused with its place and the rule, and never with its address', async (t) => {
  const { plugin, get } = lender()
  await startTestDaemon(t, { plugins: [plugin] })
  const normalize = (target: Parameters<Outbox['normalize']>[0][number]) => refusal(() => get().outbox.normalize([{ plugin: 'http', address: 'https://fine.example' }, target], 'body.reply_targets'))
  const invalid = (path: string, rule: string) => ['reply_target_invalid', 400, [{ path, rule }]]
  t.deepEqual(normalize({ type: 'raw', plugin: 'pigeon', address: 'loft' }), invalid('body.reply_targets.1.plugin', 'must be a plugin that takes replies'))
  t.deepEqual(normalize({ plugin: 'pigeon', address: 'loft' }), invalid('body.reply_targets.1.plugin', 'must be a plugin that takes replies'))
  t.deepEqual(normalize({ type: 'slack', connector: 'none', channel_id: 'C1' }), invalid('body.reply_targets.1.type', 'must be served by a plugin that takes replies'))
  t.deepEqual(normalize({ type: 'http', url: 'http://127.0.0.1/token' }), invalid('body.reply_targets.1.url', 'must not name a private, local or special address'))
  t.deepEqual(normalize({ plugin: 'http', address: 'file:///etc/passwd' }), invalid('body.reply_targets.1.address', 'must begin with http:// or https://'))
})
