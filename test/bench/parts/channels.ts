/** From a message of a person to the grant of the floor: in a channel of 10,000 members beside one of 10, in turns. */
import { rmSync } from 'node:fs'
import { request } from 'undici'
import { median, prepare, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { quantile, send } from '../load.js'

const [most, few] = [10_000, 10]
/** Members of one request. */
const portion = 1_000
const ann = { member_id: 'ann', member_kind: 'human_actor', display_name: 'Ann' }

/** A channel of a person and of sessions `m0`, `m1` and so on. */
const makeChannel = async (base: string, channel_id: string, members: number): Promise<void> => {
  const sessions = Array.from({ length: members - 1 }, (_, n) => ({
    member_id: `m${n}`,
    member_kind: 'session',
    display_name: `Member ${n}`,
    participation_mode: 'always_listen',
  }))
  const first = [ann, ...sessions.slice(0, portion - 1)]
  await send(`${base}/v1/channels`, { channel_id, title: channel_id, members: first })
  for (const member of sessions.slice(portion - 1)) await send(`${base}/v1/channels/${channel_id}/members`, member)
}

const leasesOf = async (base: string, channel_id: string): Promise<readonly unknown[]> =>
  (await (await request(`${base}/v1/channels/${channel_id}/leases`)).body.json()) as readonly unknown[]

const put = async (base: string, channel_id: string, body: object): Promise<void> => {
  const answer = await request(`${base}/v1/channels/${channel_id}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await answer.body.dump()
}

/** Until somebody has the floor. It is paused behind that, so that nobody is asked beside what is measured. */
const grant = async (base: string, channel_id: string): Promise<number> => {
  await put(base, channel_id, { paused: false })
  const begin = performance.now()
  await send(`${base}/v1/channels/${channel_id}/messages`, { sender_actor_id: 'ann', content: 'Who is there?' })
  while ((await leasesOf(base, channel_id)).length === 0);
  const took = performance.now() - begin
  await put(base, channel_id, { paused: true })
  while ((await leasesOf(base, channel_id)).length > 0);
  return took
}

const measure = async ({ note, quick }: Bench): Promise<void> => {
  const root = temporaryRoot()
  const daemon = await startDaemon(root)
  await prepare(daemon.url, 'm', most)
  const times = { large: new Array<number>(), small: new Array<number>() }
  await makeChannel(daemon.url, 'large', most)
  await makeChannel(daemon.url, 'small', few)
  const rounds = quick ? 20 : 100
  for (let n = 0; n < rounds + 5; n += 1)
    for (const name of ['large', 'small'] as const) {
      const took = await grant(daemon.url, name)
      if (n >= 5) times[name].push(took)
    }
  const { large, small } = times
  note(`post to grant, ${most} members beside ${few}, p50`, 'ms', 'less', median(large), median(small))
  note('the same, p99', 'ms', 'less', quantile(large, 0.99), quantile(small, 0.99))
  await daemon.stop()
  rmSync(root, { recursive: true })
}

export const channels: Part = { name: 'channels', measure }
