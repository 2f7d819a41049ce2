/**
 * What clients have asked for and not taken: answers and frames that wait in this process. A client that takes nothing
 * for a while is cut, and so is the one that has owed for the longest when all together are too many bytes.
 */
import type { ServerResponse } from 'node:http'

export interface UnsentLimits {
  /** Ms that a client may take nothing of what is written for it. */
  readonly writeTimeout: number
  /** Bytes that may wait for all clients together; one answer alone may be larger. */
  readonly unsentBytes: number
}

export interface Unsent {
  /** Bytes that wait now. */
  readonly bytes: number
  /** Call it after a write: keeps account until the client has taken everything. */
  watch(response: ServerResponse): void
}

export const createUnsent = ({ writeTimeout, unsentBytes }: UnsentLimits): Unsent => {
  /** Bytes by response, the one that has waited for the longest first. */
  const waiting = new Map<ServerResponse, number>()
  let bytes = 0

  const settle = (response: ServerResponse): void => {
    bytes -= waiting.get(response) ?? 0
    waiting.delete(response)
    const { socket } = response.req
    // Node has put its own limit in place if the connection only waits for another request.
    if (socket.timeout === writeTimeout) socket.setTimeout(0)
  }
  const begin = (response: ServerResponse): void => {
    // The limit of the socket starts again whenever the system takes a part, also of one large write.
    const { socket } = response.req
    socket.setTimeout(writeTimeout)
    const done = (): void => {
      for (const event of ['drain', 'finish', 'close']) response.off(event, done)
      socket.off('close', done)
      settle(response)
    }
    // A response in line behind another is never told that the connection has gone.
    socket.on('close', done)
    for (const event of ['drain', 'finish', 'close']) response.on(event, done)
  }
  return {
    get bytes() {
      return bytes
    },
    watch(response) {
      const now = response.writableLength
      const before = waiting.get(response)
      if (response.destroyed || (now === 0 && before === undefined)) return
      waiting.set(response, now)
      bytes += now - (before ?? 0)
      if (before === undefined) begin(response)
      for (const oldest of waiting.keys()) {
        if (bytes <= unsentBytes || waiting.size === 1) return
        bytes -= waiting.get(oldest) ?? 0
        waiting.delete(oldest)
        oldest.req.socket.destroy()
      }
    },
  }
}
