/** The outside: a server that deliveries go to, and what it got. */
import type { ReplyHandle } from '../../plugins/execution/deliveries/contract.js'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseJson } from '../support/json.js'

/** A target that takes everything, one that takes nothing at the first attempt, and one that never takes anything. */
export const targets = ['steady', 'moody', 'closed'] as const

export interface Receiver {
  /** Names a target to the daemon. */
  handle(target: string): ReplyHandle
  /** Contents that a target accepted, in order, each once for each key. */
  accepted(target: string): string[]
  close(): Promise<void>
}

interface Took {
  readonly key: string
  readonly content: string
}

export const startReceiver = async (): Promise<Receiver> => {
  const seen = new Set<string>()
  const took = new Map<string, Took[]>(targets.map((target) => [target, []]))
  const statusFor = (target: string, key: string): number => {
    if (target === 'closed') return 410
    const known = seen.has(key)
    seen.add(key)
    return target === 'moody' && !known ? 503 : 200
  }
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const target = String(incoming.url).slice(1)
        const key = String(incoming.headers['idempotency-key'])
        const status = statusFor(target, key)
        if (status === 200)
          took.get(target)?.push({ key, content: parseJson(Buffer.concat(chunks).toString('utf8')).content })
        outgoing.writeHead(status).end()
      })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    handle: (target) => ({
      plugin: 'http',
      address: JSON.stringify({ url: `http://127.0.0.1:${port}/${target}`, allow_private_network: true }),
    }),
    accepted(target) {
      const all = took.get(target) ?? []
      return all
        .filter(({ key }, at) => all.findIndex((other) => other.key === key) === at)
        .map(({ content }) => content)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
