/** Capture agents as operators and agents see them; docs/rules/capture.md. */
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { definePlugin, object } from '../../../../core/plugin.js'
import { SourceKeepers, tokenDigest, type SourceKeeper } from '../../../../plugins/capture/observations/contract.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshFolder } from '../../../support/folders.js'
import { ask, judgedBy } from '../../../support/judges.js'
import { codeOf } from '../../../support/runs.js'
import { send } from '../observations/uploading.js'

type Told = any
const request = {
  batch_id: 'Office One',
  daemon_base_url: 'http://127.0.0.1:4000/',
  agents: [{ machine_id: 'Desk_1' }],
}
const provision = (daemon: Reachable, more: object = {}): Promise<Told> =>
  daemon.request('POST', '/v1/capture-agent-provisions', { ...request, ...more })
const provisioned = async (daemon: Reachable, more: object = {}): Promise<Told> => {
  const { status, body } = await provision(daemon, more)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}
const agentOf = async (daemon: Reachable, id = 'desk-1'): Promise<Told> =>
  (await daemon.request('GET', `/v1/capture-agents/${id}`)).body
const sourceOf = async (daemon: Reachable, id: string): Promise<Told> =>
  (await daemon.request('GET', `/v1/observation-sources/${id}`)).body
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const beat = (daemon: Reachable, token: string, body: object = {}, id = 'desk-1'): Promise<Told> =>
  daemon.request('POST', `/v1/capture-agents/${id}/heartbeat`, body, bearer(token))
const auditOf = async (daemon: Reachable, event: string): Promise<Told[]> =>
  (await daemon.request('GET', `/v1/observation-audit?event=${event}&limit=1000`)).body
const alertsOf = async (daemon: Reachable): Promise<Told[]> => (await daemon.request('GET', '/v1/capture-alerts')).body
const rulesOf = ({ body }: Told): string[] => body.errors.map(({ path: at }: Told) => at)

test('capture-1: a batch makes agents, sources and leases with every default, and is applied once', async (t) => {
  const daemon = await startTestDaemon(t)
  const { batch_id, agents } = await provisioned(daemon)
  t.is(batch_id, 'office-one')
  const [{ heartbeat_deadline_ms: deadline, token_expires_at_ms: expires, ...agent }] = agents
  t.like(agent, { machine_id: 'desk-1', os_profile: 'macos', heartbeat_interval_ms: 30_000 })
  t.is(agent.heartbeat_grace_ms, 120_000)
  t.like(await agentOf(daemon), {
    batch_id: 'office-one',
    status: 'active',
    source_ids: ['macos-desk-1-screen'],
    heartbeat_state: 'pending',
    heartbeat_token_version: 1,
    heartbeat_deadline_ms: deadline,
    token_expires_at_ms: expires,
  })
  t.is(expires - (deadline - 150_000), 7 * 86_400_000)
  t.like(await sourceOf(daemon, 'macos-desk-1-screen'), {
    display_name: 'desk-1 Main Display',
    kind: 'screen_snapshot',
    status: 'active',
    sensitivity: 'sensitive',
    retention_seconds: 604_800,
    max_active_observations: 256,
    max_active_bytes: 134_217_728,
    ingest_rate_limit_window_ms: 60_000,
    ingest_rate_limit_burst: 120,
  })
  const conflict = [409, 'capture_provisioning_batch_conflict']
  t.deepEqual(codeOf(await provision(daemon)), conflict)
  t.deepEqual(codeOf(await provision(daemon, { batch_id: 'office.ONE', agents: [{ machine_id: 'b' }] })), conflict)
  await provisioned(daemon, { batch_id: 'two' })
  t.deepEqual(codeOf(await provision(daemon)), conflict, 'no agent is of that batch any more')
})

