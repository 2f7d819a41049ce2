/** The page on what a daemon may use is true: its lines are run as somebody who pastes them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, mainFile, startTestDaemon } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { blocksFor, sh } from '../support/docs.js'
import { openSession, submit, until } from '../support/runs.js'

const page = 'docs/grants.md'
const block = (name: string): string => blocksFor(page, name).join('\n')

const pasted = async (name: string, { url, root }: { readonly url: string; readonly root: string }) => {
  const holdfast = `SERVICE_DAEMON_URL=${url} '${process.execPath}' '${mainFile}' "$@"`
  const before = `set -e\nSERVICE_STATE_ROOT=${root}\nholdfast() { ${holdfast}; }\n`
  const { code, out, err } = await sh(before + block(name).replaceAll('http://127.0.0.1:4000', url), root)
  return { code, err, lines: out.trim().split('\n'), out }
}

test('settings, secrets, skills, goals and metrics, exactly as printed', async (t) => {
  const daemon = await startMortal(t)
  const run = async (name: string): Promise<string> => {
    const { code, out, err } = await pasted(name, daemon)
    t.deepEqual([code, err], [0, ''], `${name}: ${out}`)
    return out
  }
  t.regex(await run('grants-settings'), /permission_mode[^]*revision 2[^]*bash: ask in mode default/u)
  t.like(JSON.parse((await run('grants-scope')).split('\n').findLast((line) => line.startsWith('{')) ?? ''), {
    capability_scope: { mcp_server_deny: ['files'], skill_deny: ['release'] },
  })
  const remembered = await run('grants-remembered')
  t.regex(remembered, /bash for commands that begin with npm test\n {2}in every session, until /u)
  t.regex(remembered, /^bash: allow in mode default$/mu)
  const secrets = await run('grants-secrets')
  t.regex(secrets, /mcp\.tickets[^]*version 2/u)
  t.notRegex(secrets, /value/u)
  await run('grants-skill')
  for (let n = 0; n < 500 && !/^review/mu.test((await pasted('grants-skill-shown', daemon)).out); n += 1);
  t.regex(await run('grants-skill-shown'), /^review/mu)
  t.regex(await run('grants-goal'), /Tidy the notes/u)
  t.true(Number(await run('grants-metrics')) > 30)
  await daemon.stop()
})

test('the files of the page are understood, and its rule lets pass what it names', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config', 'tools.toml'), block('grants-tools').replace('mcp__files__read_*', 'write_*'))
  writeFileSync(join(root, 'config', 'usage.toml'), block('grants-usage').replace('gpt-*', '*'))
  const daemon = await startTestDaemon(t, { root })
  const { budgets } = (await daemon.request('GET', '/v1/status')).body
  t.like(budgets, { day: { max_cost_microusd: 20_000_000 }, session: { max_output_tokens: 2_000_000 } })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', '/tool write_file {"path":"a.txt","content":"x"}')
  t.is((await until(daemon, run_id, 'completed', 'waiting_for_approval')).status, 'completed')
  const [row] = (await daemon.request('GET', '/v1/usage')).body
  t.true(row.cost_microusd > 0)
})

test('what is written about the web holds', async (t) => {
  for (const [name, search] of [
    ['grants-web-searxng', { available: true, engine: 'searxng', host: '127.0.0.1:8888' }],
    ['grants-web-brave', { available: false, engine: 'brave' }],
  ] as const) {
    const root = await freshRoot()
    mkdirSync(join(root, 'config'), { recursive: true })
    writeFileSync(join(root, 'config', 'tools.toml'), block('grants-web-rule'))
    writeFileSync(join(root, 'config', 'web.toml'), block(name))
    const { request } = await startTestDaemon(t, { root })
    t.like((await request('GET', '/v1/status')).body.web.search, search)
    const check = await request('POST', '/v1/runtime/permissions/check', { tool_name: 'web_fetch' })
    t.is(check.body.decision, 'ask')
  }
})

test('a key that is stored is that of the route which names it', async (t) => {
  const root = await freshRoot()
  const [store = '', serve = ''] = block('grants-model').trim().split('\n')
  const auth_ref = /--auth-ref (\S+)/u.exec(serve)?.[1] ?? ''
  const [, ref = '', mode = '', provider = ''] =
    /secrets set (\S+) --stdin --mode (\S+) --provider (\S+)/u.exec(store) ?? []
  t.is(auth_ref, ref)
  const flags = { provider: 'openai_compatible', 'provider-base-url': 'http://127.0.0.1:9/v1', model: 'NAME' }
  const daemon = await startTestDaemon(t, { root, flags: { ...flags, 'auth-ref': auth_ref } })
  const isReady = async () => (await daemon.request('GET', '/v1/status')).body.provider_readiness.active_route_ready
  t.false(await isReady())
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: ref, provider, mode, state: { value: 'YOUR_KEY' } })
  t.true(await isReady())
})
