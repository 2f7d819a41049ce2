/** Flows as the command line shows them. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { inStatus, publish, startFlow, untilFlow } from '../../../support/flows.js'
import { openSession } from '../../../support/runs.js'

const start = async (t: ExecutionContext, manifest: JsonObject = {}) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const playbook_ref = await publish(daemon, manifest)
  const begin = async (content: string, more: JsonObject = {}): Promise<string> =>
    (await startFlow(daemon, { playbook_ref, content, ...more })).body.flow_id
  return { ...daemon, playbook_ref, begin, line: createCommandLine(daemon) }
}
const required_evidence = [{ kind: 'review', id: '*' }]

test('flows-17: a check that does not pass is open until the flow has ended, and what was given is told', async (t) => {
  const daemon = await start(t, { required_evidence })
  const { line, begin } = daemon
  const flow_id = await begin('/say done', { flow_id: 'f1' })
  await untilFlow(daemon, flow_id, ({ run, status }) => run.status === 'completed' && status === 'waiting')
  const { out } = await line('flows', 'get', 'f1')
  t.regex(out, /^f1 {2}waiting {2}notes 1 {2}s1\n {2}started {2}20/u)
  t.regex(out, /\n {2}run {6}run_\w+ {2}completed\n/u)
  t.regex(out, /\n {2}has {6}1 run, 1 output; --output json has their ids\n/u)
  t.regex(out, /\n {2}open {2}required_evidence {2}Missing: review \*\.\n/u)
  t.regex(out, /\n {2}next {5}holdfast explain flow:f1\n$/u)
  t.notRegex(out, /failed/u)
  const given = (await line('flows', 'evidence', 'f1', '--evidence', 'review:two people')).out
  t.regex(given, /succeeded[^]*\n {2}ended {4}20[^]*\n {2}given {4}review:two people\n[^]*passed {2}required_evidence/u)
  t.notRegex(given, /next/u)
  t.regex((await line('flows', 'list')).out, /^f1 {2}succeeded {2}notes 1 {2}s1 {2}20/u)
})

test('flows-3, flows-17: a flow whose run failed says why, and is started anew and not retried', async (t) => {
  const daemon = await start(t)
  const { line, begin, playbook_ref } = daemon
  await begin('/fail fatal no', { flow_id: 'bad' })
  await untilFlow(daemon, 'bad', inStatus('failed'))
  const again = `another  holdfast flows start --digest ${String(playbook_ref['digest'])} s1 notes 1 TEXT`
  const { out } = await line('flows', 'get', 'bad')
  t.regex(out, /\n {2}error {4}.*no/u)
  t.true(out.includes('  next     holdfast explain flow:bad\n') && out.includes(again), out)
  const followed = await line('flows', 'stream', 'bad')
  t.is(followed.code, 1)
  t.notRegex(followed.out, /runs retry/u)
  t.regex(followed.out, /start another flow, as its flow says: holdfast flows get bad\n/u)
  t.notRegex(followed.out, /The flow bad is/u, 'the run says the same')
})

test('flows-17: who follows a flow is told how it is where its root run does not say so', async (t) => {
  const tools = { enforce: true, deny: ['task_create'] }
  const daemon = await start(t, { required_evidence, tools })
  const { line, begin } = daemon
  await begin('/tool task_create {"title":"T","description":"d"}\n/say ok', { flow_id: 'forbidden' })
  await untilFlow(daemon, 'forbidden', inStatus('failed'))
  const strayed = await line('flows', 'stream', 'forbidden')
  t.is(strayed.code, 1)
  t.regex(strayed.out, /completed[^]*The flow forbidden is failed\.\n[^]*failed {2}tools {2}Called: task_create\./u)
  await begin('/say ok', { flow_id: 'lacking' })
  await untilFlow(daemon, 'lacking', inStatus('waiting'))
  const lacking = await line('flows', 'stream', 'lacking')
  t.is(lacking.code, 0)
  t.regex(lacking.out, /The flow lacking is waiting\.\n {2}open {2}required_evidence/u)
  await line('flows', 'evidence', 'lacking', '--evidence', 'review:x')
  t.notRegex((await line('flows', 'stream', 'lacking')).out, /The flow/u)
})

test('flows-17: a flow whose root run is over is explained and not followed, though others work for it still', async (t) => {
  const { line, request, begin } = await start(t)
  await begin('/tool task_create {"title":"T","description":"d"}\n/say ok', { flow_id: 'open' })
  await untilFlow({ request }, 'open', ({ run }) => run.status === 'completed')
  t.regex((await line('flows', 'get', 'open')).out, /^open {2}running[^]*\n {2}next {5}holdfast explain flow:open\n$/u)
  t.regex((await line('flows', 'stream', 'open')).out, /The flow open is running\.[^]*holdfast explain flow:open\n$/u)
})

test('flows-17: a start that was made before says that the flow was there, also where it has ended', async (t) => {
  const { line, request, playbook_ref } = await start(t)
  const begins = ['flows', 'start', 's1', 'notes', '1', '/say ok', '--digest', String(playbook_ref['digest'])]
  const first = await line(...begins, '--id', 'once')
  t.notRegex(first.out, /was there already/u)
  await untilFlow({ request }, 'once', inStatus('succeeded'))
  const again = await line(...begins, '--id', 'once')
  t.is(again.code, 0)
  t.regex(again.out, /^The flow once was there already: [^]*once {2}succeeded/u)
  t.is(JSON.parse((await line(...begins, '--id', 'once', '--output', 'json')).out).started_before, true)
  const { body } = await request('GET', '/v1/flows/once')
  t.false('started_before' in body)
  t.notRegex((await line('flows', 'get', 'once')).out, /was there already/u)
  t.notRegex((await line(...begins, '--key', 'k')).out, /was there already/u)
  t.regex((await line(...begins, '--key', 'k')).out, /was there already/u)
})

test('command-line-2: what is wrong with a line of flows and playbooks is told with its flag', async (t) => {
  const { line, playbook_ref } = await start(t)
  const digest = String(playbook_ref['digest'])
  const begin = ['flows', 'start', 's1', 'notes', '1', 'go', '--digest', digest]
  const cases: [string[], RegExp][] = [
    [
      ['playbooks', 'publish', 'notes', '1', '--digest', digest],
      /^holdfast: playbooks publish needs --evidence <kind:id>/u,
    ],
    [['playbooks', 'publish', 'notes', '1', '--digest', digest, '--evidence', 'review'], /--evidence must be KIND:ID/u],
    [['flows', 'evidence', 'f1', '--evidence', ':x'], /--evidence must be KIND:ID/u],
    [['flows', 'evidence', 'f1', '--evidence', '{"kind":"a"}'], /--evidence must be KIND:ID/u],
    [[...begin, '--id', 'bad id/x'], /--id must be an id without blanks and slashes/u],
    [[...begin, '--key', 'bäd'], /--key must be 1 to 255 visible/u],
  ]
  for (const [words, said] of cases) {
    const { code, err } = await line(...words)
    t.regex(err, said)
    t.is(code, 2, err)
    t.notRegex(err, /\\p|\[\^|body\.|header/u)
  }
})

test('command-line-2: what is to be done about a draft, or about evidence of another flow, is told with its flags', async (t) => {
  const { line, request, begin } = await start(t)
  const objective = 'Readers understand them.'
  const { body } = await request('POST', '/v1/playbooks', {
    manifest: { playbook_id: 'draft', version: '7', title: 'Draft', objective },
  })
  const { digest } = body.selected_version
  const refused = await line('flows', 'start', 's1', 'draft', '7', 'go', '--digest', digest)
  t.regex(refused.err, /holdfast playbooks publish --digest DIGEST --evidence KIND:ID draft VERSION;/u)
  t.regex((await line('playbooks', 'publish', 'draft', '7')).err, /needs --digest <text> \(/u)
  t.regex((await line('playbooks', 'publish', '--help')).out, /<version>\s+--digest <text>\s+--evidence <kind:id> …/u)
  await begin('/say ok', { flow_id: 'f1' })
  const { err } = await line('flows', 'evidence', 'f1', '--evidence', 'run:run_other')
  t.regex(err, /holdfast flows get f1 lists in primitive_refs, on the command line with --output json/u)
})

test('flows-5: a route that the playbook names and the daemon does not have is told as that of the playbook', async (t) => {
  const daemon = await start(t, { runtime_defaults: { provider: 'nope' } })
  const { line, playbook_ref } = daemon
  const begins = ['flows', 'start', 's1', 'notes', '1', 'go', '--digest', String(playbook_ref['digest'])]
  t.regex((await line(...begins)).err, /runtime_defaults\.provider of the playbook/u)
  const { body } = await startFlow(daemon, { playbook_ref, request: { content: 'go', provider: 'none' } })
  t.is(body.errors[0].path, 'body.request.provider')
})

test('flows-15: a schedule says of which playbook it starts flows, and such a flow which schedule started it', async (t) => {
  const { line, request, playbook_ref } = await start(t)
  const made = await request('POST', '/v1/schedules', {
    name: 'weekly',
    target_session_id: 's1',
    cadence: { type: 'cron', expression: '0 9 * * 1' },
    flow_start: { playbook_ref, request: { content: '/say notes' } },
  })
  const { schedule_id } = made.body
  t.regex((await line('schedules', 'list')).out, /weekly {2}\(0 9 \* \* 1 in UTC\) {2}flows of notes 1 {2}next/u)
  const { out } = await line('schedules', 'get', schedule_id)
  t.regex(out, /\n {2}starts {3}flows of notes 1: \/say notes\n {11}all: holdfast flows list --session=s1\n/u)
  await request('POST', `/v1/schedules/${schedule_id}/trigger`, {})
  const [{ flow_id }] = (await request('GET', '/v1/flows')).body
  t.true((await line('flows', 'get', flow_id)).out.includes(`\n  schedule ${schedule_id}\n`))
})

test('flows-19, explanations-16: the line that adds evidence adds it, whatever its kind is called', async (t) => {
  const kinds = ['ci:build', '--evil', '{x}', 'plain']
  const daemon = await start(t, { required_evidence: kinds.map((kind) => ({ kind, id: 'green: 1' })) })
  await daemon.begin('/say a', { flow_id: 'x' })
  await untilFlow(daemon, 'x', ({ run, status }) => run.status === 'completed' && status === 'waiting')
  const { out } = await daemon.line('explain', 'x')
  const lines = [...out.matchAll(/^ +(holdfast flows evidence .*)$/gmu)].map(([, one = '']) => one)
  t.is(lines.length, kinds.length, out)
  for (const one of lines) {
    const { stdout } = await promisify(execFile)('sh', ['-c', one.replace('holdfast', `printf '%s\\n'`)])
    t.is((await daemon.line(...stdout.trimEnd().split('\n'))).code, 0, one)
  }
  const { body } = await daemon.request('GET', '/v1/flows/x')
  t.is(body.status, 'succeeded')
  t.deepEqual(
    body.evidence_refs.map(({ kind }: any) => kind),
    kinds,
  )
})

test('explanations-1: a flow with the id of a session is explained by its prefix, and shown with its own reasons', async (t) => {
  const daemon = await start(t, { required_evidence })
  await daemon.begin('/say a', { flow_id: 's1' })
  await untilFlow(daemon, 's1', ({ run, status }) => run.status === 'completed' && status === 'waiting')
  await daemon.begin('/say b', { flow_id: 'other' })
  await untilFlow(daemon, 'other', ({ run, status }) => run.status === 'completed' && status === 'waiting')
  t.regex((await daemon.line('explain', 'flow:s1')).out, /requires evidence that nobody has added/u)
  t.regex((await daemon.line('flows', 'get', 's1')).out, /next {5}holdfast explain flow:s1\n/u)
  const { out } = await daemon.line('flows', 'show', 's1')
  t.regex(out, /requires evidence[^]*holdfast flows evidence --evidence review:ID s1/u)
  t.notRegex(out, /Its last run/u)
})