const wrong: readonly (readonly [object, readonly string[]])[] = [
  [{ agents: [] }, ['body.agents']],
  [{ agents: [{ machine_id: 'a' }, { machine_id: 'b' }, { machine_id: 'A' }] }, ['body.agents.2.machine_id']],
  [{ agents: [{ machine_id: 'a b' }, { machine_id: 'a-_.  b' }] }, ['body.agents.1.machine_id']],
  [
    { agents: [{ machine_id: '../x/y' }, { machine_id: '--' }, { machine_id: 'ä' }] },
    [0, 1, 2].map((n) => `body.agents.${n}.machine_id`),
  ],
  [{ batch_id: ' . ' }, ['body.batch_id']],
  [{ sources: { screen: false } }, ['body.sources']],
  [{ os_profile: 'linux' }, ['body.sources.screen']],
  [
    { os_profile: 'windows', sources: { camera: true } },
    ['body.sources.screen', 'body.sources.camera', 'body.agents.0.camera_unique_id'],
  ],
  [
    { agents: [{ machine_id: 'a', os_profile: 'linux' }], sources: { screen: false, system_audio: true } },
    ['body.sources.system_audio'],
  ],
  [{ sources: { camera: true } }, ['body.agents.0.camera_unique_id']],
  [
    { sources: { camera: true }, agents: [{ machine_id: 'a', camera_name: 'x', camera_unique_id: 'y' }] },
    ['body.agents.0.camera_name'],
  ],
  [{ interval_ms: 0 }, ['body.interval_ms']],
  [{ token_ttl_ms: -1 }, ['body.token_ttl_ms']],
  [{ daemon_base_url: 'ftp://x' }, ['body.daemon_base_url']],
  [{ daemon_base_url: 'http://user:pass@host' }, ['body.daemon_base_url']],
  [{ agents: [] }, ['body.agents']],
  [
    { batch_id: 'b/', agents: [{ machine_id: 'a/b' }, { machine_id: '' }] },
    ['body.batch_id', 'body.agents.0.machine_id', 'body.agents.1.machine_id'],
  ],
  [{ agents: Array.from({ length: 1001 }, (_, n) => ({ machine_id: `m${n}` })) }, ['body.agents']],
]
test('capture-2: what is wrong with a batch is told by its fields, and nothing of it is provisioned', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const [more, fields] of wrong) {
    const answer = await provision(daemon, more)
    t.deepEqual(codeOf(answer), [400, 'capture_provisioning_invalid'], JSON.stringify(more).slice(0, 100))
    t.deepEqual(rulesOf(answer), fields)
  }
  t.deepEqual((await daemon.request('GET', '/v1/capture-agents')).body, [])
  t.deepEqual((await daemon.request('GET', '/v1/observation-sources')).body, [])
  const { agents } = await provisioned(daemon, { os_profile: 'linux', sources: { screen: false, microphone: true } })
  t.deepEqual(
    agents[0].sources.map(({ source_id }: Told) => source_id),
    ['linux-desk-1-call-audio'],
  )
})

test('capture-2: a length of time that no clock can count is refused with its field', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const field of ['token_ttl_ms', 'heartbeat_interval_ms', 'heartbeat_grace_ms', 'interval_ms', 'duration_ms']) {
    const answer = await provision(daemon, { [field]: Number.MAX_SAFE_INTEGER })
    t.is(answer.status, 400, field)
    t.deepEqual(rulesOf(answer), [`body.${field}`])
  }
  t.deepEqual((await daemon.request('GET', '/v1/capture-agents')).body, [])
})

test('capture-5: nothing is provisioned whose files have no place', async (t) => {
  const daemon = await startTestDaemon(t)
  const folder = freshFolder()
  symlinkSync(path.join(folder, 'elsewhere'), path.join(folder, 'desk-1.toml'))
  writeFileSync(path.join(folder, 'file'), '')
  const line = createCommandLine({ url: daemon.url })
  for (const into of [folder, path.join(folder, 'file'), path.join(folder, 'none', 'none')]) {
    const { code, err } = await line('capture-agents', 'provision', 'one', '--machines', 'Desk_1', '--into', into)
    t.is(code, 1)
    t.regex(err, /nothing was provisioned: .*capture_files_refused/u)
    t.false(err.includes('    at '), err)
  }
  t.deepEqual((await daemon.request('GET', '/v1/capture-agents')).body, [])
  const { err } = await line('capture-agents', 'provision', '--machines', 'Desk_1', '--into', freshFolder())
  t.regex(err, /<batch_id>/u)
})

