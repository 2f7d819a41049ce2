/** A thread that answers orders: it is started at the first of them, and anew once it died. */
import { Worker, type TransferListItem } from 'node:worker_threads'
import { fault } from '../base/assert.js'
import { unsafeCast } from '../base/schema.js'

export interface ThreadSpec {
  readonly program: URL
  readonly name: string
  /** As faults tell of it, such as `reads bodies`. */
  readonly does: string
}

/** What the thread gets, and what it answers with: the `id` says which order an answer is of. */
export interface Numbered {
  readonly id: number
}

export interface Thread<O, A extends Numbered> {
  /** What is handed over is gone here. Rejects if the thread dies. */
  ask(order: O, handedOver?: readonly TransferListItem[]): Promise<A>
  close(): Promise<void>
}

interface Asking<A> {
  readonly resolve: (answer: A) => void
  readonly reject: (error: Error) => void
}

const openWorker = <O, A extends Numbered>({ program, name, does }: ThreadSpec, gone: () => void): Thread<O, A> => {
  const worker = new Worker(program, { env: {}, execArgv: [], name })
  const asked = new Map<number, Asking<A>>()
  let last = 0
  worker.unref()
  worker.on('message', (message: unknown) => {
    const answer = unsafeCast<A>(message)
    asked.get(answer.id)?.resolve(answer)
    asked.delete(answer.id)
    if (asked.size === 0) worker.unref()
  })
  const lose = (error: Error): void => {
    gone()
    for (const { reject } of asked.values()) reject(error)
    asked.clear()
  }
  worker.on('error', (cause) => lose(fault(`the thread that ${does} failed`, cause)))
  worker.on('exit', () => lose(fault(`the thread that ${does} ended`)))
  return {
    ask: (order, handedOver = []) =>
      new Promise((resolve, reject) => {
        worker.ref()
        asked.set((last += 1), { resolve, reject })
        worker.postMessage({ ...order, id: last }, handedOver)
      }),
    close: async () => void (await worker.terminate()),
  }
}

export const createThread = <O, A extends Numbered>(spec: ThreadSpec): Thread<O, A> => {
  let thread: Thread<O, A> | undefined
  const find = (): Thread<O, A> => {
    const opened =
      thread ??
      openWorker<O, A>(spec, () => {
        if (thread === opened) thread = undefined
      })
    return (thread = opened)
  }
  return { ask: (order, handedOver) => find().ask(order, handedOver), close: async () => thread?.close() }
}
