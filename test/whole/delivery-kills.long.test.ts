/**
 * A receiver that counts, through kill -9 under load: every delivery arrives
 * at least once, with one key and one content, and in order at its target.
 * Good targets stand beside failing, slow, busy and hanging ones.
 */
import { rm } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'
import { spawnDaemon, type SpawnedDaemon } from '../support/daemon.js'
import { rootForKills } from '../support/folders.js'
import { startReceiver, type Received, type Receiver } from '../support/receiver.js'
import { createRandom, type Random } from '../faults/random.js'

const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['HOLDFAST_DELIVERY_KILLS'] ?? 10)
const clock = createClock()

const env = {
  SERVICE_DELIVERY_INITIAL_RETRY_MS: '5',
  SERVICE_DELIVERY_MAX_RETRY_MS: '20',
  SERVICE_DELIVERY_CIRCUIT_COOLDOWN_MS: '30',
  SERVICE_DELIVERY_MAX_ATTEMPTS: '10000',
  SERVICE_DELIVERY_MAX_PARALLEL: '16',
}
const paths = ['/good', '/fine', '/failing', '/slow', '/busy', '/hanging'] as const

/** How each target behaves; `calm` once the killing is over. */
const behave = (receiver: Receiver, calm: () => boolean): void => {
  receiver.on('/failing', (_received, response, count) => void response.writeHead(count % 3 === 0 ? 200 : 503).end())
  receiver.on('/slow', (_received, response) => {
    clock.after(15, () => response.end())
  })
  receiver.on(
    '/busy',
    (_received, response, count) =>
      void (count % 4 === 0 ? response.end() : response.writeHead(429, { 'retry-after': '0' }).end()),
  )
  receiver.on('/hanging', (_received, response, count) => {
    if (calm() || count % 5 !== 0) response.end()
  })
}

interface Load {
  readonly receiver: Receiver
  readonly random: Random
  readonly runs: Set<string>
  submitted: number
}

const sessions = ['s0', 's1', 's2']
/** They are sealed in every record that a kill may leave. */
const headersOf = (path: string) => ({ 'x-own-token': `token of ${path}` })
const target = (receiver: Receiver, path: string) => ({
  plugin: 'http',
  address: receiver.address(path, headersOf(path)),
})

/** Submits to one session, one run after another, until the daemon dies. */
const work = async (
  load: Load,
  { daemon, session_id, dead }: { daemon: SpawnedDaemon; session_id: string; dead: () => boolean },
): Promise<void> => {
  const { receiver, random, runs } = load
  while (!dead()) {
    const n = (load.submitted += 1)
    const reply_targets = paths.filter(() => random.chance(0.6)).map((path) => target(receiver, path))
    const body = {
      content: `/emit first of ${n}\n/say second of ${n}`,
      ...(reply_targets.length > 0 && { reply_targets }),
    }
    const answer = await daemon.request('POST', `/v1/sessions/${session_id}/runs`, body).catch((error: unknown) => {
      if (!dead()) throw error
    })
    if (answer?.status === 202) runs.add(answer.body.run_id)
    await clock.sleep(random.below(20))
  }
}

const life = async (load: Load, root: string): Promise<void> => {
  const daemon = await spawnDaemon({ root, env })
  for (const session_id of sessions) await daemon.request('POST', '/v1/sessions', { session_id })
  let dead = false
  const working = Promise.all(sessions.map((session_id) => work(load, { daemon, session_id, dead: () => dead })))
  const { size } = load.runs
  await clock.sleep(150 + load.random.below(500))
  while (load.runs.size === size) await Promise.race([clock.sleep(20), working])
  dead = true
  await daemon.kill('SIGKILL')
  await working
}

