import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { chunk, saying, startOpenAiServer, stream, type Reply } from '../../../support/openai-server.js'
import { openSession, submit, until } from '../../../support/runs.js'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A server that gives this reply until it is told otherwise, and a way to start daemons of one root that ask it. */
const prepare = async (t: ExecutionContext, reply: Reply, drain_ms: number) => {
  const server = await startOpenAiServer(() => reply)
  const root = await freshRoot()
  t.teardown(async () => {
    await server.close()
    rmSync(root, { recursive: true, force: true })
  })
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'config', 'runs.toml'), `drain_ms = ${drain_ms}\n`, { mode: 0o600 })
  const start = (): Promise<SpawnedDaemon> =>
    spawnDaemon({ root, flags: ['--provider', 'openai_compatible', '--provider-base-url', server.url, '--model', 'm'] })
  const asked = async (count: number): Promise<void> => {
    while (server.asked.length < count) await pause(5)
  }
  return { server, start, asked }
}

const phases: Readonly<Record<string, Reply>> = {
  'for the head of its answer': { type: 'silence', headers: false },
  'for the first word of it': { type: 'silence', headers: true },
  'for what follows half of it': { ...stream(chunk({ content: 'half' })), keep_open: true },
}

for (const [phase, reply] of Object.entries(phases)) {
  test(`runs-43: a run that waits ${phase} when the daemon is told to stop is asked again after the start`, async (t) => {
    const { server, start, asked } = await prepare(t, reply, 100)
    const first = await start()
    const ids: string[] = []
    for (const session of ['s1', 's2', 's3']) {
      await openSession(first, session)
      ids.push((await submit(first, session, 'Hi')).run_id)
    }
    await asked(3)
    await pause(50)
    await first.stop()
    t.notRegex(first.logText(), /failed/u)
    server.answer(() => saying('whole'))
    const second = await start()
    for (const id of ids) t.is((await until(second, id, 'completed', 'failed')).outputs[0]?.content, 'whole')
    await second.stop()
  })
}

test('runs-43: an answer that comes to its end while the daemon stops counts', async (t) => {
  const { server, start, asked } = await prepare(t, { ...saying('one ', 'two'), pace_ms: 150 }, 10_000)
  const first = await start()
  await openSession(first)
  const { run_id } = await submit(first, 's1', 'Hi')
  await asked(1)
  await first.stop()
  const second = await start()
  const { status, outputs } = (await second.request('GET', `/v1/runs/${run_id}`)).body
  t.deepEqual([status, outputs[0]?.content], ['completed', 'one two'])
  t.is(server.asked.length, 1)
  await second.stop()
})