test('capture-2: a machine of linux or windows is provisioned with its microphone, which is all that it has', async (t) => {
  const daemon = await startTestDaemon(t)
  const line = createCommandLine({ url: daemon.url })
  for (const os of ['linux', 'windows']) {
    const words = ['capture-agents', 'provision', os, '--machines', 'm', '--os', os, '--into', freshFolder()]
    const { code, err } = await line(...words)
    t.is(code, 0, err)
  }
  const { source_ids } = (await daemon.request('GET', '/v1/capture-agents/m')).body
  t.deepEqual(source_ids, ['windows-m-call-audio'])
})

const everything = {
  agents: [{ machine_id: 'Desk 1', camera_name: 'Cam "1"\n\\', microphone_name: 'Röde\u0000 \u007f' }],
  sources: { camera: true, system_audio: true, microphone: true },
}

test('capture-3: sources are named by the machine and belong to its agent alone', async (t) => {
  const daemon = await startTestDaemon(t)
  await provisioned(daemon, everything)
  const ids = ['macos-desk-1-screen', 'macos-desk-1-camera', 'macos-desk-1-call-audio']
  t.deepEqual((await agentOf(daemon)).source_ids, ids)
  for (const [at, name] of ['Main Display', 'External Webcam', 'Call Audio'].entries())
    t.is((await sourceOf(daemon, ids[at] ?? '')).display_name, `desk-1 ${name}`)
  const managed = [409, 'capture_source_managed_by_agent']
  const own = { source_id: ids[0], display_name: 'x', kind: 'screen_snapshot', upload_token: 'mine' }
  t.deepEqual(
    codeOf(await daemon.request('POST', `/v1/observation-sources/${ids[0]}/rotate-token`, { upload_token: 'mine' })),
    managed,
  )
  t.deepEqual(codeOf(await daemon.request('POST', `/v1/observation-sources/${ids[0]}/revoke-token`, {})), managed)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/observation-sources', own)), managed)
})

