/** Updates and answers through kills, with a platform that counts; docs/rules/telegram.md. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { doneAndCut, first, startBotApi, type BotApi } from '../../../support/telegram/bot-api.js'
import { message, path as hookPath, secret, settingsPath, startBot, token } from './telegram-bot.js'
import { partOf } from '../../../support/volume.js'

const clock = createClock()
const kills = partOf(6, 12)
const each = 6
const chats = 4

const rootWithRange = async (t: ExecutionContext<any>): Promise<string> => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await mkdir(path.join(root, 'config'), { recursive: true, mode: 0o700 })
  await writeFile(path.join(root, 'config/telegram.toml'), 'allow_cidrs = ["127.0.0.1/32"]\n', { mode: 0o600 })
  return root
}

const connect = (daemon: SpawnedDaemon, api: BotApi, more: object): Promise<unknown> =>
  daemon.request('PUT', settingsPath('bot'), {
    bot_token: { value: token },
    secret_token: { value: secret },
    api_base_url: api.base,
    session_policy: { create_if_missing: true },
    ...more,
  })

/** Two messages of the platform for one answer. */
const long = (n: number): Record<string, unknown> =>
  message(`<${n}>${'x'.repeat(4100)}`, { chat: { id: 100 + (n % chats) }, from: { id: 1 } })

/** How often each answer was begun and ended. */
const countOf = (api: BotApi) => {
  const counts = new Map<string, number>()
  const whole = api.of('sendMessage').map(({ fields }) => String(fields['text']))
  for (const text of whole) {
    const n = /<(\d+)>/u.exec(text)?.[1]
    if (n !== undefined) counts.set(n, (counts.get(n) ?? 0) + 1)
  }
  return { counts, pieces: whole.length }
}

/** A kill that cuts an attempt off is an attempt: on a slow machine each of them may cut off the same one. */
const serve = (root: string): Promise<SpawnedDaemon> =>
  spawnDaemon({ root, flags: ['--delivery-max-attempts', String(10 * kills)] })

const untilAll = async (daemon: SpawnedDaemon, most: number): Promise<any[]> => {
  const deadline = clock.elapsed() + 300_000
  for (;;) {
    const { body: runs } = await daemon.request('GET', '/v1/runs')
    const { body } = await daemon.request('GET', '/v1/deliveries?limit=500')
    const deliveries: any[] = body.deliveries ?? body.items ?? body
    const isOver = runs.length >= most && runs.every(({ status }: any) => status === 'completed')
    if (isOver && deliveries.length >= most && deliveries.every(({ status }) => status === 'delivered')) return runs
    if (clock.elapsed() > deadline) throw new Error(`${runs.length} runs, ${JSON.stringify(deliveries.slice(0, 3))}`)
    await clock.sleep(200)
  }
}

/** Attempts whose end nobody knows: each of them is followed by another one. */
const repeated = async (daemon: SpawnedDaemon, runs: readonly any[]): Promise<number> => {
  let found = 0
  for (const { run_id } of runs) {
    const { body } = await daemon.request('GET', `/v1/runs/${run_id}/external-actions`)
    for (const { attempts } of body) found += attempts - 1
  }
  return found
}

const check = async (t: ExecutionContext<any>, daemon: SpawnedDaemon, api: BotApi): Promise<void> => {
  const most = kills * each
  const runs = await untilAll(daemon, most)
  t.is(runs.length, most, 'each update is one run')
  const { counts, pieces } = countOf(api)
  t.is(counts.size, most, 'none is lost')
  const doubled = pieces - 2 * most
  t.true(doubled >= 0)
  const told = await repeated(daemon, runs)
  t.log(`${doubled} of ${pieces} messages were sent again; ${told} attempts were cut off`)
  t.true(doubled <= told, `telegram-19: ${doubled} were sent again, ${told} attempts were cut off`)
}

