/** Agents as the command line shows them. */
import test, { type ExecutionContext } from 'ava'
import { directed, openAgent, settled, spawn, told, untilAgent } from '../../../support/agents.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { submit, until } from '../../../support/runs.js'

const start = async (t: ExecutionContext) => {
  const model = directed()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  return Object.assign(daemon, { line: createCommandLine(daemon), parent: await openAgent(daemon) })
}

test('agents-22: agents get says what an agent is called, said and lacks, and what to ask next', async (t) => {
  const daemon = await start(t)
  const { line, parent } = daemon
  const { agent_id } = (await spawn(daemon, parent, { ...told('/say Twelve ferns.', 'count'), nickname: 'Ada' })).body
  await settled(daemon, agent_id)
  const { out } = await line('agents', 'get', agent_id)
  for (const told_ of [
    `${agent_id}  completed\n`,
    '  name     count\n',
    '  nickname Ada\n',
    '  path     /count\n',
    `  parent   ${parent}\n`,
    '  said     Twelve ferns.\n',
    `  next     holdfast explain ${agent_id}\n`,
  ])
    t.true(out.includes(told_), out)
  t.deepEqual(
    Object.keys(JSON.parse((await line('agents', 'get', agent_id, '--output', 'json')).out)).includes('row'),
    false,
  )
  const failing = (await spawn(daemon, parent, told('/fail fatal no', 'bad'))).body.agent_id
  await untilAgent(daemon, failing, ({ status }) => status === 'failed')
  t.regex((await line('agents', 'get', failing)).out, / {2}failed\n[^]*\n {2}error {4}.*no/u)
})

test('agents-22: an agent whose run was cancelled, one that is closed and one with mail are told apart', async (t) => {
  const daemon = await start(t)
  const { line, parent, request } = daemon
  const child = (await spawn(daemon, parent, told('/sleep 3600000', 'slow'))).body
  const [run] = (await request('GET', `/v1/runs?session_id=${child.session_id}`)).body
  await until(daemon, run.run_id, 'running')
  const mail = { from_agent_id: parent, to_agent_id: child.agent_id, subject: 's', payload: { text: 't' } }
  t.is((await request('POST', '/v1/mailboxes', mail)).status, 202)
  const working = (await line('agents', 'get', child.agent_id)).out
  t.regex(working, new RegExp(`run {6}${run.run_id}\n[^]*mailbox {2}1 message waits for it\n`, 'u'))
  const passing = (await spawn(daemon, parent, { ...told('/say ok', 'once'), retention: 'close_on_settle' })).body
  await untilAgent(daemon, passing.agent_id, ({ closed_at_ms }) => closed_at_ms !== undefined)
  t.regex(
    (await line('agents', 'get', passing.agent_id)).out,
    /completed, closed\n[^]*closed {3}20.*reads nothing more/u,
  )
  const idle = (await spawn(daemon, parent, told('/sleep 3600000', 'idle'))).body
  const [other] = (await request('GET', `/v1/runs?session_id=${idle.session_id}`)).body
  await request('POST', `/v1/runs/${other.run_id}/cancel`)
  t.regex((await line('agents', 'get', idle.agent_id)).out, /idle, last run cancelled\n/u)
  const { out } = await line('agents', 'list')
  t.regex(out, /\/once {2}completed, closed {2}/u)
  t.regex(out, /\/idle {2}idle, last run cancelled {2}/u)
  const refused = await line('sessions', 'end', 's1')
  t.regex(refused.err, /cancel its runs, which holdfast runs list lists/u)
})

