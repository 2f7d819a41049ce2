import test from 'ava'
import { parse, trusted } from '../../../../core/plugin.js'
import { textOnly } from '../../../../plugins/execution/models/contract.js'
import type { Models, Readiness } from '../../../../plugins/execution/models/contract.js'
import { createModels } from '../../../../plugins/execution/models/models.js'
import { RuntimeSettingsView, ToolLimitsView } from '../../../../plugins/operator/runtime/contract.js'
import { runtimeRoutes } from '../../../../plugins/operator/runtime/routes.js'
import { collectSettings } from '../../../../plugins/operator/runtime/settings.js'
import type { Parts } from '../../../../plugins/operator/runtime/settings.js'
import { startServer } from '../../../support/http.js'

const limits = {
  max_input_bytes: 1, max_output_bytes: 2, max_result_envelope_bytes: 3, max_timeout_ms: 4, max_parallel_tools: 5, max_calls_per_turn: 6,
  max_cumulative_output_bytes: 7, max_cumulative_result_envelope_bytes: 8, max_sandbox: 'network_enabled',
} as const

const modelsWith = (readiness: Readiness): Models => createModels('demo', () => [{
  route_id: 'demo', provider: 'demo', model: 'm1', capabilities: { ...textOnly, transcription: true },
  connection: { readiness: () => readiness, async *stream() { yield { type: 'done', outcome: 'stop', usage: { input_tokens: 0, output_tokens: 0 } } } },
}])

const partsWith = (readiness: Readiness): Parts => {
  const tools: Partial<Parts['tools']> = { permission_mode: 'plan', workspace: '/work', limits }
  const host: Partial<Parts['host']> = { stateRoot: '/state' }
  return { models: modelsWith(readiness), tools: trusted(tools), host: trusted(host) }
}

const ready: Readiness = { state: 'ok', code: 'ready', message: 'Ready.' }
const ofRoute = { severity: 'error', code: 'broken', route_id: 'demo', message: 'Broken.' }

test('GET /v1/runtime shows routes with flat capability flags, and only what this daemon has', async (t) => {
  const { ask } = await startServer(t, { routes: runtimeRoutes(() => collectSettings(partsWith(ready))) })
  const { status, body } = await ask('GET', '/v1/runtime')
  t.is(status, 200)
  t.deepEqual(body, {
    default_route: 'demo', route_id: 'demo', provider: 'demo', model: 'm1',
    routes: [{ route_id: 'demo', provider: 'demo', model: 'm1', ...textOnly, transcription: true }],
    route_diagnostics: [], permission_mode: 'plan', tool_runtime_limits: limits, workspace_root: '/work', state_root: '/state',
  })
  t.true(parse(RuntimeSettingsView, body).ok)
})

test('GET /v1/runtime/tool-limits answers the bare limits', async (t) => {
  const { ask } = await startServer(t, { routes: runtimeRoutes(() => collectSettings(partsWith(ready))) })
  const { status, body } = await ask('GET', '/v1/runtime/tool-limits')
  t.is(status, 200)
  t.deepEqual(body, limits)
  t.true(parse(ToolLimitsView, body).ok)
})

test('a route that is not ready is named with its reason', (t) => {
  t.deepEqual(collectSettings(partsWith({ state: 'error', code: 'broken', message: 'Broken.', action: 'Mend it.' })).route_diagnostics, [ofRoute])
})
