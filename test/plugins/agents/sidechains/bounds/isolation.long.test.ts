/** A child works in a copy of the workspace where its parent does. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { call, settled, spawn, startDirected } from '../../../../support/agents.js'
import { hasGit, makeRepository } from '../../../../support/repositories.js'
import { codeOf, until } from '../../../../support/runs.js'

const start = async (t: ExecutionContext) => {
  const workspace = await makeRepository(t, { 'one.txt': 'one\n' })
  const flags = { 'workspace-root': workspace, 'permission-mode': 'bypassPermissions' }
  const daemon = await startDirected(t, {}, { flags })
  return Object.assign(daemon, { has: (name: string) => existsSync(join(workspace, name)) })
}

const writes = (name: string): string => `${call('write_file', { path: name, content: 'x' })}\n/say done`
const fork = (isolation: string) => ({
  parent_assistant_message: '',
  inherited_tool_call_ids: [],
  system_prompt: '',
  isolation,
})

const inGit = hasGit ? test : test.skip

inGit('agents-21, agents-15: an agent of a run in a worktree never works in the workspace itself', async (t) => {
  const daemon = await start(t)
  const spawning = (name: string, more: object = {}): string =>
    `${call('spawn_agent', { name, prompt: writes(`${name}.txt`), wait: true, ...more })}\n/say over`
  const tellsOf = async (content: string): Promise<any> => {
    const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content, isolation: 'worktree' })
    await until(daemon, body.run_id, 'completed')
    const { body: events } = await daemon.request('GET', '/v1/sessions/s1/events')
    const told = JSON.stringify(events)
    return { told, agents: (await daemon.request('GET', '/v1/agents/summaries')).body.length }
  }
  const first = await tellsOf(spawning('silent'))
  t.false(daemon.has('silent.txt'), 'the child of a run has a worktree as the run has')
  t.true(first.told.includes('"isolation":"worktree"'), 'and the call says so')
  const second = await tellsOf(spawning('wide', { isolation: 'shared' }))
  t.false(daemon.has('wide.txt'))
  t.true(second.told.includes('agent_widened'))
  t.is(second.agents, first.agents, 'nothing was made')
})

inGit('agents-21: one of a session with worktrees has its own, and so have those below it', async (t) => {
  const daemon = await start(t)
  t.is((await daemon.request('PUT', '/v1/sessions/s1/isolation', { isolation: 'worktree' })).status, 200)
  const wide = await spawn(daemon, daemon.parent, { fork_context: fork('shared') })
  t.deepEqual(codeOf(wide), [400, 'agent_widened'])
  t.is(wide.body.errors[0].path, 'body.fork_context.isolation')
  const prompt = `${call('spawn_agent', { name: 'below', prompt: writes('below.txt'), wait: true })}\n/say over`
  const child = await spawn(daemon, daemon.parent, { subtask: { name: 'part', content: prompt } })
  t.is(child.status, 200)
  await settled(daemon, child.body.agent_id)
  t.false(daemon.has('below.txt'))
  t.is((await spawn(daemon, daemon.parent, { fork_context: fork('worktree') })).status, 200)
})