/** Everything has ended well. */
const rest = async (t: ExecutionContext, load: Load, root: string): Promise<SpawnedDaemon> => {
  const daemon = await spawnDaemon({ root, env })
  t.teardown(() => daemon.kill('SIGKILL'))
  const { delivery, runs } = await (async () => {
    for (;;) {
      const { body } = await daemon.request('GET', '/v1/status')
      if (body.runs.queued + body.runs.running === 0 && body.delivery.pending + body.delivery.retrying === 0)
        return body
      await clock.sleep(50)
    }
  })()
  t.is(delivery.dead_lettered, 0)
  t.is(runs.completed, runs.total)
  t.true(runs.total >= load.runs.size)
  return daemon
}

/** Arrivals in groups of one key: a key that came, went and comes again would be two groups. */
const groupsOf = (received: readonly Received[]): Received[][] => {
  const groups: Received[][] = []
  for (const one of received) {
    const last = groups.at(-1)
    if (last !== undefined && last[0]?.key === one.key) last.push(one)
    else groups.push([one])
  }
  return groups
}

/** Every output of every run once at each of its targets, whatever the number of arrivals. */
const checkArrivals = async (t: ExecutionContext, { receiver, runs }: Load, daemon: SpawnedDaemon): Promise<void> => {
  const expected = new Map<string, string>()
  for (const run_id of runs) {
    const { body } = await daemon.request('GET', `/v1/runs/${run_id}`)
    for (const { delivery_id, status } of body.deliveries ?? []) {
      t.is(status, 'delivered')
      expected.set(`service:${delivery_id}`, run_id)
    }
    const actions = (await daemon.request('GET', `/v1/runs/${run_id}/external-actions`)).body
    t.deepEqual(
      actions.filter(({ kind, outcome }: any) => kind === 'delivery' && outcome !== 'done'),
      [],
      'the ledger knows how each ended',
    )
    t.is(actions.filter(({ kind }: any) => kind === 'delivery').length, body.deliveries?.length ?? 0)
  }
  const keys = new Set(receiver.received.map(({ key }) => key))
  for (const [key, run_id] of expected) t.true(keys.has(key), `${key} of ${run_id} never arrived`)
  for (const key of keys) {
    const arrivals = receiver.received.filter((one) => one.key === key)
    t.is(
      new Set(arrivals.map(({ path, body }) => `${path} ${body.content}`)).size,
      1,
      'a key stands for one content at one target',
    )
  }
}

const checkOrder = (t: ExecutionContext, { receiver }: Load): void => {
  for (const path of paths) {
    const groups = groupsOf(receiver.at(path))
    t.is(
      new Set(groups.map(([first]) => first?.key)).size,
      groups.length,
      `${path}: no delivery comes again after the next one has come`,
    )
    for (const group of groups) {
      const attempts = group.map(({ body }) => body.metadata.delivery_attempt)
      t.deepEqual(
        attempts,
        attempts.toSorted((a, b) => a - b),
        `${path}: attempts are numbered in order`,
      )
    }
    for (const session_id of sessions) {
      const contents = groups.flatMap(([first]) =>
        first?.body.session_id === session_id ? [String(first.body.content)] : [],
      )
      const order = contents.map((text) => Number(/\d+/u.exec(text)?.[0]) * 2 + (text.startsWith('second') ? 1 : 0))
      t.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
        `${path}: the outputs of ${session_id} come in their order`,
      )
    }
  }
}

test(`through ${kills} kills under load every delivery arrives at least once, with one key, in order at its target`, async (t) => {
  t.log(`seed ${seed}`)
  const root = rootForKills()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const receiver = await startReceiver(t)
  let calm = false
  behave(receiver, () => calm)
  const load: Load = { receiver, random: createRandom(seed), runs: new Set(), submitted: 0 }
  for (let n = 0; n < kills; n += 1) await life(load, root)
  calm = true
  const daemon = await rest(t, load, root)
  await checkArrivals(t, load, daemon)
  checkOrder(t, load)
  t.log(
    `${load.runs.size} runs acknowledged, ${receiver.received.length} arrivals of ` +
      `${new Set(receiver.received.map(({ key }) => key)).size} deliveries`,
  )
  t.true(receiver.received.length > 0)
  t.true(receiver.received.every(({ path, headers }) => headers['x-own-token'] === headersOf(path)['x-own-token']))
})