test('agents-17, agents-18, agents-22: an agent is named, and no longer; what a start would be is asked, and what limits leave', async (t) => {
  const daemon = await start(t)
  const { line, parent } = daemon
  const { agent_id } = (await spawn(daemon, parent, told('/say ok'))).body
  t.regex((await line('agents', 'nickname', agent_id, 'Ada')).out, / {2}nickname Ada\n/u)
  t.notRegex((await line('agents', 'nickname', agent_id)).out, /nickname/u)
  t.regex((await line('agents', 'explain', parent)).out, /^It would be started\.\n {2}path/u)
  const wide = await line('agents', 'explain', parent, '--mode', 'bypassPermissions')
  t.regex(wide.out, /^It would be refused: .*bypassPermissions.*\(agent_widened\)\n$/u)
  t.is(wide.code, 1)
  t.regex((await line('agents', 'quotas')).out, /started {2}1 of 240\n/u)
  for (const words of [
    ['spawn', parent, 'x', 'y'],
    ['explain', parent],
  ]) {
    const { code, out, err } = await line('agents', ...words, '--route', 'nope')
    t.regex(words[0] === 'spawn' ? err : out, /nope|--route must be/u)
    if (words[0] === 'spawn') t.deepEqual([code, /body\.provider/u.test(err)], [2, false], err)
  }
})

test('agents-7, agents-22: a session says which agent it has and that agents below it ask in it', async (t) => {
  const daemon = await start(t)
  const { line, parent } = daemon
  t.true((await line('sessions', 'get', 's1')).out.includes(`  agent  ${parent}\n`))
  t.notRegex((await line('sessions', 'get', 's1')).out, /questions list/u)
  const asks =
    '/tool request_parent_clarification {"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]}'
  const { agent_id } = (await spawn(daemon, parent, told(`${asks}\n/say asked`))).body
  await untilAgent(daemon, agent_id, ({ status }) => status === 'waiting_for_user_input')
  t.regex((await line('sessions', 'get', 's1')).out, / {2}asked {2}1 question of agents: holdfast questions list\n/u)
  const own = await submit(daemon, 's1', '/ask Which? | A | B')
  await until(daemon, own.run_id, 'waiting_for_user_question')
  t.regex((await line('sessions', 'get', 's1')).out, / {2}waits {2}holdfast questions list\n/u)
})

test('command-line-5: a list that shows nothing because of what was asked for does not say that there is nothing', async (t) => {
  const daemon = await start(t)
  const { line } = daemon
  const none = 'None of them is as the line asks.\n'
  for (const words of [
    ['agents', 'list', '--status', 'failed'],
    ['flows', 'list', '--status', 'failed'],
    ['playbooks', 'list', '--query', 'zzz'],
    ['runs', 'list', '--session-id', 's1'],
    ['schedules', 'list', '--session', 's1'],
  ])
    t.deepEqual(await line(...words), { code: 0, out: none, err: '' }, words.join(' '))
  t.regex((await line('flows', 'list', '--limit', '3')).out, /^No flows yet/u)
})