test('capture-4: tokens are told once and kept as digests', async (t) => {
  const daemon = await startTestDaemon(t)
  const [agent] = (await provisioned(daemon, everything)).agents
  const tokens: string[] = [agent.heartbeat_token, ...agent.sources.map(({ upload_token }: Told) => upload_token)]
  t.is(new Set(tokens).size, 4)
  const shown = JSON.stringify([await agentOf(daemon), (await daemon.request('GET', '/v1/capture-agents')).body])
  const files = readdirSync(daemon.root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const kept = files.map((one) => readFileSync(path.join(one.parentPath, one.name), 'latin1')).join('\n')
  const logged = JSON.stringify(daemon.log)
  for (const token of tokens) {
    t.regex(token, /^hft_[0-9a-f]{64}$/u)
    for (const text of [shown, kept, logged]) t.false(text.includes(token))
  }
  const { leases } = await agentOf(daemon)
  t.deepEqual(
    leases.map(({ source_id, upload_token_version }: Told) => [source_id, upload_token_version]),
    agent.sources.map(({ source_id }: Told) => [source_id, 1]),
  )
  t.deepEqual(
    leases.map(({ lease_id }: Told) => lease_id),
    agent.sources.map(({ lease_id }: Told) => lease_id),
  )
  t.regex(leases[0].lease_id, /^lease-macos-desk-1-screen-[0-9a-f]{16}$/u)
})

const readToml = (text: string): Told => {
  const program = 'import sys, json, tomllib; print(json.dumps(tomllib.loads(sys.argv[1])))'
  return JSON.parse(ask('python3', '-c', program, text))
}

judgedBy(test, 'tomllib')(
  'capture-5: the file of an agent is TOML to others too, whatever its names hold',
  async (t) => {
    const daemon = await startTestDaemon(t)
    const [agent] = (await provisioned(daemon, { ...everything, max_runs: 3, duration_ms: 60_000 })).agents
    const file = readToml(agent.config_toml)
    t.deepEqual(Object.keys(file), ['capture_agent', 'daemon', 'spool', 'sources'])
    t.like(file.capture_agent, {
      machine_id: 'desk-1',
      batch_id: 'office-one',
      heartbeat_url: 'http://127.0.0.1:4000/v1/capture-agents/desk-1/heartbeat',
      heartbeat_token: agent.heartbeat_token,
      heartbeat_deadline_ms: agent.heartbeat_deadline_ms,
    })
    t.like(file.daemon, { base_url: 'http://127.0.0.1:4000', request_timeout_ms: 30_000 })
    t.like(file.spool, { max_pending_items: 2048, max_pending_bytes: 536_870_912, upload_batch_size: 8 })
    const [screen, camera, system, microphone] = file.sources
    t.deepEqual(
      file.sources.map(({ stream_id }: Told) => stream_id),
      [
        'screen:display:display-main',
        'camera:external:primary',
        'call:desk-1-capture:conversation',
        'call:desk-1-capture:microphone',
      ],
    )
    t.deepEqual(screen.trigger, { mode: 'interval', every_ms: 5000, max_runs: 3, duration_ms: 60_000 })
    t.like(screen.remote, { ensure_exists: false, upload_token: agent.sources[0].upload_token })
    t.deepEqual(camera.driver.target, { target: 'name', name: 'Cam "1"\n\\' })
    t.like(system.driver, { kind: 'macos_system_audio', channel_count: 2, buffer_capacity_ms: 10_000 })
    t.is(microphone.driver.device_name, 'Röde\u0000 \u007f')
    t.is(microphone.remote.upload_token, system.remote.upload_token)
    t.deepEqual(microphone.driver.metadata, {
      schema: 'service.macos.capture.v1',
      machine_id: 'desk-1',
      os_profile: 'macos',
      capture_group_id: 'desk-1-capture',
      capture_group_kind: 'call_context',
      role: 'microphone',
    })
  },
)

test('observations-11: a source of an agent names no capture group of another machine', async (t) => {
  const daemon = await startTestDaemon(t)
  const { agents } = await provisioned(daemon, { agents: [{ machine_id: 'desk' }, { machine_id: 'lab' }] })
  const token = agents[0].sources[0].upload_token
  const sent = (n: number, metadata: object): Promise<Told> =>
    send(daemon, n, { source: 'macos-desk-screen', token, more: { metadata } })
  t.is((await sent(1, { capture_group_id: 'desk-capture' })).status, 200)
  t.is((await sent(2, {})).status, 200)
  const refused = await sent(3, { capture_group_id: 'lab-capture' })
  t.deepEqual(codeOf(refused), [400, 'upload_invalid'])
  t.deepEqual(rulesOf(refused), ['body.metadata.capture_group_id'])
})

test('capture-6: a machine that is provisioned anew has new tokens, and those before open nothing', async (t) => {
  const daemon = await startTestDaemon(t)
  const [first] = (await provisioned(daemon, everything)).agents
  t.is((await beat(daemon, first.heartbeat_token)).status, 200)
  const [second] = (await provisioned(daemon, { batch_id: 'two', heartbeat_interval_ms: 1000 })).agents
  t.deepEqual(codeOf(await beat(daemon, first.heartbeat_token)), [401, 'ingress_token_invalid'])
  const agent = await agentOf(daemon)
  t.like(agent, {
    batch_id: 'two',
    heartbeat_token_version: 2,
    heartbeat_state: 'healthy',
    source_ids: ['macos-desk-1-screen'],
  })
  t.is(agent.heartbeat_deadline_ms, agent.last_heartbeat_at_ms + 121_000)
  const [screen, camera, , now] = agent.leases
  t.is(screen.superseded_by, now.lease_id)
  t.is(camera.superseded_by, undefined)
  t.deepEqual(
    [screen, camera, now].map(({ revoked_at_ms }: Told) => revoked_at_ms === undefined),
    [false, false, true],
  )
  t.is(now.lease_id, second.sources[0].lease_id)
  t.is(now.upload_token_version, 2)
  t.is((await sourceOf(daemon, 'macos-desk-1-camera')).status, 'disabled')
  await daemon.request('POST', '/v1/capture-agents/desk-1/revoke', {})
  const [third] = (await provisioned(daemon, { ...everything, batch_id: 'three' })).agents
  const back = await agentOf(daemon)
  t.like(back, { status: 'active', heartbeat_state: 'pending', revoked_at_ms: undefined })
  t.is(back.created_at_ms, agent.created_at_ms)
  t.is((await sourceOf(daemon, 'macos-desk-1-camera')).status, 'active')
  t.is((await beat(daemon, third.heartbeat_token)).status, 200)
})

test('capture-7: the heartbeat token alone opens the heartbeat, and it may name what is its own', async (t) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await startTestDaemon(t, { clock })
  const [agent] = (await provisioned(daemon, everything)).agents
  const [other] = (await provisioned(daemon, { batch_id: 'b', agents: [{ machine_id: 'other' }] })).agents
  const uniform = await beat(daemon, 'none')
  for (const token of [agent.sources[0].upload_token, other.heartbeat_token, `${agent.heartbeat_token}0`])
    t.deepEqual((await beat(daemon, token)).body, uniform.body)
  t.like((await beat(daemon, agent.heartbeat_token, {}, 'nobody')).body, { status: 401, code: uniform.body.code })
  t.like(uniform.body, { status: 401, code: 'ingress_token_invalid', domain: 'observation_ingress' })
  const [screen, camera] = agent.sources.map(({ source_id }: Told) => source_id)
  for (const observed of [['x'], [screen, screen], [''], [screen, 'macos-other-screen']])
    t.like((await beat(daemon, agent.heartbeat_token, { observed_source_ids: observed })).body, {
      status: 400,
      code: 'capture_heartbeat_invalid',
      domain: 'observation_ingress',
    })
  const said = { observed_source_ids: [screen, camera], agent_version: '  one\n two  ' }
  t.like((await beat(daemon, agent.heartbeat_token, said)).body, {
    machine_id: 'desk-1',
    status: 'active',
    heartbeat_state: 'healthy',
    agent_version: 'one two',
    observed_source_ids: [screen, camera],
    unobserved_source_ids: ['macos-desk-1-call-audio'],
  })
  const versions = [
    ['x'.repeat(200), 'x'.repeat(128)],
    ['my password is 1', 'agent_version_redacted'],
    [agent.heartbeat_token, 'agent_version_redacted'],
    ['1.0\u0007', '1.0'],
  ]
  for (const [given, kept] of versions)
    t.is((await beat(daemon, agent.heartbeat_token, { agent_version: given })).body.agent_version, kept)
  t.deepEqual((await beat(daemon, agent.heartbeat_token)).body.unobserved_source_ids, [])
  clock.leap(7 * 86_400_000)
  t.is((await beat(daemon, agent.heartbeat_token)).status, 401, 'its tokens have expired')
})

