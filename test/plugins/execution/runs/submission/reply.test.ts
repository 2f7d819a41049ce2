import test from 'ava'
import { unsafeCast } from '../../../../../core/base/schema.js'
import type { Outbox } from '../../../../../plugins/execution/deliveries/contract.js'
import { createOutbox } from '../../../../../plugins/execution/deliveries/outbox.js'
import { replyTargets } from '../../../../../plugins/execution/runs/submission/reply.js'
import { errorPathsOf } from '../../../../support/problems.js'

const reply = (plugin: string) => ({
  plugin,
  address: () => undefined,
  refuse: (address: string) => (address === 'bad' ? 'must be good' : undefined),
  target: (address: string) => address,
  deliver: () => Promise.resolve({ type: 'delivered' as const }),
})
const outbox: Outbox = createOutbox(unsafeCast({ replies: () => [reply('mail'), reply('bell')] }))
const targets = (more: object) => replyTargets(() => outbox, { content: 'x', ...more })

test('runs-11: the primary target comes first, and repetitions are left out', (t) => {
  const [a, b] = [
    { plugin: 'mail', address: 'a' },
    { plugin: 'bell', address: 'b' },
  ]
  t.is(targets({}), undefined)
  t.is(targets({ reply_targets: [] }), undefined)
  t.deepEqual(targets({ reply_targets: [b, { type: 'raw', ...a }, b] }), [b, a])
  t.deepEqual(targets({ reply_plugin: 'mail', reply_address: 'a', reply_targets: [b, a, b] }), [a, b])
  t.deepEqual(targets({ reply_plugin: 'mail', reply_address: 'a' }), [a])
})

test('each refusal names its field', (t) => {
  const paths = (more: object) => errorPathsOf(() => targets(more))
  t.deepEqual(paths({ reply_plugin: 'mail' }), ['reply_target_incomplete', 'body.reply_address'])
  t.deepEqual(paths({ reply_address: 'a' }), ['reply_target_incomplete', 'body.reply_plugin'])
  t.deepEqual(paths({ reply_plugin: 'fax', reply_address: 'a' }), ['reply_target_invalid', 'body.reply_plugin'])
  t.deepEqual(paths({ reply_plugin: 'mail', reply_address: 'bad' }), ['reply_target_invalid', 'body.reply_address'])
  t.deepEqual(
    paths({
      reply_targets: [
        { plugin: 'mail', address: 'a' },
        { plugin: 'fax', address: 'a' },
      ],
    }),
    ['reply_target_invalid', 'body.reply_targets.1.plugin'],
  )
  t.deepEqual(
    errorPathsOf(() =>
      replyTargets(() => undefined, { content: 'x', reply_targets: [{ plugin: 'mail', address: 'a' }] }),
    ),
    ['reply_unavailable', 'body.reply_targets'],
  )
})