test('agents-22, mailboxes-10: agents are started and listed, and their messages sent, read and taken away', async (t) => {
  const daemon = await start(t)
  const { line, parent, request } = daemon
  const ran = await line('agents', 'spawn', parent, 'count', '/sleep 3600000', '--nickname', 'Ada', '--type', 'plan')
  t.is(ran.code, 0, ran.err)
  const [, agent_id = ''] = /^(agent_\w+) in session /u.exec(ran.out) ?? []
  t.like((await request('GET', `/v1/agents/${agent_id}`)).body.agent, { parent, name: 'count', nickname: 'Ada' })
  t.regex((await line('agents', 'list', '--root', parent)).out, new RegExp(`^Ada {2}.*${agent_id}$`, 'mu'))
  t.is((await line('agents', 'summaries')).out, (await line('agents', 'list')).out)
  const post = (to: string, ...more: string[]) => line('mailboxes', 'post', parent, to, 'hello', 'How far?', ...more)
  t.is((await post(agent_id, '--message-id', 'm1')).out, 'm1: sent\n')
  t.is((await post(agent_id, '--message-id', 'm1')).out, 'm1: sent before\n')
  t.regex(
    (await line('mailboxes', 'list', agent_id)).out,
    /^m1 {2}hello\n {2}from agent_.*\n {2}\{"text":"How far\?"\}$/mu,
  )
  t.is((await line('mailboxes', 'ack', agent_id, 'm1')).out, 'm1 is acknowledged.\n')
  t.is((await line('mailboxes', 'list', agent_id)).out, 'No messages.\n')
  const closed = (await spawn(daemon, parent, { ...told('/say ok', 'once'), retention: 'close_on_settle' })).body
  await untilAgent(daemon, closed.agent_id, ({ closed_at_ms }) => closed_at_ms !== undefined)
  t.regex((await post(closed.agent_id)).out, /a dead letter, because the agent is closed/u)
  t.regex((await line('mailboxes', 'dead-letter', closed.agent_id)).out, /the agent is closed\n {2}\{"text":/u)
})

test('clarification-2: a question of an agent says who asked and how it was answered; a run that works says how to learn why', async (t) => {
  const daemon = await start(t)
  const { line, parent, request } = daemon
  const options = '"options":[{"label":"north"},{"label":"south"}]'
  const asks = `/tool request_parent_clarification {"questions":[{"question":"Which?",${options}}]}`
  const ask = async (): Promise<[string, string]> => {
    const { agent_id } = (await spawn(daemon, parent, told(`${asks}\n/say asked`))).body
    await untilAgent(daemon, agent_id, ({ status }) => status === 'waiting_for_user_input')
    return [agent_id, (await request('GET', '/v1/questions')).body[0].run_id]
  }
  const [first, question] = await ask()
  for (const words of [['questions', 'list'], ['approvals']])
    t.regex(
      (await line(...words)).out,
      new RegExp(`^question \\S+, session s1, run ${question}, asked by ${first} in session session_\\w+`, 'u'),
      words.join(' '),
    )
  await line('questions', 'answer', question, '--option', '2')
  const answered = (await line('runs', 'get', question)).out
  t.regex(answered, new RegExp(`asked {4}by ${first}\n {2}answer {3}south \\(by operator\\)\n`, 'u'))
  t.notRegex(answered, /model was empty/u)
  const again = await line('questions', 'answer', question, '--option', '1')
  t.is(again.code, 1)
  t.regex(again.err, /question_resolution_conflict/u)
  t.notRegex(again.err, /what it waits for/u)
  const same = await line('questions', 'answer', question, '--option', '2')
  t.deepEqual([same.code, same.err], [0, ''])
  t.regex(same.out, /completed: it was answered so already\.\n {2}holdfast runs get /u)
  const bare = await line('questions', 'answer', question, '--option', '2', '--output', 'json')
  t.false('is_again' in JSON.parse(bare.out))
  const [, other] = await ask()
  await line('questions', 'decline', other)
  const audited = await line('agents', 'audit', '--event', 'clarification_settled')
  t.regex(audited.out, new RegExp(`clarification_settled  agent_\\w+  below ${parent}  declined by operator\n`, 'u'))
  t.regex(audited.out, new RegExp(`${first}  below ${parent}  answered by operator\n$`, 'u'))
  t.regex(
    (await line('agents', 'audit', first, '--event', 'agent_started')).err,
    /--event does not go with <agent_id>/u,
  )
  t.regex((await line('questions', 'decline', other)).out, /answered so already/u)
  t.regex((await line('runs', 'get', other)).out, /answer {3}declined by operator/u)
  const { run_id } = await submit(daemon, 's1', '/sleep 3600000')
  await until(daemon, run_id, 'running')
  t.true((await line('runs', 'get', run_id)).out.includes(`  next     holdfast explain ${run_id}\n`))
  const late = await line('questions', 'answer', run_id, 'x')
  t.regex(late.err, /holdfast questions list lists the questions that wait; holdfast runs get run_\w+ says/u)
})
