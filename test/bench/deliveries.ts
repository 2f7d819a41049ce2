/** Deliveries per second of a daemon, beside the same bodies posted with nothing in between. */
import { request } from 'undici'
import { send } from './load.js'
import type { Server } from './server.js'

interface Seen {
  readonly count: number
  readonly first: number
  readonly last: number
  readonly body: string
}

const targets = 64
const posters = 32

const seenBy = async (receiver: string, reset = false): Promise<Seen> => {
  const { body } = await request(`${receiver}/count${reset ? '?reset' : ''}`)
  return (await body.json()) as Seen
}

const arrived = async (receiver: string, count: number): Promise<Seen> => {
  for (;;) {
    const seen = await seenBy(receiver)
    if (seen.count >= count) return seen
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const perSecond = ({ count, first, last }: Seen): number => (count - 1) / ((last - first) / 1000)

/** Each run has one output, for 64 targets. */
const delivered = async (daemon: string, receiver: string, count: number): Promise<Seen> => {
  await seenBy(receiver, true)
  const reply_targets = Array.from({ length: targets }, (_, n) => ({
    plugin: 'http',
    address: JSON.stringify({ url: `${receiver}/t${n}`, allow_private_network: true }),
  }))
  for (let n = 0; n < count / targets; n += 1)
    await send(`${daemon}/v1/sessions/deliver/runs`, { content: `output ${n}`, reply_targets } as object)
  return arrived(receiver, Math.ceil(count / targets) * targets)
}

/** The same client library, and as many requests at a time as the daemon has attempts, each on its own connection. */
const posted = async (receiver: string, body: string, count: number): Promise<Seen> => {
  await seenBy(receiver, true)
  const post = async (): Promise<void> => {
    for (let n = 0; n < count / posters; n += 1)
      await (
        await request(`${receiver}/direct`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': `service:${n}` },
          body,
        })
      ).body.dump()
  }
  await Promise.all(Array.from({ length: posters }, post))
  return arrived(receiver, Math.ceil(count / posters) * posters)
}

export interface Compared {
  /** Per second. */
  readonly ours: number
  readonly direct: number
  /** Milliseconds of CPU time of who sends, for each. */
  readonly oursCpu: number
  readonly directCpu: number
}

const ownCpu = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** What something costs its sender, for each of `count`. */
const costOf = async <T>(cpu: () => number, count: number, work: () => Promise<T>): Promise<[T, number]> => {
  const before = cpu()
  const result = await work()
  return [result, (cpu() - before) / count]
}

/** Both have warmed up before anything is measured. */
export const compareDeliveries = async (daemon: Server, receiver: string, count: number): Promise<Compared> => {
  await send(`${daemon.url}/v1/sessions`, { session_id: 'deliver' })
  const { body } = await delivered(daemon.url, receiver, count / 4)
  await posted(receiver, body, count / 4)
  const [direct, directCpu] = await costOf(ownCpu, count, () => posted(receiver, body, count))
  const [ours, oursCpu] = await costOf(daemon.cpu, count, () => delivered(daemon.url, receiver, count))
  return { ours: perSecond(ours), direct: perSecond(direct), oursCpu, directCpu }
}
