/**
 * A server that ends its answer, whose length nobody told, while the client does not read: the rest and the end of
 * the connection then wait together in the client's socket.
 */
import { createServer, type Socket } from 'node:net'

export interface LateEndServer {
  readonly url: string
  /** Sends the rest and ends the connection; resolves when the client has had the time to hear of it. */
  finish(): Promise<void>
  close(): void
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export interface LateEndAnswer {
  readonly content_type: string
  readonly first: string
  readonly rest: string
}

export const startLateEndServer = async ({ content_type, first, rest }: LateEndAnswer): Promise<LateEndServer> => {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: ${content_type}\r\nConnection: close\r\n\r\n`
  const server = createServer()
  const asked = new Promise<Socket>((resolve) =>
    server.on('connection', (socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.write(head + first, () => resolve(socket)))
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const finish = async (): Promise<void> => {
    const socket = await asked
    await pause(200)
    await new Promise<void>((resolve) => socket.end(rest, () => resolve()))
    await pause(200)
  }
  return { url: `http://127.0.0.1:${port}/`, finish, close: () => void server.close() }
}
