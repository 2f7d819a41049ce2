import { MessageChannel } from 'node:worker_threads'

/** Timers of the clock let a process end; a daemon that starts or stops must not. Returns the release. */
export const keepAlive = (): (() => void) => {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', () => {})
  return () => {
    port1.close()
    port2.close()
  }
}
