/** What is under way, which a stop waits for: hooks that are asked, and what they leave to be cleaned up. */
export interface Works {
  track<T>(work: Promise<T>): Promise<T>
  /** Resolves when nothing is under way. */
  over(): Promise<void>
}

export const createWorks = (): Works => {
  const works = new Set<Promise<unknown>>()
  return {
    track(work) {
      const tracked = work.finally(() => works.delete(tracked))
      works.add(tracked)
      return tracked
    },
    async over() {
      // What ends may leave something to be cleaned up.
      while (works.size > 0) await Promise.allSettled(works)
    },
  }
}
