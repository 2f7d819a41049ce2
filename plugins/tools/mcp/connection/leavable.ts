/** A connection that can be left: what it was asked is answered first. */
import type { Connection } from './connection.js'

export interface LeavableConnection extends Connection {
  /** Closes it when nothing that it was asked is open, which their own time-outs bound. Never rejects. */
  leave(): Promise<void>
}

export const leavable = (connection: Connection): LeavableConnection => {
  const open = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= connection.close())
  return {
    ...connection,
    ask(method, params, options) {
      const answer = connection.ask(method, params, options)
      const over = answer.catch(() => {}).finally(() => open.delete(over))
      open.add(over)
      return answer
    },
    close,
    async leave() {
      while (open.size > 0) await Promise.all(open)
      await close()
    },
  }
}
