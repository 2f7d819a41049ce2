import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { startOpenAiServer, type Asked, type OpenAiServer, type Reply } from '../../../support/openai-server.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { vendors, type Vendor } from '../../../support/vendors.js'
import { partOf } from '../../../support/volume.js'

const serve = async (t: ExecutionContext, respond: (asked: Asked) => Reply): Promise<OpenAiServer> => {
  const server = await startOpenAiServer(respond)
  t.teardown(() => server.close())
  return server
}

/** Writes a file after an approval, then says so: what to do follows from the messages alone. */
const careful = (vendor: Vendor, asked: Asked): Reply =>
  vendor.told(asked).at(-1) === 'result call_w'
    ? vendor.saying('Written.')
    : vendor.calling({ id: 'call_w', name: 'write_file', input: '{"path":"note.txt","content":"once"}' })

const revive = async (daemon: SpawnedDaemon, options: Parameters<typeof spawnDaemon>[0]): Promise<SpawnedDaemon> => {
  await daemon.kill('SIGKILL')
  return spawnDaemon({ root: daemon.root, ...options })
}

/** Grok is asked by the protocol of OpenAI. */
const grok = vendors.filter(({ provider }) => provider === 'openai').map((vendor) => ({ ...vendor, provider: 'xai' }))
const all = [...vendors, ...grok.slice(0, partOf(0, 1))]

for (const vendor of all)
  test(`models-37: with ${vendor.provider} a run with an approval in its middle survives kill -9 in both model calls and while it waits, with one effect and the right answer`, async (t) => {
    let silent = true
    const server = await serve(t, (asked) => (silent ? { type: 'silence', headers: true } : careful(vendor, asked)))
    const [root, workspace] = [await freshRoot(), await freshRoot()]
    t.teardown(() => [root, workspace].forEach((path) => rmSync(path, { recursive: true, force: true })))
    const flags = [
      '--provider',
      vendor.provider,
      '--provider-base-url',
      server.url,
      '--model',
      vendor.provider === 'xai' ? 'grok-4' : 'm',
      '--api-key',
      'k',
      '--workspace-root',
      workspace,
    ]
    const asked = async (count: number): Promise<void> => {
      while (server.asked.length < count) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    let daemon = await spawnDaemon({ root, flags })
    await openSession(daemon)
    const { run_id } = await submit(daemon, 's1', 'Write the note')
    await asked(1)
    silent = false
    daemon = await revive(daemon, { flags })
    const waiting = await until(daemon, run_id, 'waiting_for_approval')
    daemon = await revive(daemon, { flags })
    t.false(existsSync(join(workspace, 'note.txt')))
    silent = true
    const before = server.asked.length
    await daemon.request('POST', `/v1/runs/${run_id}/approvals`, {
      resolutions: [{ request_id: waiting.pending_approval_ids[0], behavior: 'allow' }],
    })
    await asked(before + 1)
    t.is(readFileSync(join(workspace, 'note.txt'), 'utf8'), 'once')
    silent = false
    daemon = await revive(daemon, { flags })
    const run = await until(daemon, run_id, 'completed')
    t.deepEqual(
      run.outputs.map(({ content }: { content: string }) => content),
      ['Written.'],
    )
    t.deepEqual(vendor.told(server.asked.at(-1)), ['user', 'assistant call_w', 'result call_w'])
    await daemon.stop()
  })
