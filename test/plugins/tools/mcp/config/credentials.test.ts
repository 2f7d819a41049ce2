import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createCredentials } from '../../../../../plugins/tools/mcp/config/credentials.js'
import { createCommandLine } from '../../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { planned, serverIn, writeServers } from '../../../../support/mcp.js'
import { lender } from '../../../../support/plugins.js'
import { makeFolder } from '../../../../support/tools.js'

test('mcp-33: a file of credentials has what is not stored, and what is stored goes before it', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const folder = await makeFolder(t)
  const file = join(folder, 'mcp-secrets')
  const notes = join(folder, 'notes')
  await writeFile(file, '"mcp.one" = "canary-in-file"\n"mcp.three" = "canary-old"\n"mcp.unused" = "canary-unused"\n')
  await writeServers(root, {
    one: planned({ answersWith: 'TOKEN=canary-in-file', notes }, { env_secret_refs: { TOKEN: 'mcp.one' } }),
    two: planned({}, { env_secret_refs: { TOKEN: 'mcp.two' } }),
    three: planned({ answersWith: 'TOKEN=stored-value' }, { env_secret_refs: { TOKEN: 'mcp.three' } }),
  })
  const lent = lender({})
  const daemon = await startTestDaemon(t, { root, plugins: [lent.plugin], flags: { 'mcp-credentials': file } })
  t.is(lent.context().secrets.redact('x canary-unused'), 'x [redacted]')
  await serverIn(daemon, 'one')
  t.regex((await serverIn(daemon, 'two', 'waiting')).problem, /The secret mcp\.two is not there/u)
  const line = createCommandLine(daemon)
  const slots = await line('mcp', 'auth', 'slots')
  t.regex(slots.out, /^mcp\.one {2}secret {2}in file {2}one\nmcp\.two {2}secret {2}missing {2}two\n/u)
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'mcp.three', state: { value: 'stored-value' } })
  await serverIn(daemon, 'three')
  t.regex((await line('mcp', 'auth', 'slots')).out, /^mcp\.three {2}secret {2}stored {2}three$/mu)
  await writeFile(file, '"mcp.one" = 7\n')
  const warning = (await daemon.request('GET', '/v1/status')).body.health.warnings.find(
    ({ code }: any) => code === 'mcp_credentials_unusable',
  )
  t.is(
    warning.message,
    `${file} has what is no text, or an empty one, under mcp.one. ` +
      'Servers get nothing of the file that --mcp-credentials names.',
  )
})

test('mcp-37: that the file of credentials cannot be used, or that others may read it, is told', async (t) => {
  const root = await freshRoot()
  const file = join(await makeFolder(t), 'mcp-secrets')
  await writeFile(file, '"mcp.one" = "canary-in-file"\n', { mode: 0o600 })
  await writeServers(root, { one: planned({}, { env_secret_refs: { TOKEN: 'mcp.one' } }) })
  const daemon = await startTestDaemon(t, { root, flags: { 'mcp-credentials': file } })
  const told = async () =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings.filter(({ code }: any) =>
      code.startsWith('mcp_credentials'),
    )
  const line = createCommandLine(daemon)
  t.deepEqual(await told(), [])
  await chmod(file, 0o640)
  t.like(await told(), [{ code: 'mcp_credentials_exposed', action: `Leave it to its owner: chmod 600 ${file}` }])
  t.regex((await line('mcp', 'auth', 'slots')).out, /^mcp\.one {2}secret {2}in file {2}one$/mu)
  await writeFile(file, '"mcp.one" = 7\n')
  t.like(await told(), [{ code: 'mcp_credentials_unusable' }])
  const { out } = await line('mcp', 'auth', 'slots')
  t.regex(out, /^mcp\.one {2}secret {2}file unusable {2}one\n.*under mcp\.one\. \(mcp_credentials_unusable\)$/mu)
  t.notRegex(out, /auth set/u)
})

test('mcp-33: a name may stand in a table, and of a file that cannot be used nothing is taken', async (t) => {
  const file = join(await makeFolder(t), 'mcp-secrets')
  const found = async (text: string) => {
    await writeFile(file, text)
    const { find, fault } = createCredentials(file, () => {})
    return [find('mcp.one'), fault()?.replace(file, 'FILE')]
  }
  t.deepEqual(await found('mcp.one = "a"\n'), ['a', undefined])
  t.deepEqual(await found('[mcp]\none = "a"\n'), ['a', undefined])
  t.deepEqual(await found('"mcp.one" = "canary"\nmcp.two = canary\n'), [
    undefined,
    'FILE is not TOML: line 2, column 11',
  ])
  t.deepEqual(await found('"mcp.one" = "canary"\n"mcp.two" = ""\n'), [
    undefined,
    'FILE has what is no text, or an empty one, under mcp.two',
  ])
  t.regex(createCredentials(`${file}.not`, () => {}).fault() ?? '', /it does not exist/u)
  t.is(createCredentials(undefined, () => {}).fault(), undefined)
})

test('mcp-36: what comes into the file later is redacted before it is used, and what was taken away stays so', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const folder = await makeFolder(t)
  const file = join(folder, 'mcp-secrets')
  const server = (token: string) =>
    planned({ answersWith: `TOKEN=${token}` }, { env_secret_refs: { TOKEN: 'mcp.one' } })
  await writeFile(file, '"mcp.one" = "canary-first"\n')
  await writeServers(root, { one: server('canary-first') })
  const lent = lender({})
  const daemon = await startTestDaemon(t, { root, plugins: [lent.plugin], flags: { 'mcp-credentials': file } })
  const shown = (text: string): string => lent.context().secrets.redact(text)
  await serverIn(daemon, 'one')
  await writeFile(file, '"mcp.one" = "canary-second"\n"mcp.unused" = "canary-beside"\n')
  await writeServers(root, { two: server('canary-second') })
  await serverIn(daemon, 'two')
  t.is(shown('canary-first canary-second canary-beside'), '[redacted] [redacted] [redacted]')
  await writeFile(file, '"mcp.one" = "canary-third"\n"mcp.wrong" = 7\n')
  t.true((await daemon.request('GET', '/v1/status')).text.includes('under mcp.wrong'))
  t.is(shown('canary-second canary-third'), '[redacted] [redacted]')
})
