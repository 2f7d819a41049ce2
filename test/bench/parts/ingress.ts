/** How many messages of programs a connector takes: each with a key of its own, on disk when it is answered. */
import { createHmac } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { median, prepare, startDaemon, startFloor, temporaryRoot, type Bench, type Part } from '../bench.js'
import type { Server } from '../server.js'

const clients = 64
const path = '/v1/connectors/http/bench'
const [token, secret] = ['bench-token', 'bench-secret']

interface Taken {
  readonly perSecond: number
  /** Milliseconds for each. */
  readonly cpu: number
}

type Post = (client: number, at: number) => Promise<void>

const posted = async (url: string, headers: Record<string, string>, body: string): Promise<void> => {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text}`)
}

/** As many as are answered in the time, and what they cost the server. */
const load = async (server: Server, milliseconds: number, post: Post): Promise<Taken> => {
  const [cpu, begin] = [server.cpu(), performance.now()]
  let count = 0
  const client = async (own: number): Promise<void> => {
    for (let at = 0; performance.now() - begin < milliseconds; at += 1) {
      await post(own, at)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, own) => client(own)))
  const seconds = (performance.now() - begin) / 1000
  return { perSecond: count / seconds, cpu: (server.cpu() - cpu) / count }
}

const content = 'Order 123 of the customer acme was paid and can be sent. '.repeat(4)

/** A message of a program; the runs behind them work meanwhile. */
const toConnector =
  ({ url }: Server, round: number): Post =>
  (own, at) => {
    const body = JSON.stringify({
      content,
      binding_keys: [`customer:${own}`],
      idempotency_key: `${round}:${own}:${at}`,
    })
    const now = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', secret).update(`v1:POST:${path}:${now}:${body}`).digest('hex')
    return posted(
      `${url}${path}`,
      { authorization: `Bearer ${token}`, 'x-service-timestamp': now, 'x-service-signature': `v1=${signature}` },
      body,
    )
  }
/** The same work without a connector: a client of the daemon submits it. */
const toRuns =
  ({ url }: Server): Post =>
  (own) =>
    posted(`${url}/v1/sessions/bench-${own}/runs`, {}, JSON.stringify({ content }))

const setUp = async ({ url }: Server): Promise<void> => {
  const answer = await request(`${url}/v1/runtime/connectors/http/bench`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      bearer_token: { value: token },
      hmac_secret: { value: secret },
      require_hmac_signature: true,
      session_policy: { create_if_missing: true },
      ingress_events_per_second: 100_000,
    }),
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text}`)
}

const measure = async ({ note, rounds, milliseconds }: Bench): Promise<void> => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'connector-ingress.toml'), 'events_per_second = 100000\n')
  const [daemon, floor] = [await startDaemon(root), await startFloor()]
  await setUp(daemon)
  await prepare(daemon.url, 'bench-', clients)
  // The code of the daemon is compiled while it runs: what it costs before that says nothing.
  for (const post of [toConnector(daemon, rounds), toRuns(daemon)]) await load(daemon, milliseconds, post)
  const [own, submitted, bare]: [Taken[], Taken[], Taken[]] = [[], [], []]
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await load(floor, milliseconds, toRuns(floor)))
    submitted.push(await load(daemon, milliseconds, toRuns(daemon)))
    own.push(await load(daemon, milliseconds, toConnector(daemon, round)))
  }
  const of = (taken: readonly Taken[], what: keyof Taken): number => median(taken.map((one) => one[what]))
  note(`signed messages to a connector, ${clients} clients`, '/s', 'more', of(own, 'perSecond'), of(bare, 'perSecond'))
  note('CPU for each, with its run', 'ms', 'less', of(own, 'cpu'), of(bare, 'cpu'))
  note('the same, beside that of a run of a client', 'ms', 'less', of(own, 'cpu'), of(submitted, 'cpu'))
  await daemon.stop()
  await floor.stop()
  rmSync(root, { recursive: true })
}

export const ingress: Part = { name: 'ingress', measure }
