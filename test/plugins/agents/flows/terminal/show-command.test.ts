/** Trees of agents and flows on the terminal, as they stand and until they are over. */
import test from 'ava'
import { createCommandLine } from '../../../../support/command-line.js'
import { call, openAgent, spawn, told } from '../../../../support/agents.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { inStatus, publish, startFlow, untilFlow } from '../../../../support/flows.js'
import { openSession } from '../../../../support/runs.js'

const named = (text: string): string => text.replaceAll(/\b(run|agent|approval|session)_0[a-z0-9]+/gu, '$1')
const untimed = (text: string): string => named(text).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, 'T')

test('agents-12: agents tree shows who works, who waits for what and since when, and what that has used', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const lead = await openAgent(daemon, 'lead')
  const asks = (await spawn(daemon, lead, told(call('bash', { command: 'ls' }), 'asks'))).body
  await spawn(daemon, asks.agent_id, told('/say hi', 'below'))
  await spawn(daemon, lead, told('/fail fatal no\u001b[31m', 'fails'))
  let out = ''
  for (let n = 0; n < 400 && !/It asks to use bash[^]*hi|failed/u.test(out); n += 1)
    out = (await holdfast('agents', 'tree', lead)).out
  t.regex(untimed(out), /^lead {2}idle {2}agent\n {2}\/asks {2}waiting_for_approval {2}\d+ tokens {2}agent\n/u)
  t.regex(
    untimed(out),
    / {4}- It asks to use bash with \{"command":"ls"\}, and nobody has decided \(approval\)\. \(since T\)\n {8}holdfast approvals allow run approval\n {4}\/asks\/below {2}/u,
  )
  t.false(out.includes('\u001b'))
  const rows = JSON.parse((await holdfast('agents', 'tree', lead, '--output', 'json')).out)
  t.is(rows.length, 4)
  const watching = holdfast('agents', 'tree', lead, '--watch')
  const [run] = (await daemon.request('GET', `/v1/runs?session_id=${asks.session_id}`)).body
  await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`)
  t.is((await watching).code, 0, 'it ends when nothing works any more')
  t.is((await holdfast('agents', 'tree', 'nobody')).code, 1)
})

test('flows-6: flows show has the phases of a flow, what it lacks, and its agents', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  await openSession(daemon)
  const review = { kind: 'review', id: 'a b' }
  const phase = { objective: 'o', acceptance_criteria: ['c'] }
  const playbook_ref = await publish(daemon, {
    phases: [
      { ...phase, phase_id: 'work' },
      { ...phase, phase_id: 'check', required_evidence: [review] },
    ],
  })
  const content = call('spawn_agent', { name: 'part', prompt: '/say part', wait: true })
  const { flow_id } = (await startFlow(daemon, { playbook_ref, content })).body
  await untilFlow(daemon, flow_id, inStatus('waiting'))
  const { out } = await holdfast('flows', 'show', flow_id)
  t.regex(
    untimed(out),
    / {2}pending {2}work\n {2}blocked {2}check {2}lacks review:a b\n {2}open {2}required_evidence[^]*holdfast flows evidence --evidence 'review:a b' flow_[^]*\/part {2}completed/u,
  )
  const asks = (await startFlow(daemon, { playbook_ref, content: call('bash', { command: 'ls' }) })).body.flow_id
  await untilFlow(daemon, asks, inStatus('waiting'))
  const waits = untimed((await holdfast('flows', 'show', asks)).out)
  t.regex(waits, / {2}- It asks to use bash [^]*\(since T\)\n {6}holdfast approvals allow run approval\n/u)
  const watching = holdfast('flows', 'show', flow_id, '--watch')
  await daemon.request('POST', `/v1/flows/${flow_id}/evidence`, { evidence_refs: [review] })
  const watched = await watching
  t.is(watched.code, 0)
  t.regex(watched.out, /succeeded[^]*satisfied {2}work\n {2}satisfied {2}check\n {2}passed/u)
  t.is(JSON.parse((await holdfast('flows', 'show', flow_id, '--output', 'json')).out).status, 'succeeded')
})
