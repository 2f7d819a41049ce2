/** Live views of agents, of many and through a restart of the daemon. */
import test from 'ava'
import { call, openAgent, spawn, told, untilAgent } from '../../../../support/agents.js'
import { spawnTestDaemon, startTestDaemon } from '../../../../support/daemon.js'
import { openPiped } from '../../../../support/screen.js'

const wide = {
  max_live_children_per_parent: 60,
  max_live_descendants_per_root: 60,
  max_live_sidechains_per_session: 60,
  max_spawns_per_session_window: 90,
  max_spawns_per_profile_window: 90,
}

test('agents-12: of many agents at work those that ask people are told first, and without a word of others', async (t) => {
  const daemon = await startTestDaemon(t, { config: { sidechains: wide } })
  const lead = await openAgent(daemon, 'lead')
  for (let n = 0; n < 52; n += 1) t.is((await spawn(daemon, lead, told('/sleep 600000', `asleep${n}`))).status, 200)
  const asks = (await spawn(daemon, lead, told(call('bash', { command: 'ls' }), 'asks'))).body
  await untilAgent(daemon, asks.agent_id, ({ status }) => status === 'waiting_for_approval')
  const looking = openPiped(t, ['agents', 'tree', lead], { SERVICE_DAEMON_URL: daemon.url })
  t.is(await looking.ended, 0)
  t.is(looking.err(), '')
  t.regex(looking.out(), /^People are asked by\n {2}\/asks {2}waiting_for_approval [^]*\n +holdfast approvals allow /u)
  t.regex(looking.out(), /\nOf 3 more at work, holdfast explain AGENT tells what they wait for\.\n$/u)
})

test('command-line-24: a live view waits for a daemon that goes away, and goes on with the next one', async (t) => {
  const daemon = await spawnTestDaemon(t)
  const lead = await openAgent(daemon, 'lead')
  const child = (await spawn(daemon, lead, told('/sleep 600000', 'asleep'))).body
  const watching = openPiped(t, ['agents', 'tree', lead, '--watch'], { SERVICE_DAEMON_URL: daemon.url })
  await watching.until(/asleep {2}running/u)
  await daemon.kill('SIGKILL')
  await watching.until(/The daemon at \S+ is away: waiting for it\./u)
  const next = await spawnTestDaemon(t, { root: daemon.root, bind: new URL(daemon.url).host })
  const [run] = (await next.request('GET', `/v1/runs?session_id=${child.session_id}`)).body
  await next.request('POST', `/v1/runs/${run.run_id}/cancel`)
  t.is(await watching.ended, 0, watching.out())
})
