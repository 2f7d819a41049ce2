/** A daemon that dies while one turn of deliveries is being written and others stand behind it. */
import { existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { freshRoot, spawnTestDaemon } from '../../../support/daemon.js'
import { startReceiver, type Receiver } from '../../../support/receiver.js'

const clock = createClock()
const preload = new URL('../../../support/hold-syncs.js', import.meta.url).href
const env = { SERVICE_DELIVERY_INITIAL_RETRY_MS: '5', SERVICE_DELIVERY_MAX_PARALLEL: '64' }

/** Targets by where the outcome of their first delivery stands when the daemon dies. */
const groups = ['written', 'queued', 'gathered', 'unanswered'] as const
type Group = (typeof groups)[number]
/** What one answer leads to is one turn; several answers may be several. */
const targets: Readonly<Record<Group, number>> = { written: 1, queued: 4, gathered: 4, unanswered: 4 }
const pathsOf = (group: Group): string[] => Array.from({ length: targets[group] }, (_, no) => `/${group}/${no}`)
const all = groups.flatMap(pathsOf)
const outputs = ['first', 'second', 'third']

/** Answers to first deliveries wait until they are let go. */
const holdAnswers = (receiver: Receiver): ((group: Group) => void) => {
  const waiting = new Map<string, ServerResponse>()
  for (const path of all) receiver.on(path, (_received, response) => void waiting.set(path, response))
  return (group) => {
    for (const path of pathsOf(group)) waiting.get(path)?.end()
  }
}

interface Log {
  readonly path: string
  readonly length: number
}
const newestLog = (root: string): Log => {
  const path = join(root, 'log', readdirSync(join(root, 'log')).toSorted().at(-1) ?? '')
  return { path, length: statSync(path).size }
}

/** They are sealed when the daemon dies, and still those of each target behind the start. */
const headersOf = (path: string) => ({ 'x-own-token': `token of ${path}` })

/** Two turns are on their way and a third gathers, and nothing of them is synced; then the daemon is killed. */
const dieInTurns = async (t: ExecutionContext, receiver: Receiver, root: string): Promise<Log> => {
  const hold = `${root}.hold`
  t.teardown(() => [hold, `${hold}.reached`].forEach((path) => rmSync(path, { force: true })))
  const answer = holdAnswers(receiver)
  const held = { ...env, NODE_OPTIONS: `--import ${preload}`, HOLD_SYNCS: hold }
  const daemon = await spawnTestDaemon(t, { root, env: held })
  await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
  const reply_targets = all.map((path) => ({ plugin: 'http', address: receiver.address(path, headersOf(path)) }))
  const content = '/emit first\n/emit second\n/say third'
  const { body: run } = await daemon.request('POST', '/v1/sessions/s1/runs', { content, reply_targets })
  const isOver = async () => (await daemon.request('GET', `/v1/runs/${run.run_id}`)).body.status === 'completed'
  await receiver.until(async () => receiver.received.length === all.length && (await isOver()), 'a first one at each')
  const synced = newestLog(root)
  writeFileSync(hold, '')
  answer('written')
  await receiver.until(() => existsSync(`${hold}.reached`), 'a turn that is being written')
  for (const group of ['queued', 'gathered'] as const) {
    answer(group)
    // Nothing tells that answers were taken; should they not be, they are of the next group.
    await clock.sleep(100)
  }
  t.is(receiver.received.length, all.length, 'nothing leaves before its intent is durable')
  await daemon.kill('SIGKILL')
  t.deepEqual(newestLog(root).path, synced.path)
  t.true(newestLog(root).length > synced.length)
  return synced
}

/** What came to each target, in order, and under which keys. */
const checkArrivals = (t: ExecutionContext, receiver: Receiver, isRepeated: (group: Group) => boolean): void => {
  for (const group of groups)
    for (const path of pathsOf(group)) {
      const came = receiver.at(path)
      const [first, ...rest] = outputs
      t.deepEqual(
        came.map(({ body }) => body.content),
        isRepeated(group) ? [first, first, ...rest] : outputs,
        path,
      )
      t.is(new Set(came.map(({ key }) => key)).size, outputs.length)
      t.true(came.every(({ headers }) => headers['x-own-token'] === headersOf(path)['x-own-token']))
      if (isRepeated(group)) t.is(came[0]?.key, came[1]?.key)
    }
  t.is(new Set(receiver.received.map(({ key }) => key)).size, outputs.length * all.length)
}

interface Death {
  readonly how: string
  /** What the death leaves of the log. */
  readonly cut: (synced: Log) => void
  /** Groups whose outcomes were on the disk. */
  readonly recorded: readonly Group[]
}
const deaths: readonly Death[] = [
  { how: 'a kill, behind which a turn was written', cut: () => {}, recorded: ['written'] },
  { how: 'a power cut', cut: ({ path, length }) => truncateSync(path, length), recorded: [] },
]
for (const { how, cut, recorded } of deaths)
  test(`deliveries-9, deliveries-32: with turns in flight, ${how} loses no delivery and repeats none that was recorded`, async (t) => {
    const receiver = await startReceiver(t)
    const root = await freshRoot()
    cut(await dieInTurns(t, receiver, root))
    for (const path of all) receiver.on(path, (_received, response) => void response.end())
    const daemon = await spawnTestDaemon(t, { root, env })
    const delivered = async () => (await daemon.request('GET', '/v1/status')).body.delivery.delivered
    await receiver.until(async () => (await delivered()) === outputs.length * all.length, 'all delivered')
    checkArrivals(t, receiver, (group) => !recorded.includes(group))
  })
