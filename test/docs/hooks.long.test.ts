/** The page about hooks is true: its lines are run as somebody who pastes them. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, mainFile } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { blocksFor, sh } from '../support/docs.js'
import { openSession, submit, until } from '../support/runs.js'
import { makeFolder } from '../support/tools.js'

const page = 'docs/hooks.md'
const block = (name: string): string => blocksFor(page, name).join('\n')
const settings = {
  hooks: {
    PreToolUse: [{ matcher: 'Bash|Write', hooks: [{ type: 'command', command: './guard.sh', timeout: 5 }] }],
    PostToolUse: [{ matcher: 'Write', hooks: [{ type: 'prompt', prompt: 'Is it tested?' }] }, { matcher: 'Read' }],
    SubagentStop: [{ hooks: [{ type: 'command', command: 'true' }] }],
  },
}

test('the guard refuses the call where jq is missing', async (t) => {
  const workspace = await makeFolder(t)
  t.is((await sh(block('hooks-guard'), workspace)).code, 0)
  const alone = `PATH='${workspace}/none' /bin/sh`
  const guard = await sh(`echo '{"tool_input":{"command":"rm -rf ."}}' | ${alone} ./guard.sh`, workspace)
  t.deepEqual([guard.code, guard.out], [1, ''], guard.err)
  const root = await freshRoot()
  mkdirSync(join(root, 'config'))
  // Without a folder of programs in its path the guard finds no jq.
  const hooks = block('hooks-file').replace('./guard.sh', `${alone} ./guard.sh`)
  writeFileSync(join(root, 'config', 'hooks.toml'), hooks)
  const flags = ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions']
  const daemon = await startMortal(t, { root, flags })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', '/tool bash {"command":"touch passed"}')
  await until(daemon, run_id, 'completed', 'failed')
  t.false(existsSync(join(workspace, 'passed')))
  const { dead_letters } = (await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body
  t.regex(dead_letters[0].error, /^it ended with code 1\b/u)
  await daemon.stop()
})

test('a prompt is tried with the demo model, whose script is the judge', async (t) => {
  const [root, workspace] = [await freshRoot(), await makeFolder(t)]
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config', 'hooks.toml'), block('hooks-judge'))
  const flags = ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions']
  const daemon = await startMortal(t, { root, flags })
  await openSession(daemon)
  for (const command of ['touch passed', 'rm -rf passed']) {
    const { run_id } = await submit(daemon, 's1', `/tool bash ${JSON.stringify({ command })}`)
    await until(daemon, run_id, 'completed', 'failed')
  }
  t.true(existsSync(join(workspace, 'passed')))
  t.regex(JSON.stringify((await daemon.request('GET', '/v1/sessions/s1/events')).body), /The judge says no\./u)
  t.deepEqual((await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body.dead_letters, [])
  await daemon.stop()
})

test('a guard of the file, and one that was taken over, stop what they shall', async (t) => {
  if ((await sh('command -v jq', '/')).code !== 0) return t.pass('there is no jq here')
  const [root, workspace] = [await freshRoot(), await makeFolder(t)]
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config', 'hooks.toml'), block('hooks-file'))
  const flags = ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions']
  const daemon = await startMortal(t, { root, flags })
  const holdfast = `SERVICE_DAEMON_URL=${daemon.url} '${process.execPath}' '${mainFile}' "$@"`
  const pasted = (text: string) => sh(`holdfast() { ${holdfast}; }\n${text}`, workspace)
  t.is((await pasted(block('hooks-guard'))).code, 0)
  const tried = await pasted(block('hooks-try'))
  t.regex(tried.out, /Nothing is removed here/u, tried.err)
  t.regex(tried.out, /^No invocation of a hook failed for good\.$/mu)
  writeFileSync(join(workspace, 'settings.json'), JSON.stringify(settings))
  const taken = await pasted(block('hooks-take-over'))
  t.deepEqual([taken.code, taken.err], [0, ''], taken.out)
  const { body } = await daemon.request('GET', '/v1/runtime/hooks')
  t.like(body.hooks.pre_tool_use[0], {
    matcher: 'Bash|Write',
    executor: { type: 'command', command: './guard.sh', timeout_ms: 5_000 },
  })
  t.deepEqual(Object.keys(body.hooks).toSorted(), ['post_tool_use', 'pre_tool_use', 'subagent_stop'])
  t.deepEqual(body.hooks.post_tool_use, [])
  t.deepEqual((await daemon.request('GET', '/v1/status')).body.hooks.moments_not_fired, [])
  t.regex((await pasted(block('hooks-try'))).out, /Nothing is removed here/u)
  writeFileSync(join(workspace, 'settings.json'), '{"model":"x"}')
  t.regex((await pasted(block('hooks-take-over'))).out, /^Done\./u)
  t.deepEqual((await daemon.request('GET', '/v1/runtime/hooks')).body, { hooks: {} })
  await daemon.stop()
})
