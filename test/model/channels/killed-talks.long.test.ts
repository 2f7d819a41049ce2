/** `MODEL_SEED` brings back the talk; at which moment of it a life ends is up to the machine. */
import { rmSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { createRandom, type Random } from '../../faults/random.js'
import { freshRoot, type SpawnedDaemon } from '../../support/daemon.js'
import { startBotServer } from './bot-server.js'
import { configure, faultsOf, nextLine, openRooms, post, rest, serve, talkOf, type Room } from './killed-talks.js'
import { partOf } from '../../support/volume.js'

const seed = Number(process.env['MODEL_SEED'] ?? 1)
const withinMs = Number(process.env['MODEL_MS'] ?? partOf(20_000, 80_000))
const roomsAtOnce = 9
/** Then others are opened: a list of messages is as long as its channel is old. */
const roundsOfRooms = 15

interface Stand {
  /** Of the talk. */
  readonly random: Random
  /** Of its moments. */
  readonly luck: Random
  rooms: readonly Room[]
  serve(): Promise<SpawnedDaemon>
}

/** Lives that end within the talk, and one that does not. Returns how many ended. */
const round = async (t: ExecutionContext, stand: Stand, first: SpawnedDaemon): Promise<[SpawnedDaemon, number]> => {
  const { random, luck } = stand
  const talkative = stand.rooms.flatMap((room) => (room.model === undefined ? [room, room] : [room]))
  const lines = talkative.map((room) => ({ room, line: nextLine(room, random) }))
  const deaths = luck.below(5)
  let daemon = first
  for (let n = 0; n < deaths; n += 1) {
    const live = daemon
    const talk = Promise.all(lines.map(({ room, line }) => post(live, room, line)))
    talk.catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, luck.below(700)))
    await live.die()
    await talk.catch(() => undefined)
    daemon = await stand.serve()
    for (const room of stand.rooms) t.deepEqual(await faultsOf(daemon, room), [])
  }
  for (const { room, line } of lines) await post(daemon, room, line)
  return [daemon, deaths]
}

test('floor-5, floor-16, floor-17: who speaks is what the model says, whenever the daemon was killed', async (t) => {
  t.log(`MODEL_SEED=${seed}`)
  const luck = createRandom(seed + 1)
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  configure(root)
  const server = await startBotServer(() => luck.below(60))
  t.teardown(() => server.close())
  const stand: Stand = { random: createRandom(seed), luck, rooms: [], serve: () => serve(root, server.url) }
  let daemon = await stand.serve()
  const until = performance.now() + withinMs
  let [rounds, kills] = [0, 0]
  for (; performance.now() < until; rounds += 1) {
    if (rounds % roundsOfRooms === 0)
      stand.rooms = await openRooms(
        daemon,
        stand.random,
        [...Array(roomsAtOnce).keys()].map((n) => rounds * 10 + n),
      )
    const [next, deaths] = await round(t, stand, daemon)
    daemon = next
    kills += deaths
    await rest(daemon, stand.rooms)
    for (const room of stand.rooms) {
      t.deepEqual(await faultsOf(daemon, room), [])
      const talk = await talkOf(daemon, room)
      if (room.model !== undefined) t.deepEqual(talk.daemon, talk.model, `round ${rounds}, ${room.id}`)
    }
  }
  t.log(`${rounds} rounds, ${kills} kills`)
  t.true(rounds > 0 && kills > 0)
  t.true(stand.rooms.some(({ model }) => model?.messages.some(({ author }) => author !== undefined)))
  await daemon.stop()
})
