/** One writer for each path at a time; others wait their turn. */
export interface PathLocks {
  hold<T>(path: string, work: () => Promise<T>): Promise<T>
}

export const createPathLocks = (): PathLocks => {
  const tails = new Map<string, Promise<unknown>>()
  return {
    hold: async (path, work) => {
      const before = tails.get(path)
      const mine = before === undefined ? work() : before.then(work, work)
      tails.set(path, mine)
      try {
        return await mine
      } finally {
        if (tails.get(path) === mine) tails.delete(path)
      }
    },
  }
}
