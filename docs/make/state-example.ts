/** Makes `state-example/`: a small root that two daemons worked on, the second of them killed. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { spawnDaemon, type SpawnedDaemon } from '../../test/support/daemon.js'
import { kindOf, sentenceOf } from './root-files.js'

const toolsConfig = `# What may run without asking. The most exact pattern wins; see docs/reference/configuration.md.
permission_mode = "default"

[[permission_rules]]
scope = "project"
tool_name_pattern = "bash"
behavior = "ask"
reason = "People look at shell commands here before they run."
`

/** One white pixel, PNG in base64. */
const whitePicture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=='

/** A connector that anybody may post to, and what a rain gauge has posted. */
const heardGauge = async (daemon: SpawnedDaemon): Promise<void> => {
  const settings = {
    allow_unauthenticated_ingress: true,
    default_binding_keys: ['gauge'],
    session_policy: { create_if_missing: true },
  }
  await daemon.request('PUT', '/v1/runtime/connectors/http/gauge', settings)
  const event = { content: '/say 4 mm of rain.', idempotency_key: 'gauge-1' }
  const { run_id } = await post(daemon, '/v1/connectors/http/gauge', event)
  await until(async () => (await daemon.request('GET', `/v1/runs/${run_id}`)).body.status === 'completed')
}

/** A channel of neighbours, a project that links it, and what they have learned. */
const workedTogether = async (daemon: SpawnedDaemon, asset_id: string): Promise<void> => {
  const members = ['ann', 'bob'].map((member_id) => ({
    member_id,
    member_kind: 'human_actor',
    display_name: member_id,
  }))
  await post(daemon, '/v1/channels', {
    channel_id: 'fence',
    title: 'Over the fence',
    members,
    pinned_asset_ids: [asset_id],
  })
  const { message_id } = await post(daemon, '/v1/channels/fence/messages', {
    sender_actor_id: 'ann',
    content: 'Who waters the ferns in July?',
  })
  await post(daemon, `/v1/channels/fence/messages/${message_id}/reactions`, { actor_id: 'bob', emoji: '👍' })
  await post(daemon, '/v1/channels/fence/stimuli', {
    scope: 'thread',
    thread_root_message_id: message_id,
    kind: 'task_completed',
    content: 'The water butt is full.',
  })
  const worked = async (): Promise<boolean> =>
    (await daemon.request('GET', '/v1/channels/fence/thread-work')).body.length === 1
  await until(worked)
  await post(daemon, '/v1/projects', { project_id: 'july', display_name: 'July', members })
  await post(daemon, '/v1/projects/july/channels', { channel_id: 'fence' })
  await post(daemon, '/v1/projects/july/tasks', { title: 'Find somebody who waters' })
  const { candidate_id } = await post(daemon, '/v1/learning-candidates', {
    scope: { kind: 'workspace' },
    kind: 'procedure',
    content: 'Water ferns in the evening, and never on their leaves.',
  })
  const { learning_id } = await post(daemon, `/v1/learning-candidates/${candidate_id}/publish`, {})
  for (const instructions of ['Water in the evening.', 'Water in the evening, at the root.'])
    await post(daemon, `/v1/learnings/${learning_id}/promote-skill`, { skill_name: 'water-ferns', instructions })
}

