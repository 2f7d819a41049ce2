/** Something that waits until the test lets it go on. */
export interface Latch {
  /** Waits; tells that somebody does. */
  wait(): Promise<void>
  readonly reached: Promise<void>
  open(error?: Error): void
}
export const createLatch = (): Latch => {
  const signal = (): { promise: Promise<void>; settle: (error?: Error) => void } => {
    let settle: (error?: Error) => void = () => {}
    const promise = new Promise<void>((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error))
    })
    promise.catch(() => undefined)
    return { promise, settle }
  }
  const [arrival, passage] = [signal(), signal()]
  return {
    wait: () => {
      arrival.settle()
      return passage.promise
    },
    reached: arrival.promise,
    open: passage.settle,
  }
}
