/** What is said to a platform beside the answer of a run, and that nobody waits for (ingress-19). */

export interface Asides {
  /** Begins the work, unless too much of this connector is under way: then it is left out. It must not reject. */
  say(connector: string, work: () => Promise<void>): void
}

/** Of one connector at a time: whoever floods one whose platform hangs fills no memory with what is never said. */
const mostAsides = 32

export const createAsides = (): Asides => {
  const running = new Map<string, number>()
  const count = (connector: string, more: number): void => {
    const left = (running.get(connector) ?? 0) + more
    if (left === 0) running.delete(connector)
    else running.set(connector, left)
  }
  return {
    say(connector, work) {
      if ((running.get(connector) ?? 0) >= mostAsides) return
      count(connector, 1)
      void work().finally(() => count(connector, -1))
    },
  }
}