test.serial(`telegram-8, telegram-19: by webhook, each update five times, through ${kills} kills`, async (t) => {
  const api = await startBotApi([token])
  t.teardown(api.close)
  const root = await rootWithRange(t)
  let daemon = await serve(root)
  await connect(daemon, api, { ingress_events_per_second: 10_000 })
  const headers = { 'x-telegram-bot-api-secret-token': secret }
  const ids = new Map<number, Set<string>>()
  const deliver = async (n: number, update: object): Promise<void> => {
    // As the platform does: again and again until it is told that it was taken.
    for (;;) {
      const told = await Promise.allSettled(
        Array.from({ length: 5 }, () => daemon.request('POST', hookPath('bot'), update, headers)),
      )
      const taken = told.flatMap((one) => (one.status === 'fulfilled' && one.value.status === 200 ? [one.value] : []))
      const known = ids.get(n) ?? new Set()
      for (const { body } of taken) known.add(body.run_id)
      ids.set(n, known)
      if (taken.length > 0) return
      await clock.sleep(50)
    }
  }
  const work: Promise<void>[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    for (let n = kill * each; n < (kill + 1) * each; n += 1) work.push(deliver(n, long(n)))
    await clock.sleep(150 + ((kill * 53) % 300))
    await daemon.die()
    daemon = await serve(root)
  }
  t.teardown(() => daemon.kill('SIGKILL'))
  await Promise.all(work)
  for (const [n, known] of ids) t.is(known.size, 1, `update ${n} is one run, whenever it was answered`)
  await check(t, daemon, api)
})

test.serial(`telegram-21, telegram-19: by poll, through ${kills} kills`, async (t) => {
  const api = await startBotApi([token])
  t.teardown(api.close)
  const root = await rootWithRange(t)
  let daemon = await serve(root)
  const polling = { ingress_mode: 'polling', polling_timeout_seconds: 5, ingress_events_per_second: 10_000 }
  await connect(daemon, api, polling)
  for (let kill = 0; kill < kills; kill += 1) {
    for (let n = kill * each; n < (kill + 1) * each; n += 1) api.push(long(n))
    await clock.sleep(150 + ((kill * 53) % 300))
    await daemon.die()
    daemon = await serve(root)
  }
  t.teardown(() => daemon.kill('SIGKILL'))
  await check(t, daemon, api)
  const polls = api.of('getUpdates')
  const offsets = polls.map(({ fields }) => Number(fields['offset']))
  t.deepEqual(
    offsets,
    offsets.toSorted((one, other) => one - other),
    'no life goes back behind what was noted',
  )
  t.is(api.waiting(), 0)
})

test.serial(
  'telegram-19: a message whose answer never came is sent again, and its first attempt is unknown',
  async (t) => {
    const bot = await startBot(t)
    await bot.put('bot')
    bot.api.on('sendMessage', first(1, doneAndCut))
    const { body } = await bot.hook(message('Hello'))
    const actions = async (): Promise<any[]> =>
      (await bot.request('GET', `/v1/runs/${body.run_id}/external-actions`)).body
    const outcomes = async (): Promise<string> => (await actions()).map(({ outcome }: any) => outcome).join()
    await bot.api.until(async () => (await outcomes()) === 'unknown', 'nobody knows of the first attempt')
    await bot.api.until(() => bot.api.of('sendMessage').length === 2, 'it is sent again')
    await bot.api.until(async () => (await outcomes()) === 'done', 'the second attempt')
    const [action] = await actions()
    t.is(action.attempts, 2)
    t.regex(action.target, /^telegram:bot:chat_sha256:[0-9a-f]{16}$/u)
  },
)

test.serial('telegram-25: a daemon that holds does not poll, and does when it is released', async (t) => {
  const bot = await startBot(t, { flags: { hold: 'true' } })
  await bot.put('bot', { ingress_mode: 'polling', polling_timeout_seconds: 1 })
  await clock.sleep(300)
  t.is(bot.api.calls.length, 0)
  t.is((await bot.request('POST', '/v1/release', {})).status, 200)
  await bot.api.until(() => bot.api.of('getUpdates').length > 0, 'it polls')
})
