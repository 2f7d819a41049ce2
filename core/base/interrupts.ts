/** How long work hears that whoever waits for it wants it to end. */
export interface Interrupts {
  /** Once it aborts, work rejects with its reason as soon as nothing is half made. */
  readonly signal: AbortSignal
  /** Does what reads alone and waits for nothing; rejects with the reason at once where it is interrupted meanwhile. */
  inOneGo<R>(work: () => R): Promise<R>
}

export const noInterrupts: Interrupts = { signal: new AbortController().signal, inOneGo: async (work) => work() }
