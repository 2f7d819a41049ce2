import test from 'ava'
import type { AnyPlugin } from '../../../../../core/plugin.js'
import { ReplyPlugins, type ReplyPlugin } from '../../../../../plugins/execution/deliveries/contract.js'
import { runEvents } from '../../../../../plugins/execution/runs/views/run-events.js'
import { viewRun } from '../../../../../plugins/execution/runs/views/shown-run.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { openSession, submit, until } from '../../../../support/runs.js'
import { complete, openRunStore, playRun, runRecord, say, start } from '../../../../support/run-store.js'
import { openStream } from '../../../../support/sse.js'
import { testPlugin } from '../../../../support/plugins.js'

const pigeon: ReplyPlugin = {
  plugin: 'pigeon',
  address: () => undefined,
  refuse: () => undefined,
  target: () => 'pigeon',
  deliver: () => Promise.resolve({ type: 'delivered' }),
}
const pigeons: AnyPlugin = testPlugin('pigeons', {
  register(ctx) {
    ctx.contribute(ReplyPlugins, pigeon)
  },
})

test('runs-23: an output names its first target, and whoever may not see the address sees that it is hidden', async (t) => {
  const { store, ...parts } = await openRunStore(t)
  const targets = new Map([[4, { plugin: 'pigeon', address: 'roof-7' }]])
  const outbox: any = { enqueue: () => {}, ofRun: () => ({ views: [], targets }) }
  const all = { ...parts, store: { ...store, outbox: () => outbox } }
  const run = await playRun(all, runRecord('r1', 's1', 'queued'), start, say('a'), say('b'), complete)
  const shown = (caller?: { role: 'admin' | 'read' }): unknown[] => {
    const { outputs = [] } = viewRun(all.store, run, { caller })
    const events = runEvents(all.store, run, caller).flatMap(({ event }) =>
      event.type === 'output' ? event.output : [],
    )
    t.deepEqual(events, outputs)
    return outputs.map(({ plugin, address }) => [plugin, address])
  }
  t.deepEqual(shown({ role: 'admin' }), [
    ['pigeon', 'roof-7'],
    [undefined, null],
  ])
  for (const caller of [undefined, { role: 'read' }] as const) t.deepEqual(shown(caller)[0], ['pigeon', 'hidden'])
})

test('deliveries-7: those who watch a run see where its outputs went and the end of each delivery', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [pigeons] })
  await openSession(daemon)
  await daemon.request('PUT', '/v1/sessions/s1/reply-targets', {
    reply_targets: [{ type: 'raw', plugin: 'pigeon', address: 'roof-7' }],
  })
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream?cursor=0' })
  t.teardown(() => stream.close())
  const ask = '/tool emit_output {"content":"soon","artifact_ids":[],"include_artifacts_inline":false}\n---\n/say done'
  const { run_id } = await submit(daemon, 's1', ask)
  await until(daemon, run_id, 'completed')
  const delivered = (): any =>
    stream.frames.find(
      ({ event, data }) =>
        event === 'run_updated' &&
        data.run.deliveries?.filter(({ status }: any) => status === 'delivered').length === 2,
    )
  while (delivered() === undefined) await stream.until(stream.frames.length + 1, 5000)
  t.is(delivered().data.run.run_id, run_id)
  const said = stream.frames.filter(({ event }) => event === 'output').map(({ data }) => data.output)
  t.deepEqual(
    said.map(({ content, plugin, address }) => [content, plugin, address]),
    [
      ['soon', 'pigeon', 'hidden'],
      ['done', 'pigeon', 'hidden'],
    ],
  )
  const { body: run } = await daemon.request('GET', `/v1/runs/${run_id}`)
  t.deepEqual(
    run.outputs.map(({ plugin, address }: any) => [plugin, address]),
    [
      ['pigeon', 'roof-7'],
      ['pigeon', 'roof-7'],
    ],
  )
  const kinds = stream.frames.filter(({ event }) => event === 'trace').map(({ data }) => data.trace.kind)
  const of = (type: string): any[] => kinds.filter((kind) => kind.type === type)
  t.deepEqual(of('output_dispatched'), [
    { type: 'output_dispatched', plugin: 'pigeon' },
    { type: 'output_dispatched', plugin: 'pigeon' },
  ])
  t.true(of('session_persisted').some(({ record_type }) => record_type === 'session'))
  t.true(of('session_persisted').some(({ record_type }) => record_type === 'event'))
  t.is(
    (
      await until(
        daemon,
        (await submit(daemon, 's1', '/tool emit_output {"content":"x","artifact_ids":["a"]}')).run_id,
        'completed',
      )
    ).outputs?.[0]?.content === 'x',
    false,
  )
})
