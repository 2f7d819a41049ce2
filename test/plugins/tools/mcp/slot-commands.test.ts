import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { planned, serverIn, writeServers } from '../../../support/mcp.js'
import { makeFolder } from '../../../support/tools.js'

test('mcp-31: slots are shown with who refers to them, and a stored one connects its server', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, {
    one: planned({}, { env_secret_refs: { TOKEN: 'mcp.one' } }),
    two: { url: 'https://mcp.example/mcp', oauth_slot_ref: 'mcp.two' },
  })
  const daemon = await startTestDaemon(t, { root })
  const line = createCommandLine(daemon)
  await serverIn(daemon, 'one', 'waiting')
  t.is(
    (await line('mcp', 'auth', 'slots')).out,
    'mcp.one  secret  missing  one\n  holdfast mcp auth set --stdin mcp.one\n' +
      'mcp.two  account  missing  two\n  holdfast mcp oauth login two\n',
  )
  const file = join(await makeFolder(t), 'token')
  await writeFile(file, 'canary-of-slot\n', { mode: 0o600 })
  const stored = await line('mcp', 'auth', 'set', 'mcp.one', '--from-file', file)
  t.deepEqual(stored, { code: 0, out: 'mcp.one  secret  stored  one\n', err: '' })
  await serverIn(daemon, 'one')
  const json = await line('mcp', 'auth', 'set', 'mcp.other', '--from-file', file, '--output', 'json')
  t.deepEqual(JSON.parse(json.out), { slot_id: 'mcp.other', kind: 'secret', state: 'stored', servers: [] })
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'other', state: { value: 'x' } })
  const slots = await line('mcp', 'auth', 'slots')
  t.regex(slots.out, /^mcp\.one {2}secret {2}stored {2}one$/mu)
  t.regex(slots.out, /^mcp\.other {2}secret {2}stored {2}no server of the list$/mu)
  t.notRegex(slots.out, /^other/mu)
  t.notRegex(stored.out + json.out + slots.out, /canary/u)
})

test('mcp-31: an account is not stored as a secret, and a value never stands in the line', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, { two: { url: 'https://mcp.example/mcp', oauth_slot_ref: 'mcp.two' } })
  const daemon = await startTestDaemon(t, { root })
  const line = createCommandLine(daemon)
  const file = join(await makeFolder(t), 'token')
  await writeFile(file, 'canary-of-slot', { mode: 0o600 })
  const refused = await line('mcp', 'auth', 'set', 'mcp.two', '--from-file', file)
  t.is(refused.code, 1)
  t.regex(refused.err, /mcp\.two is the account that the MCP server two is asked with.*\(mcp_slot_is_account\)/u)
  t.regex(refused.err, /\nLog in: holdfast mcp oauth login two\n/u)
  t.deepEqual((await daemon.request('GET', '/v1/runtime/secrets')).body, [])
  const value = await line('mcp', 'auth', 'set', 'mcp.one', '--value', 'canary-of-line')
  t.is(value.code, 2)
  t.regex(value.err, /no flag --value/u)
  t.notRegex(value.err, /canary/u)
  t.is((await line('mcp', 'auth', 'set', 'mcp.one')).code, 2)
})
