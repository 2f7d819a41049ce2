/** Takes the address that the daemon listens on. */
import type { Server } from 'node:http'
import { createServer as createSocketServer, type Server as SocketServer } from 'node:net'
import { startErrors } from '../errors.js'

interface Place {
  readonly host: string
  readonly port: number
}

const reasons = new Map([
  ['EADDRINUSE', 'another process listens there already'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
  ['EACCES', 'this user may not listen there'],
])
const whyNot = (code: string): string => `${reasons.get(code) ?? 'the system refuses'} (${code})`

/** Resolves with the port that was taken. `onLost` is told of connections that the system then fails to hand over. */
export const bind = (
  server: Server | SocketServer,
  { host, port }: Place,
  onLost: (error: Error) => void = () => {},
): Promise<number> =>
  new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void =>
      reject(startErrors.listen_failed({ details: { host, port, why: whyNot(error.code ?? 'unknown') }, cause: error }))
    server.once('error', fail)
    server.listen({ host, port }, () => {
      server.off('error', fail)
      server.on('error', onLost)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })

/** Throws why the address cannot be taken now; it is free again afterwards. */
export const checkFree = async (place: Place): Promise<void> => {
  const server = createSocketServer((socket) => socket.destroy())
  await bind(server, place)
  await new Promise((resolve) => {
    server.close(resolve)
  })
}