const post = async (daemon: SpawnedDaemon, path: string, body: object): Promise<any> => {
  const answer = await daemon.request('POST', path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}

const input = (daemon: SpawnedDaemon, session: string, ...lines: readonly string[]): Promise<any> =>
  post(daemon, `/v1/sessions/${session}/input`, { content: lines.join('\n') })

/** Ends in order, so its work is in pages and streams. */
const firstLife = async (daemon: SpawnedDaemon): Promise<void> => {
  await post(daemon, '/v1/personas', {
    persona_id: 'gardener',
    display_name: 'Gardener',
    soul: 'You know what grows where.',
  })
  const { asset_id } = await post(daemon, '/v1/assets', {
    file_name: 'ferns.md',
    media_type: 'text/markdown',
    content_base64: Buffer.from('# Ferns\n\nThey grow in the shade.\n').toString('base64'),
  })
  await post(daemon, '/v1/derivations', { profile: 'canonical_text', subject: { type: 'asset', asset_id } })
  await post(daemon, '/v1/observation-sources', {
    source_id: 'garden-gate',
    display_name: 'Garden gate',
    kind: 'webcam_snapshot',
    upload_token: 'given-to-the-camera',
  })
  await daemon.request(
    'POST',
    '/v1/observation-sources/garden-gate/observations',
    {
      upload: { file_name: 'gate.png', content_base64: onePixel },
      idempotency_key: 'gate-1',
      canonical_text: 'The gate is closed.',
    },
    { authorization: 'Bearer given-to-the-camera' },
  )
  await plannedBoard(daemon)
  await heardGauge(daemon)
  await workedTogether(daemon, asset_id)
  await post(daemon, '/v1/capture-agent-provisions', {
    batch_id: 'shed',
    daemon_base_url: 'https://holdfast.example',
    os_profile: 'linux',
    sources: { screen: false, microphone: true },
    agents: [{ machine_id: 'shed' }],
  })
  await post(daemon, '/v1/sessions', { session_id: 'garden', persona_id: 'gardener' })
  await post(daemon, '/v1/sessions/garden/input', {
    input_items: [
      { type: 'text', text: 'What grows in the shade?' },
      { type: 'asset_reference', asset_id },
    ],
  })
  const plan = {
    todos: [
      { id: '1', content: 'Look at the light', completed: true },
      { id: '2', content: 'Choose the ferns', completed: false },
    ],
  }
  await input(daemon, 'garden', `/tool todo_write ${JSON.stringify(plan)}`, '/say Planned.')
  const asked = await input(daemon, 'garden', '/tool bash {"command":"echo ferns"}', '/say The shell says: ferns.')
  await post(daemon, '/v1/sessions/garden/approvals', {
    resolutions: [{ request_id: asked.snapshot.pending_approvals[0].id, behavior: 'allow' }],
  })
  await post(daemon, '/v1/sessions/garden/runs', {
    content: '/emit Ferns it is.',
    idempotency_key: 'order-1',
    binding_keys: ['bed:north'],
  })
  await post(daemon, '/v1/schedules', {
    name: 'new year',
    target_session_id: 'garden',
    cadence: { type: 'cron', expression: '0 7 1 1 *', timezone: 'Europe/Berlin' },
    request: {
      input_items: [
        { type: 'text', text: 'What is to be done this year?' },
        { type: 'asset_reference', asset_id },
      ],
    },
  })
  await post(daemon, '/v1/sessions/garden/goal', { objective: 'Every bed has a plan.', status: 'paused' })
  await helper(daemon)
  await followedPlaybook(daemon)
  await post(daemon, '/v1/runtime/system-prompt', { settings: { append_prompt: 'Name plants in Latin too.' } })
  await backgroundTask(daemon)
  await deliveredOutput(daemon, asset_id)
  await post(daemon, '/v1/sessions', { session_id: 'orchard' })
  await input(
    daemon,
    'orchard',
    '/tool enter_plan_mode {"note":"Where to plant the apple trees"}',
    '/say I look around first.',
  )
  const { schedule_id } = await post(daemon, '/v1/schedules', {
    name: 'first frost',
    target_session_id: 'orchard',
    cadence: { type: 'cron', expression: '0 6 1 11 *', timezone: 'Europe/Berlin' },
    misfire_policy: { type: 'skip_missed' },
    request: { content: 'Is there frost tonight?' },
  })
  await post(daemon, `/v1/schedules/${schedule_id}/trigger`, {})
  await until(async () => {
    const { recent_executions } = (await daemon.request('GET', `/v1/schedules/${schedule_id}`)).body
    return recent_executions[0]?.status === 'settled'
  })
  await daemon.request('GET', '/v1/runs', undefined, { authorization: 'Bearer not-the-token' })
}

/** An agent that another one has started, and a message that it has read. */
const helper = async (daemon: SpawnedDaemon): Promise<void> => {
  const { agent_id } = (await daemon.request('GET', '/v1/sessions/garden')).body
  const child = await post(daemon, `/v1/agents/${agent_id}/sidechains`, {
    session_id: 'garden-helper',
    subtask: { name: 'catalogue', content: '/say The catalogue has twelve ferns.' },
  })
  await post(daemon, '/v1/mailboxes', {
    from_agent_id: agent_id,
    to_agent_id: child.agent_id,
    subject: 'thanks',
    payload: { text: 'Twelve will do.' },
  })
  await until(async () => {
    const runs: any[] = (await daemon.request('GET', '/v1/runs?session_id=garden-helper')).body
    return runs.length === 2 && runs.every(({ status }) => status === 'completed')
  })
}

/** A flow of a playbook that was published, with what its playbook requires. */
const followedPlaybook = async (daemon: SpawnedDaemon): Promise<void> => {
  const { selected_version } = await post(daemon, '/v1/playbooks', {
    manifest: {
      playbook_id: 'new-bed',
      version: '1',
      title: 'A new bed',
      objective: 'A bed in which something grows.',
      phases: [{ phase_id: 'dig', objective: 'Dig it.', acceptance_criteria: ['No stones are left.'] }],
      acceptance_criteria: ['Somebody has seen it.'],
      required_evidence: [{ kind: 'photo', id: '*' }],
    },
  })
  const named = { version: '1', digest: selected_version.digest }
  const evidence_refs = [{ kind: 'review', id: 'the neighbours' }]
  await post(daemon, '/v1/playbooks/new-bed/publish', { ...named, evidence_refs })
  await post(daemon, '/v1/flows', {
    flow_id: 'north',
    playbook_ref: { playbook_id: 'new-bed', ...named },
    session_id: 'garden',
    request: { content: '/say It is dug.' },
  })
  await until(async () => (await daemon.request('GET', '/v1/flows/north')).body.status === 'waiting')
  await post(daemon, '/v1/flows/north/evidence', { evidence_refs: [{ kind: 'photo', id: 'north.jpg' }] })
}

/** A board with one revision: a white picture and its state. */
const plannedBoard = async (daemon: SpawnedDaemon): Promise<void> => {
  const stored = async (file_name: string, media_type: string, content_base64: string): Promise<string> =>
    (await post(daemon, '/v1/assets', { file_name, media_type, content_base64 })).asset_id
  const state = {
    schema_version: 'service.board_state.v1',
    canvas: { width: 1600, height: 1000 },
    elements: [{ kind: 'text', x: 40, y: 40, text: 'Ferns', author: { kind: 'human', name: 'Robin' } }],
  }
  await post(daemon, '/v1/boards', { board_id: 'beds', display_name: 'The beds' })
  await post(daemon, '/v1/boards/beds/revisions', {
    render_asset_id: await stored('beds.png', 'image/png', whitePicture),
    state_asset_id: await stored(
      'beds.json',
      'application/json',
      Buffer.from(JSON.stringify(state)).toString('base64'),
    ),
    note: 'Where the ferns go',
  })
}

/** A command that goes on behind its run, and has ended before the daemon does. */
const backgroundTask = async (daemon: SpawnedDaemon): Promise<void> => {
  const asked = await input(
    daemon,
    'garden',
    '/tool bash {"command":"echo the ferns are watered","run_in_background":true}',
    '/say It runs behind me.',
  )
  await post(daemon, '/v1/sessions/garden/approvals', {
    resolutions: [{ request_id: asked.snapshot.pending_approvals[0].id, behavior: 'allow' }],
  })
  const tasks = await daemon.request('GET', '/v1/sessions/garden/tasks')
  await daemon.request('GET', `/v1/sessions/garden/tasks/${tasks.body[0].id}/output?wait=true&timeout_ms=20000`)
}

/** An output that was delivered, to a receiver that lives as long as that takes. */
const deliveredOutput = async (daemon: SpawnedDaemon, asset_id: string): Promise<void> => {
  const receiver = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => outgoing.writeHead(204).end())
  })
  await new Promise<void>((listening) => {
    receiver.listen(0, '127.0.0.1', listening)
  })
  const address = receiver.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/garden`
  await post(daemon, '/v1/sessions/garden/runs', {
    content: `/tool emit_output {"content":"Tell the neighbours.","artifact_ids":["${asset_id}"]}\n/say They know.`,
    reply_targets: [{ plugin: 'http', address: JSON.stringify({ url, allow_private_network: true }) }],
  })
  await until(async () => (await daemon.request('GET', '/v1/deliveries?status=delivered')).body.length === 2)
  receiver.close()
  receiver.closeAllConnections()
}

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds()))
    await new Promise((passed) => {
      setTimeout(passed, 20)
    })
}

/** Is killed, so its work is in the log: one run waits for an approval, one for an answer. */
const secondLife = async (daemon: SpawnedDaemon): Promise<void> => {
  await input(daemon, 'garden', '/tool bash {"command":"echo water the ferns"}', '/say Watered.')
  await post(daemon, '/v1/sessions', { session_id: 'kitchen' })
  await input(daemon, 'kitchen', '/ask What is for dinner? | Soup | Bread', '/say Good choice.')
}

/** A picture. */
const onePixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const filesOf = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted()

/** What belongs to one machine or one life. */
const passing = new Set(['ballast', 'daemon.lock', 'lock', 'owner.json', 'secrets'])

const row = (path: string): string => {
  const kind = kindOf(path)
  if (kind === undefined) throw new Error(`nobody knows what ${path} is`)
  return (
    `| \`${path}\` | ${sentenceOf(kind, path)} | ` +
    `${kind.read === undefined ? '' : `\`${kind.read(path).replaceAll('|', '\\|')}\``} |`
  )
}

/** The comment file, from the files that are there. */
export const commentFile = (root: string): string => `# A state root to read

