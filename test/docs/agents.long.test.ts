/** The page on many agents is true: its lines are run as somebody who pastes them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, mainFile, startTestDaemon } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { blocksFor, sh } from '../support/docs.js'

const page = 'docs/agents.md'
const block = (name: string): string => blocksFor(page, name).join('\n')

test('agents, messages and questions, exactly as printed', async (t) => {
  const daemon = await startMortal(t)
  const holdfast = `SERVICE_DAEMON_URL=${daemon.url} '${process.execPath}' '${mainFile}' "$@"`
  const names = ['agents-spawn', 'agents-ways', 'agents-explain', 'agents-mail', 'agents-question']
  await daemon.request('POST', '/v1/sessions', { session_id: 'first' })
  const script = names.map((name) => `echo "## ${name}"\n${block(name)}\necho\n`).join('')
  const named = 'echo "lead=$lead helper=$helper"'
  const { code, out, err } = await sh(`set -e\nholdfast() { ${holdfast}; }\n${script}${named}`, daemon.root)
  t.deepEqual([code, err], [0, ''], out)
  t.regex(
    out,
    /Counted and weighed\.[^]*lead {2}completed[^]*\n {2}\/count {2}completed[^]*\n {2}\/weigh {2}completed/u,
  )
  t.regex(out, /nickname The patient one[^]*cancelled[^]*completed/u)
  t.regex(out, /It would be refused: .* \(agent_widened\)[^]*started {2}4 of 240/u)
  t.regex(out, /sent\nNo messages\.\n/u)
  t.regex(out, /Which bed\?/u)
  const [, lead = '', helper = ''] = /lead=(\S*) helper=(\S*)/u.exec(out) ?? []
  const agent = async (id: string): Promise<any> => (await daemon.request('GET', `/v1/agents/${id}`)).body.agent
  t.is((await agent(lead)).conversation.session_id, 'lead')
  t.like(await agent(helper), { name: 'helper', parent: lead })
  await daemon.stop()
})

test('the limits of the page are understood', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config', 'sidechains.toml'), block('agents-limits'))
  const daemon = await startTestDaemon(t, { root })
  const { limits } = (await daemon.request('GET', '/v1/runtime/subagent-policy/quotas')).body
  t.is(limits.max_live_children_per_parent, 12)
})
