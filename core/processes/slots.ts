/**
 * Where the starter connects: one connection for orders, and one for each output of a program. The socket is in a
 * folder that other users cannot enter: they could take all places of those who have not said who they are. Whoever
 * does not know the token is turned away.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../base/clock.js'
import type { Ids } from '../base/ids.js'
import { makePrivateFolder } from '../state/disk/private-folder.js'

export interface Slots {
  readonly address: string
  readonly token: string
  /** The connection for orders. */
  readonly control: Promise<Socket>
  /** The connection of an output, once; undefined if there is none. */
  take(slot: number): Socket | undefined
  close(): void
}

/** Of those that have not said who they are. */
const mostStrangers = 256
const patienceMs = 10_000
const slotDigits = 16

interface Greeting {
  readonly clock: Clock
  readonly token: string
  readonly strangers: Set<Socket>
  readonly welcome: (socket: Socket, slot: number) => void
}

const greet = (socket: Socket, { clock, token, strangers, welcome }: Greeting): void => {
  socket.unref()
  socket.on('error', () => {})
  if (strangers.size >= mostStrangers) return void socket.destroy()
  strangers.add(socket)
  const cancel = clock.after(patienceMs, () => socket.destroy())
  const known = (): void => {
    cancel()
    strangers.delete(socket)
  }
  socket.once('close', known)
  // What follows the name is the output of a program and stays where it is.
  const read = (): void => {
    const name: unknown = socket.read(token.length + slotDigits)
    if (!(name instanceof Uint8Array)) return
    socket.off('readable', read)
    known()
    const text = Buffer.from(name).toString('latin1')
    if (text.slice(0, token.length) === token) welcome(socket, Number(text.slice(token.length)))
    else socket.destroy()
  }
  socket.on('readable', read)
}

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path }, resolve)
  })

/** Rejects if the system gives no socket. */
export const openSlots = async ({ clock, ids }: { clock: Clock; ids: Ids }): Promise<Slots> => {
  const folder = makePrivateFolder()
  const [address, token] = [join(folder.path, 'starter'), ids.random(16)]
  const sockets = new Map<number, Socket>()
  const strangers = new Set<Socket>()
  let meet: (socket: Socket) => void
  const control = new Promise<Socket>((resolve) => {
    meet = resolve
  })
  const welcome = (socket: Socket, slot: number): void => {
    if (slot === 0) return meet(socket)
    sockets.set(slot, socket)
    socket.once('close', () => sockets.delete(slot))
    socket.write('\n')
  }
  const server = createServer((socket) => greet(socket, { clock, token, strangers, welcome }))
  await listening(server, address).catch((error: unknown) => {
    folder.remove()
    throw error
  })
  server.on('error', () => {})
  server.unref()
  return {
    address,
    token,
    control,
    take(slot) {
      const socket = sockets.get(slot)
      sockets.delete(slot)
      return socket?.ref()
    },
    close() {
      server.close()
      folder.remove()
      for (const socket of [...sockets.values(), ...strangers]) socket.destroy()
    },
  }
}
