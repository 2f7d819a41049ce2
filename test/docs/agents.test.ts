/** The page on many agents is true: its lines are run as somebody who pastes them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, mainFile, spawnTestDaemon, startTestDaemon } from '../support/daemon.js'
import { blocksFor, sh } from '../support/docs.js'

const page = 'docs/agents.md'
const block = (name: string): string => blocksFor(page, name).join('\n')

test('agents, messages and questions, exactly as printed', async (t) => {
  const daemon = await spawnTestDaemon(t)
  const holdfast = `SERVICE_DAEMON_URL=${daemon.url} '${process.execPath}' '${mainFile}' "$@"`
  const names = ['agents-spawn', 'agents-explain', 'agents-mail', 'agents-question']
  const script = names.map((name) => `echo "## ${name}"\n${block(name)}\necho\n`).join('')
  const { code, out, err } = await sh(
    `set -e\nholdfast() { ${holdfast}; }\n${script.replaceAll('http://127.0.0.1:4000', daemon.url)}`,
    daemon.root,
  )
  t.deepEqual([code, err], [0, ''], out)
  t.regex(
    out,
    /Counted and weighed\.[^]*lead {2}completed[^]*\n {2}\/count {2}completed[^]*\n {2}\/weigh {2}completed/u,
  )
  t.regex(out, /"allowed":false,"code":"agent_widened"[^]*"max_live_children_per_parent":6/u)
  t.regex(out, /sent\nNo messages\.\n/u)
  t.regex(out, /Which bed\?/u)
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