This is what a daemon leaves on disk: session \`garden\` with six runs that ended, a task that ran behind one of them, an output that was delivered, a schedule, and one run that waits for an approval; session \`kitchen\` with one that waits for an answer; session \`orchard\`, which plans, with a run that a schedule made; an asset, which a run was given, and its words; a board with one revision; an observation of a camera; a capture agent; a connector, with the run that a rain gauge posted; a channel of neighbours, a project that links it, and a learning with the draft of a skill. The first daemon stopped in order, so its work is in pages. The second was killed, so its work is in the log.

To start on a copy, where there is no \`./state\` yet: \`cp -r state-example state && chmod -R go= state && npm start\`. Then \`node dist/core/main.js approvals list\` and \`node dist/core/main.js questions list\` say what waits.

| file | what it is | read it, in this folder |
|---|---|---|
${filesOf(root)
  .filter((path) => path !== 'README.md')
  .map(row)
  .join('\n')}

A root in use also has \`ballast\`, \`daemon.lock\` and \`owner.json\`, which belong to the machine, \`secrets/\` with the key that is nobody else's, and the folders \`quarantine/\` and \`tombstones/\`, which are empty here. The demo model and the shell made everything in it. The format is described in [docs/state-format.md](../docs/state-format.md); \`npm run docs -- --state-example\` makes this folder again.
`

const serve = (root: string, workspace: string): Promise<SpawnedDaemon> =>
  spawnDaemon({
    root,
    flags: ['--workspace-root', workspace, '--http-auth-mode', 'bearer', '--http-admin-token', 'for-the-making'],
    headers: { authorization: 'Bearer for-the-making' },
  })

export const makeStateExample = async (target: string): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-example-'))
  const [root, workspace] = [join(folder, 'state'), join(folder, 'workspace')]
  for (const made of [workspace, join(root, 'config')]) mkdirSync(made, { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'config', 'tools.toml'), toolsConfig)
  try {
    const first = await serve(root, workspace)
    await firstLife(first)
    await first.stop()
    const second = await serve(root, workspace)
    await secondLife(second)
    await new Promise((passed) => {
      setTimeout(passed, 1500)
    })
    await second.kill('SIGKILL')
    rmSync(target, { recursive: true, force: true })
    cpSync(root, target, { recursive: true, filter: (path) => !passing.has(relative(root, path)) })
    writeFileSync(join(target, 'README.md'), commentFile(target))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
