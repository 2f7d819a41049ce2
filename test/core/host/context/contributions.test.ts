/** What a plugin contributes and throws is its own fault, wherever it comes out. */
import test from 'ava'
import { shippedPlugins } from '../../../../core/shipped.js'
import { rootWith } from '../../../support/broken-plugins.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { until } from '../../../support/runs.js'

const plugin = 'throws-in-contributions'

const runs = async (daemon: TestDaemon, session: string, body: object): Promise<string> => {
  const { run_id } = (await daemon.request('POST', `/v1/sessions/${session}/runs`, body)).body
  return (await until(daemon, run_id, 'completed', 'failed')).status
}

/** How each of its contributions is asked, by the word in its error. */
const provocations: Readonly<Record<string, (daemon: TestDaemon) => Promise<unknown>>> = {
  hold: ({ request }) => request('PUT', '/v1/sessions/hold/operator', { enabled: true }),
  guard: ({ request }) => request('POST', '/v1/sessions/guard/end', {}),
  metric: ({ request }) => request('GET', '/metrics'),
  metadata: ({ request }) => request('GET', '/v1/sessions/metadata/events'),
  listener: (daemon) => runs(daemon, 'listener', { content: '/tool bash {"command":"true"}' }),
  observer: (daemon) => runs(daemon, 'observer', { content: 'hello' }),
  check: (daemon) =>
    runs(daemon, 'check', { content: 'hello', completion_requirements: [{ type: 'workspace_file', path: 'a' }] }),
}

test('runtime-19, metrics-3: what a contribution throws is charged to the plugin that contributed it', async (t) => {
  const shipped = (await shippedPlugins()).filter(({ id }) => id !== 'files')
  const daemon = await startTestDaemon(t, {
    root: await rootWith(plugin),
    shipped,
    config: { tools: { permission_mode: 'bypassPermissions' } },
  })
  for (const [session, provoke] of Object.entries(provocations)) {
    await daemon.request('POST', '/v1/sessions', { session_id: session })
    const outcome = await provoke(daemon)
    if (session === 'observer') t.is(outcome, 'completed', 'an observer changes nothing for the run')
    const faulty = daemon.daemon.view.plugins().filter(({ fault_count }) => fault_count > 0)
    t.deepEqual([...new Set(faulty.map(({ id }) => id))], [plugin], session)
    t.is(faulty[0]?.last_fault?.message, `the ${session} is broken`)
  }
})
