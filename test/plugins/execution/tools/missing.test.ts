import test from 'ava'
import { ToolArrivals } from '../../../../plugins/execution/tools/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'

test('mcp-19: whose tools a session must have and has not is told by what it is refused with, its explanation and the status', async (t) => {
  let isThere = true
  const arrival = {
    id: 'gadgets',
    awaited: () => undefined,
    missing: () => (isThere ? undefined : 'no gadget answers'),
  }
  const plugin = testPlugin('workshop', { register: (ctx) => ctx.contribute(ToolArrivals, arrival) })
  const { request } = await startTestDaemon(t, { plugins: [plugin] })
  const told = async (): Promise<readonly Record<string, string>[]> =>
    (await request('GET', '/v1/status')).body.health.warnings.filter(
      ({ code }: { code: string }) => code === 'required_tools_missing',
    )
  await request('POST', '/v1/sessions', { session_id: 's' })
  isThere = false
  t.deepEqual(await told(), [], 'nobody was refused')
  const refused = await request('POST', '/v1/sessions/s/runs', { content: 'hello' })
  const why = 'tools of the plugin workshop are missing: no gadget answers.'
  t.like(refused.body, { code: 'required_tools_missing', detail: `Session s takes no run: ${why}` })
  t.is(refused.body.action, 'See GET /v1/explanations/s for how it is; submit again when it is there.')
  const [explained] = (await request('GET', '/v1/explanations/s')).body.subjects
  const reason = explained.reasons.find(({ code }: { code: string }) => code === 'required_tools')
  t.like(reason, { text: `Its session takes no run: ${why}`, commands: ['holdfast status'] })
  const [warning] = await told()
  t.like(warning, { message: `Session s takes no run: ${why}`, related_id: 's' })
  isThere = true
  t.deepEqual(await told(), [])
  isThere = false
  t.deepEqual(await told(), [], 'nobody was refused since')
})