const states = async (daemon: Reachable): Promise<string[]> =>
  (await daemon.request('GET', '/v1/capture-agents')).body.map(({ heartbeat_state }: Told) => heartbeat_state)

test('capture-8: heartbeats that repeat themselves are on disk once a minute, and at a stop', async (t) => {
  const clock = createLeapingClock({ still: true })
  const first = await startTestDaemon(t, { clock })
  const [agent] = (await provisioned(first)).agents
  const said = { agent_version: 'v' }
  await beat(first, agent.heartbeat_token, said)
  for (let n = 0; n < 5; n += 1) {
    clock.leap(10_000)
    await beat(first, agent.heartbeat_token, said)
  }
  t.is((await auditOf(first, 'capture_agent_heartbeat')).length, 1)
  const before = await agentOf(first)
  t.is(before.heartbeat_deadline_ms, before.last_heartbeat_at_ms + 150_000)
  clock.leap(10_000)
  await beat(first, agent.heartbeat_token, said)
  t.is((await auditOf(first, 'capture_agent_heartbeat')).length, 2)
  clock.leap(5000)
  const last = (await beat(first, agent.heartbeat_token, said)).body.last_heartbeat_at_ms
  await first.stop()
  clock.leap(3_600_000)
  const { root } = first
  const second = await startTestDaemon(t, { clock, root })
  t.is((await agentOf(second)).last_heartbeat_at_ms, last)
  t.deepEqual(await states(second), ['healthy'], 'it could not be heard while the daemon was away')
  clock.leap(150_001)
  t.deepEqual(await states(second), ['missing'])
})

