/** A machine that captures for a daemon, both as they are: killed, restarted, revoked. */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { pngOf } from '../../../support/capture.js'
import { freshRoot, spawnDaemon, spawnMain, type SpawnedDaemon } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'

type Told = any
const clock = createClock()
const until = async (holds: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  const deadline = clock.elapsed() + 300_000
  while (!(await holds())) {
    if (clock.elapsed() > deadline) throw new Error(`there were never ${what}`)
    await clock.sleep(50)
  }
}

const source = 'macos-desk-screen'
const observationsOf = async (daemon: SpawnedDaemon): Promise<Told[]> =>
  (await daemon.request('GET', `/v1/observations?source_id=${source}`)).body

const provisionFile = async (daemon: SpawnedDaemon, batch_id = 'one', more: object = {}): Promise<string> => {
  const { body } = await daemon.request('POST', '/v1/capture-agent-provisions', {
    batch_id,
    daemon_base_url: daemon.url,
    agents: [{ machine_id: 'desk' }],
    interval_ms: 300,
    heartbeat_interval_ms: 500,
    ...more,
  })
  const [agent] = (body as Told).agents
  const file = path.join(freshFolder(), 'desk.toml')
  writeFileSync(file, agent.config_toml.replace('retry_max_delay_ms = 30000', 'retry_max_delay_ms = 500'), {
    mode: 0o600,
  })
  chmodSync(file, 0o600)
  return file
}

/** Pictures that are all others, one a run. */
const pictures = (): string => {
  const folder = freshFolder()
  for (let n = 0; n < 120; n += 1) writeFileSync(path.join(folder, `${n}.png`), pngOf(n + 1))
  writeFileSync(path.join(folder, 'next'), '0')
  return `n=$(cat ${folder}/next); echo $((n+1)) > ${folder}/next.new; mv ${folder}/next.new ${folder}/next; cat ${folder}/$n.png`
}

const startMachine = (t: ExecutionContext, ...args: readonly string[]) => {
  const started = spawnMain(['capture', ...args])
  t.teardown(() => started.child.kill('SIGKILL'))
  return started
}
const numbersIn = (spool: string): number[] =>
  (existsSync(spool) ? readdirSync(spool) : [])
    .filter((name) => name.endsWith('.item'))
    .map((name) => Number(name.slice(0, 16)))

/** Numbers in the spool, of what the daemon has. */
const numbersOf = (observations: readonly Told[]): number[] =>
  observations.map(({ idempotency_key: key }) => Number(key.slice(key.lastIndexOf('-') + 1)))

test('capture-13: nothing that was spooled is lost and nothing is there twice, whoever is killed', async (t) => {
  const root = await freshRoot()
  let daemon = await spawnDaemon({ root })
  t.teardown(() => daemon.kill('SIGKILL'))
  const bind = new URL(daemon.url).host
  const [file, spool, command] = [await provisionFile(daemon), path.join(freshFolder(), 'spool'), pictures()]
  const args = ['--config', file, '--spool', spool]
  const spooled = new Set<number>()
  const rounds = 3
  for (let round = 0; round < rounds; round += 1) {
    const before = (await observationsOf(daemon)).length
    const machine = startMachine(t, ...args, '--command', command)
    await until(async () => (await observationsOf(daemon)).length > before + 2, 'more observations')
    await daemon.kill('SIGKILL')
    await until(() => numbersIn(spool).length > 2, 'captures that wait')
    for (const number of numbersIn(spool)) spooled.add(number)
    daemon = await spawnDaemon({ root, bind })
    await until(async () => (await observationsOf(daemon)).length > before + 5, 'what waited')
    machine.child.kill('SIGKILL')
    await machine.exited
    for (const number of numbersIn(spool)) spooled.add(number)
  }
  const last = startMachine(t, ...args, '--command', 'exit 1')
  await until(() => numbersIn(spool).length === 0 && /ended with 1/u.test(last.text.out), 'an empty spool')
  last.child.kill('SIGTERM')
  t.is((await last.exited).code, 0)
  const found = await observationsOf(daemon)
  const keys = found.map(({ idempotency_key }) => idempotency_key)
  t.is(new Set(keys).size, found.length)
  t.is(new Set(found.map(({ seq_no }) => seq_no)).size, found.length)
  t.is(new Set(found.map(({ sha256 }) => sha256)).size, found.length, 'each picture once')
  const numbers = numbersOf(found)
  t.deepEqual(
    [...spooled].filter((number) => !numbers.includes(number)),
    [],
  )
  t.true(spooled.size >= 3 * rounds)
})

test('capture-16: the machine of an agent that was revoked stops, and what it has waits for its next file', async (t) => {
  const daemon = await spawnDaemon()
  t.teardown(() => daemon.kill('SIGKILL'))
  const [file, spool] = [await provisionFile(daemon), path.join(freshFolder(), 'spool')]
  const machine = startMachine(t, '--config', file, '--spool', spool, '--command', pictures())
  await until(async () => (await observationsOf(daemon)).length > 1, 'observations')
  await until(
    async () => ((await daemon.request('GET', '/v1/capture-agents/desk')).body as Told).heartbeat_state === 'healthy',
    'heartbeats',
  )
  await daemon.request('POST', '/v1/capture-agents/desk/revoke', { reason: 'sold' })
  const count = (await observationsOf(daemon)).length
  t.is((await machine.exited).code, 1)
  t.regex(machine.text.err, /capture_token_refused/u)
  const token = /upload_token = "([^"]+)"/u.exec(readFileSync(file, 'utf8'))?.[1] ?? ''
  const upload = { file_name: 'x.png', content_base64: pngOf(999).toString('base64') }
  const url = `/v1/observation-sources/${source}/observations`
  const authorization = `Bearer ${token}`
  t.is((await daemon.request('POST', url, { upload, idempotency_key: 'x' }, { authorization })).status, 401)
  t.is((await observationsOf(daemon)).length, count)
  const waiting = numbersIn(spool)
  const next = startMachine(
    t,
    '--config',
    await provisionFile(daemon, 'two'),
    '--spool',
    spool,
    '--once',
    '--command',
    pictures(),
  )
  t.is((await next.exited).code, 0, next.text.err)
  const numbers = numbersOf(await observationsOf(daemon))
  t.is(new Set(numbers).size, numbers.length)
  t.true(numbers.length > count)
  t.deepEqual(
    waiting.filter((number) => !numbers.includes(number)),
    [],
  )
})
