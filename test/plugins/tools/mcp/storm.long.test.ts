/** Programs that write as fast as they can. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, spawnTestDaemon, startTestDaemon } from '../../../support/daemon.js'
import { askedOf, planned, serverIn, writeServers } from '../../../support/mcp.js'
import { makeFolder } from '../../../support/tools.js'

const tools = [{ name: 'tool', inputSchema: { type: 'object' } }]

test('mcp-23: a program that writes no messages without an end is ended, and the reason is told', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  // Its time is over long after any test's.
  await writeServers(root, { yes: { command: 'yes', startup_timeout_sec: 600 } })
  const daemon = await startTestDaemon(t, { root })
  t.regex((await serverIn(daemon, 'yes', 'waiting')).problem, /more than 1000 lines that are no messages/u)
})

test('mcp-23: a program that writes messages without an end is heard, and the daemon works and stops', async (t) => {
  const [root, folder] = [await freshRoot(), await makeFolder(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const [out, errors] = [join(folder, 'out'), join(folder, 'errors')]
  await writeServers(root, {
    out: planned({ notes: out, floods: 'stdout', tools }),
    errors: planned({ notes: errors, floods: 'stderr', tools }),
  })
  const daemon = await spawnTestDaemon(t, { root })
  await Promise.all(['out', 'errors'].map((name) => serverIn(daemon, name)))
  for (const name of ['out', 'errors']) {
    const { status, text } = await daemon.request('POST', `/v1/runtime/mcp/tools/mcp__${name}__tool/call`, {})
    t.is(status, 200, text)
  }
  t.true((await askedOf(out)).includes('tools/call tool'))
  await t.notThrowsAsync(daemon.stop())
})
