/** The example of the guide for plugins that start agents and write to them. */
import test from 'ava'
import * as kit from '../../core/plugin.js'
import { assertPassed, checkPlugin } from '../../core/testing/contract.js'
import makeErrand from '../../docs/examples/errand/plugin.js'
import { call, does, openAgent, rowsOf, settled, spawn } from '../support/agents.js'
import { startTestDaemon } from '../support/daemon.js'

test.serial('errand: it keeps what a plugin must keep', async (t) => {
  assertPassed(await checkPlugin(makeErrand))
  t.pass()
})

test.serial('errand: a call starts one agent below its own, and the one above is told', async (t) => {
  const config = { tools: { permission_mode: 'bypassPermissions' } }
  const daemon = await startTestDaemon(t, { plugins: [makeErrand(kit)], config })
  const parent = await openAgent(daemon)
  const child = (await spawn(daemon, parent)).body
  const run = await does(daemon, child.session_id, call('run_errand', { what: '/say done' }))
  t.is(run.status, 'completed', run.error)
  const below = (await rowsOf(daemon)).filter(({ parent_agent_id }: any) => parent_agent_id === child.agent_id)
  t.is(below.length, 1)
  t.like(below[0], { path: '/agent/errand', spawned_by_run_id: run.run_id })
  await settled(daemon, below[0].agent_id)
  const told = (await daemon.request('GET', '/v1/runs?session_id=s1')).body[0]
  t.is(told.kind, 'mailbox_delivery')
  t.is(told.request.actor_id, child.agent_id)
})