test('capture-9: an agent that is not heard in time is missing once, and its next heartbeat says that it recovered', async (t) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await startTestDaemon(t, { clock })
  const [agent] = (await provisioned(daemon, { agents: [{ machine_id: 'desk-1' }, { machine_id: 'desk-2' }] })).agents
  await beat(daemon, agent.heartbeat_token)
  clock.leap(150_000)
  t.deepEqual(await alertsOf(daemon), [])
  clock.leap(1)
  const [both] = await Promise.all([alertsOf(daemon), alertsOf(daemon), states(daemon), agentOf(daemon)])
  t.deepEqual(
    both.map(({ machine_id, kind, severity }) => [machine_id, kind, severity]),
    [
      ['desk-1', 'missing_heartbeat', 'warning'],
      ['desk-2', 'missing_heartbeat', 'warning'],
    ],
  )
  t.is((await auditOf(daemon, 'capture_agent_heartbeat_missing')).length, 2)
  const missing = await agentOf(daemon)
  t.is(missing.heartbeat_missing_since_ms, both[0].detected_at_ms)
  t.is(missing.heartbeat_deadline_ms, both[0].heartbeat_deadline_ms)
  const status = (await daemon.request('GET', '/v1/status')).body as Told
  t.like(status.capture_agents, { missing: 2, healthy: 0 })
  t.true(JSON.stringify(status).includes('capture_agent_missing'))
  t.is((await beat(daemon, agent.heartbeat_token)).body.heartbeat_state, 'healthy')
  t.deepEqual(
    (await alertsOf(daemon)).map(({ machine_id }) => machine_id),
    ['desk-2'],
  )
  t.is((await agentOf(daemon)).heartbeat_missing_since_ms, undefined)
  t.is((await auditOf(daemon, 'capture_agent_heartbeat_recovered')).length, 1)
})

