import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { parse } from '../../../../core/plugin.js'
import { momentFacts, moments } from '../../../../plugins/execution/interception/contract.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { echoing, watcher } from '../../../support/interceptors.js'
import { eventually } from '../../../support/mcp.js'
import { hasGit, makeRepository } from '../../../support/repositories.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { done, scriptedProvider, text as say } from '../../../../plugins/providers/scripted/contract.js'

const question = { header: 'A', question: 'B?', options: [{ label: 'x' }, { label: 'y' }], multi_select: false }
const asks = `/tool ask_user_question ${JSON.stringify({ questions: [question] })}`
const call = '/tool echo {"text":"plain"}'

/** Moments of worktrees need git: elsewhere ava says that this was skipped. */
const real = hasGit ? test : test.skip

real('hooks-28: every moment tells what the reference names, and nothing else', async (t) => {
  const [watch, tool] = [watcher(), echoing('ask')]
  for (const event of moments) watch.rules[event] = () => undefined
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'))
  const routes = 'default_route = "demo"\n[routes.demo]\ndriver = "demo"\n[routes.other]\ndriver = "scripted"\n'
  writeFileSync(join(root, 'config', 'routes.toml'), routes)
  const model = scriptedProvider((_, count) => [say(count > 2 ? 'Short.' : 'long '.repeat(200)), done()])
  const workspace = await makeRepository(t)
  const plugins = [watch.plugin, tool.plugin, model.plugin]
  const daemon = await startTestDaemon(t, { root, plugins, flags: { 'workspace-root': workspace } })
  const { request } = daemon
  await openSession(daemon)
  const run = async (content: string, ...statuses: string[]): Promise<any> =>
    until(daemon, (await submit(daemon, 's1', content)).run_id, ...statuses)
  const decide = async (run_id: string, ids: readonly string[], behavior: string) =>
    request('POST', `/v1/runs/${run_id}/approvals`, {
      resolutions: ids.map((request_id) => ({ request_id, behavior })),
    })
  const waits = await run(`${call}\n${call}`, 'waiting_for_approval')
  const [first, second] = waits.pending_approval_ids
  await decide(waits.run_id, [first], 'allow')
  await decide(waits.run_id, [second], 'allow')
  await until(daemon, waits.run_id, 'completed')
  const fails = await run('/tool echo {"text":"x","fail":"y"}', 'waiting_for_approval')
  await decide(fails.run_id, fails.pending_approval_ids, 'allow')
  await until(daemon, fails.run_id, 'completed')
  await run('/fail fatal no', 'failed')
  const asked = await run(asks, 'waiting_for_user_question')
  await request('POST', `/v1/runs/${asked.run_id}/questions/${asked.pending_question_ids[0]}/cancel`, {})
  await run('/tool task_create {"title":"Dig","description":"A hole."}', 'completed')
  const [{ id }] = (await request('GET', '/v1/sessions/s1/tasks')).body
  await run(`/tool task_update {"task_id":"${id}","status":"completed"}`, 'completed')
  t.is((await request('POST', '/v1/runtime/permission-mode', { mode: 'dontAsk' })).status, 200)
  await run(call, 'completed')
  t.is((await request('POST', '/v1/runtime/rollback', { target_revision: 0 })).status, 200)
  await openSession(daemon, 's2')
  for (const content of ['one', 'two']) {
    const { body } = await request('POST', '/v1/sessions/s2/runs', { content, provider: 'other' })
    await until(daemon, body.run_id, 'completed')
  }
  t.like((await request('POST', '/v1/sessions/s2/compact')).body, { compacted: true })
  const { body: alone } = await request('POST', '/v1/sessions/s2/runs', { content: 'three', isolation: 'worktree' })
  await until(daemon, alone.run_id, 'completed')
  const { agent_id } = (await request('GET', '/v1/sessions/s2')).body
  await request('POST', `/v1/agents/${agent_id}/sidechains`, { subtask: { name: 'part', content: '/say Done.' } })
  await request('POST', '/v1/sessions/s1/end', { reason: 'done' })
  await eventually(async () =>
    moments.every((moment) => watch.seen.some(({ event }) => event === moment)) ? true : undefined,
  )
  for (const { event, subject, payload } of watch.seen) {
    const read = parse(momentFacts[event].payload, payload)
    t.true(read.ok, `${event}: ${JSON.stringify(payload)}: ${JSON.stringify(read)}`)
    t.is(subject !== undefined, momentFacts[event].subject !== undefined, event)
  }
  const told = (moment: string): any[] =>
    watch.seen.filter(({ event }) => event === moment).map(({ payload }) => payload)
  t.deepEqual(
    told('notification').map(({ request_ids }) => request_ids),
    [waits.pending_approval_ids, fails.pending_approval_ids],
    'a request is told once',
  )
  t.like(told('notification')[0].requests[0], { request_id: first, tool_name: 'echo', tool_input: { text: 'plain' } })
  t.like(told('elicitation')[0], { request_ids: asked.pending_question_ids })
  t.is(told('elicitation')[0].requests[0].questions[0].question, 'B?')
  t.is(told('elicitation_result')[0].request_id, asked.pending_question_ids[0])
  t.is(told('stop_failure').length, 1)
})
