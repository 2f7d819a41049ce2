/** Messages through kills, each sent until it is acknowledged; docs/rules/ingress.md. */
import test from 'ava'
import { rm } from 'node:fs/promises'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { createPause } from '../../../support/pause.js'
import { bearer, open, pathOf } from './posting.js'
import { partOf } from '../../../support/volume.js'

const [messages, senders, atOnce, leastKills] = [partOf(400, 1000), 8, 5, 8]

test.serial(
  `ingress-1, ingress-2: ${messages} messages, each five times at once and again after kills, are as many runs`,
  async (t) => {
    const root = await freshRoot()
    t.teardown(() => rm(root, { recursive: true, force: true }))
    let daemon: SpawnedDaemon = await spawnDaemon({ root })
    t.teardown(() => daemon.die())
    await daemon.request('PUT', '/v1/runtime/connectors/http/orders', { ...open, ingress_events_per_second: 100_000 })
    const known = new Map<string, string>()
    let [next, over] = [0, false]
    let life = Promise.resolve()
    const post = async (key: string): Promise<string | undefined> => {
      const { url } = daemon
      try {
        const answer = await fetch(`${url}${pathOf('orders')}`, {
          method: 'POST',
          headers: bearer,
          body: JSON.stringify({ content: key, idempotency_key: key, binding_keys: [`customer:${Number(key) % 50}`] }),
        })
        const body = await answer.json()
        if (answer.status === 200) return String(Reflect.get(Object(body), 'run_id'))
        if (answer.status !== 503) throw new TypeError(`answered with ${answer.status} ${JSON.stringify(body)}`)
      } catch (error) {
        if (String(error).includes('answered with')) throw error
      }
      return undefined
    }
    const sender = async (): Promise<void> => {
      while (next < messages) {
        const key = String((next += 1))
        for (const pause = createPause(); !known.has(key); await pause()) {
          await life
          for (const run_id of await Promise.all(Array.from({ length: atOnce }, () => post(key)))) {
            if (run_id === undefined) continue
            if ((known.get(key) ?? run_id) !== run_id) throw new TypeError(`answered with two runs for ${key}`)
            known.set(key, run_id)
          }
        }
      }
    }
    let kills = 0
    const killer = async (): Promise<void> => {
      while (!over) {
        const before = known.size
        // Some were acknowledged in each life.
        for (const pause = createPause(); !over && known.size < before + messages / leastKills / 2;) await pause()
        if (over) return
        kills += 1
        life = daemon.die().then(async () => {
          daemon = await spawnDaemon({ root })
        })
        await life
      }
    }
    const killing = killer()
    try {
      await Promise.all(Array.from({ length: senders }, sender))
    } finally {
      over = true
      await killing
    }
    t.is(known.size, messages)
    t.true(kills >= leastKills, `${kills} kills`)
    const runs: string[] = []
    for (let cursor = ''; ;) {
      const { body } = await daemon.request('GET', `/v1/runs?page=true&limit=100${cursor}`)
      runs.push(...body.items.map(({ run_id }: { run_id: string }) => run_id))
      if (body.pagination.next_cursor === undefined) break
      cursor = `&cursor=${encodeURIComponent(body.pagination.next_cursor)}`
    }
    t.is(runs.length, messages)
    t.deepEqual(runs.toSorted(), [...known.values()].toSorted())
    await daemon.kill('SIGKILL')
  },
)