test('capture-10, observations-19: a revoked agent opens nothing, what it sent is not given, and a second revocation changes nothing', async (t) => {
  const daemon = await startTestDaemon(t)
  const [agent] = (await provisioned(daemon, everything)).agents
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/capture-agents/nobody/revoke', {})), [
    404,
    'capture_agent_not_found',
  ])
  const revoke = (reason: string) => daemon.request('POST', '/v1/capture-agents/desk-1/revoke', { reason })
  const { body: revoked } = await revoke('  it was\nsold ')
  t.like(revoked, { status: 'revoked', heartbeat_state: 'revoked', revoked_reason: 'it was sold' })
  t.true(revoked.leases.every(({ revoked_at_ms }: Told) => revoked_at_ms === revoked.revoked_at_ms))
  for (const { source_id } of agent.sources) t.is((await sourceOf(daemon, source_id)).status, 'disabled')
  t.is((await beat(daemon, agent.heartbeat_token)).status, 401)
  t.deepEqual((await revoke('another')).body, revoked)
  t.is((await auditOf(daemon, 'capture_agent_revoked')).length, 1)
  const given = await daemon.request('POST', '/v1/observation-materializations', {
    target_session_id: (await daemon.request('POST', '/v1/sessions', {})).body.session_id,
    selection: { type: 'latest_from_source', source_id: agent.sources[0].source_id },
    request: { content: 'Look.' },
  })
  t.deepEqual(codeOf(given), [400, 'materialization_not_allowed'])
  t.regex(given.body.detail, /it is disabled/u)
  await provisioned(daemon, { batch_id: 'again' })
  t.is((await revoke('the password was told')).body.revoked_reason, 'operator_reason_redacted')
})

test('capture-11: without its agent nothing opens a source, and the leases of the agent decide', async (t) => {
  const clock = createLeapingClock({ still: true })
  let judge: SourceKeeper['judge'] | undefined
  const looker = definePlugin({
    id: 'looker',
    version: '1.0.0',
    api: 1,
    summary: 'Looks at who keeps sources.',
    config: object({}),
    register(ctx) {
      const keepers = ctx.view(SourceKeepers)
      ctx.onStart(() => {
        judge = keepers().find(({ plugin }) => plugin === 'capture-agents')?.judge
      })
    },
  })
  const daemon = await startTestDaemon(t, { clock, plugins: [looker] })
  const [agent] = (await provisioned(daemon, everything)).agents
  const [screen, camera] = agent.sources
  const ask = (source_id: string, token: string, owner_id = 'desk-1') =>
    judge?.({ source_id, owner_id }, tokenDigest(token))
  t.deepEqual(ask(screen.source_id, screen.upload_token), { admitted: true, upload_token_version: 1 })
  const invalid = { admitted: false, reason: 'invalid_token' }
  t.deepEqual(ask(screen.source_id, camera.upload_token), invalid)
  t.deepEqual(ask(screen.source_id, agent.heartbeat_token), invalid)
  t.deepEqual(ask(screen.source_id, screen.upload_token, 'nobody'), invalid)
  clock.leap(7 * 86_400_000)
  t.deepEqual(ask(screen.source_id, screen.upload_token), { admitted: false, reason: 'expired_token' })
  const [next] = (await provisioned(daemon, { ...everything, batch_id: 'two' })).agents
  const revoked = { admitted: false, reason: 'revoked_token' }
  t.deepEqual(ask(screen.source_id, screen.upload_token), revoked)
  const [good] = next.sources
  t.deepEqual(ask(good.source_id, good.upload_token), { admitted: true, upload_token_version: 2 })
  await daemon.request('POST', '/v1/capture-agents/desk-1/revoke', {})
  t.deepEqual(ask(good.source_id, good.upload_token), revoked)
})

test('capture-1, capture-9: a thousand machines are one batch and one commit, and miss their deadlines together', async (t) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await startTestDaemon(t, { clock })
  const agents = Array.from({ length: 1000 }, (_, n) => ({ machine_id: `m ${n}`, camera_name: 'Cam' }))
  const began = performance.now()
  const told = await provisioned(daemon, { agents, sources: { camera: true, microphone: true } })
  t.log(`1000 machines with 3000 sources in ${Math.round(performance.now() - began)} ms`)
  t.is(told.agents.length, 1000)
  const status = (await daemon.request('GET', '/v1/status')).body as Told
  t.like(status.capture_agents, { pending: 1000 })
  clock.leap(150_001)
  const page = (await daemon.request('GET', '/v1/capture-alerts?page=true&limit=100')).body as Told
  t.is(page.pagination.total_count, 1000)
  t.is(page.items.length, 100)
})
