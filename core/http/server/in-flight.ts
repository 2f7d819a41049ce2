/** Which connections owe an answer, so that a stop can wait for these and for no idle one. */
import type { ServerResponse, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.js'

export interface InFlight {
  /** Takes a request into account until its answer has left or its connection is gone. */
  track(response: ServerResponse): void
  /** Resolves when no answer is owed, or after `ms`: false then. */
  drained(ms: number): Promise<boolean>
}

export const createInFlight = (server: Server, clock: Clock): InFlight => {
  /** Answers that are owed, by connection. */
  const owed = new Map<Socket, number>()
  let settle = (): void => {}
  const forget = (socket: Socket): void => {
    owed.delete(socket)
    if (owed.size === 0) settle()
  }
  // An answer that waits behind another on a connection is never told that the connection has gone.
  server.on('connection', (socket: Socket) => {
    // Each answer that a client has in line may listen.
    socket.setMaxListeners(0)
    socket.once('close', () => forget(socket))
  })
  return {
    track(response) {
      const { socket } = response.req
      owed.set(socket, (owed.get(socket) ?? 0) + 1)
      response.once('close', () => {
        const left = (owed.get(socket) ?? 1) - 1
        if (left > 0) owed.set(socket, left)
        else forget(socket)
      })
    },
    drained: (ms) =>
      new Promise((resolve) => {
        if (owed.size === 0) return resolve(true)
        const cancel = clock.after(ms, () => resolve(false))
        settle = () => {
          cancel()
          resolve(true)
        }
      }),
  }
}
