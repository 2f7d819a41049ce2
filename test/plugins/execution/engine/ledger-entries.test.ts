import { groundsOf } from '../../../../plugins/execution/engine/thread/turn.js'
import test from 'ava'
import { shippedPlugins } from '../../../../core/shipped.js'
import { object, type AnyPlugin, type ShippedPlugin, digest } from '../../../../core/plugin.js'
import { ExternalActions } from '../../../../plugins/execution/external-actions/contract.js'
import { defineTool, Tools } from '../../../../plugins/execution/tools/contract.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { testPlugin } from '../../../support/plugins.js'

const actionsOf = async (daemon: TestDaemon, run_id: string): Promise<any[]> =>
  (await daemon.request('GET', `/v1/runs/${run_id}/external-actions`)).body
const brief = (rows: any[]): unknown[] => rows.map(({ target, outcome, code }) => [target, outcome, code])

test(
  'external-actions-3: calls that act are in the ledger with their grounds and digests; those that look are ' +
    'not, nor a plain run',
  async (t) => {
    const daemon = await startTestDaemon(t, { plugins: [effectTools(createWorld())] })
    await openSession(daemon)
    const plain = await until(daemon, (await submit(daemon, 's1', 'hello')).run_id, 'completed')
    t.deepEqual(await actionsOf(daemon, plain.run_id), [])
    const { run_id } = await submit(
      daemon,
      's1',
      '/tool peek {}\n---\n/tool pay {"what":"rent"}\n---\n/tool mcp__put {"what":"a"}',
    )
    const {
      pending_approvals: [asked],
    } = await until(daemon, run_id, 'waiting_for_approval')
    t.deepEqual(brief(await actionsOf(daemon, run_id)), [['pay', 'done', undefined]])
    await daemon.request('POST', `/v1/runs/${run_id}/approvals`, {
      resolutions: [{ request_id: asked.id, behavior: 'allow', updated_input: { what: 'b' } }],
    })
    await until(daemon, run_id, 'completed')
    const [paid, put] = await actionsOf(daemon, run_id)
    t.like(paid, {
      kind: 'tool',
      target: 'pay',
      run_id,
      outcome: 'done',
      attempts: 1,
      approved_by: { type: 'rule', id: '*' },
      request_digest: digest({ what: 'rent' }),
      response_digest: digest({ done: 'rent' }),
    })
    t.like(put, {
      target: 'mcp__put',
      tool_call_id: asked.tool_call_id,
      approved_by: { type: 'approval', id: asked.id },
      request_digest: digest({ what: 'b' }),
    })
    t.is((await daemon.request('GET', '/v1/status')).body.external_actions.unknown_run_count, 0)
  },
)

test('a call that was denied is no action', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [effectTools(createWorld())] })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', '/tool mcp__pay {}')
  const {
    pending_approval_ids: [request_id],
  } = await until(daemon, run_id, 'waiting_for_approval')
  await daemon.request('POST', `/v1/runs/${run_id}/approvals`, { resolutions: [{ request_id, behavior: 'deny' }] })
  await until(daemon, run_id, 'completed')
  t.deepEqual(await actionsOf(daemon, run_id), [])
})

test('external-actions-4: an effect is pending until its tool tells what came of it', async (t) => {
  const world = createWorld()
  const daemon = await startTestDaemon(t, { plugins: [effectTools(world)], config: { runs: { stop_grace_ms: 50 } } })
  const entered = new Promise<void>((resolve) => {
    world.entered = resolve
  })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', '/tool slow_pay {}')
  await entered
  t.deepEqual(brief(await actionsOf(daemon, run_id)), [['slow_pay', 'pending', undefined]])
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  await until(daemon, run_id, 'cancelled')
  t.deepEqual(brief(await actionsOf(daemon, run_id)), [['slow_pay', 'failed', undefined]], 'the tool said so')
})

test('an effect whose tool never ends is unknown, also if the run ended around it, and such runs are counted', async (t) => {
  const world = createWorld()
  const stubborn = testPlugin('stubborn', {
    register: (ctx) =>
      ctx.contribute(
        Tools,
        defineTool({
          name: 'stuck',
          description: 'Never ends.',
          input: object({}),
          effect: 'once',
          permission: 'allow',
          parallel: false,
          timeout_ms: 60_000,
          sandbox: 'inherited',
          run: () => {
            world.entered()
            return new Promise(() => {})
          },
        }),
      ),
  })
  const daemon = await startTestDaemon(t, { plugins: [stubborn], config: { runs: { stop_grace_ms: 50 } } })
  await openSession(daemon)
  for (const count of [1, 2]) {
    const entered = new Promise<void>((resolve) => {
      world.entered = resolve
    })
    const { run_id } = await submit(daemon, 's1', '/tool stuck {}')
    await entered
    await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
    await until(daemon, run_id, 'cancelled')
    t.deepEqual(brief(await actionsOf(daemon, run_id)), [['stuck', 'unknown', 'call_not_ended']])
    t.is((await daemon.request('GET', '/v1/status')).body.external_actions.unknown_run_count, count)
  }
})

/** The shipped list with another ledger, or without one. */
const listWith = async (ledger?: AnyPlugin): Promise<readonly ShippedPlugin[]> => {
  const others = (await shippedPlugins()).filter(({ id }) => id !== 'external-actions')
  return ledger === undefined
    ? others
    : [...others, { id: 'external-actions', required: true, load: () => Promise.resolve({ default: ledger }) }]
}

test('external-actions-5: what cannot be entered in the ledger is not done', async (t) => {
  const world = createWorld()
  const refusing = testPlugin('external-actions', {
    provides: [ExternalActions],
    register: (ctx) =>
      ctx.provide(ExternalActions, {
        intend: () => {
          throw new TypeError('no ink')
        },
        conclude: () => {},
        abandon: () => {},
        unknown: () => [],
        of: () => [],
        acknowledge: () => {},
      }),
  })
  const daemon = await startTestDaemon(t, { plugins: [effectTools(world)], shipped: await listWith(refusing) })
  await openSession(daemon)
  const { error } = await until(
    daemon,
    (await submit(daemon, 's1', '/tool peek {}\n---\n/tool pay {}')).run_id,
    'failed',
  )
  t.regex(error, /^engine_fault/u)
  t.deepEqual(world.calls, ['peek:it'])
})

test('without a ledger runs act as ever', async (t) => {
  const world = createWorld()
  const daemon = await startTestDaemon(t, { plugins: [effectTools(world)], shipped: await listWith() })
  await openSession(daemon)
  await until(daemon, (await submit(daemon, 's1', '/tool pay {}')).run_id, 'completed')
  t.deepEqual(world.calls, ['pay:it'])
})

test('external-actions-7: the mode is what let a call act if it changed the answer of the rules, else the rule', (t) => {
  const audit = {
    scope: 'session',
    tool_name: 'x',
    tool_call_id: 'c',
    decision: 'allow',
    base_decision: 'ask',
    effective_mode: 'acceptEdits',
    justification: null,
    reason: null,
    approval_request_id: null,
  } as const
  t.deepEqual(groundsOf({ ...audit, mode_effect: 'accept_edits', matched_rule_pattern: 'x' }), {
    type: 'mode',
    id: 'accept_edits',
  })
  t.deepEqual(groundsOf({ ...audit, matched_rule_pattern: 'x*' }), { type: 'rule', id: 'x*' })
  t.deepEqual(groundsOf(audit), { type: 'mode', id: 'acceptEdits' })
})
