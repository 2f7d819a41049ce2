/** Whether work grows with its size and not with its square, told by the work itself and not by a clock's limit. */

const millisecondsOf = (work: () => void): number => {
  const from = performance.now()
  work()
  return performance.now() - from
}
const leastOf = (work: () => void): number => Math.min(millisecondsOf(work), millisecondsOf(work))

const looksLinear = (work: (size: number) => void, size: number): boolean => {
  const quarter = leastOf(() => work(size / 4))
  return leastOf(() => work(size)) < 12 * (quarter + 10)
}

/**
 * Work of four times the size takes four times as long, and sixteen times where it is quadratic: that shows each time,
 * and what others do on the machine does not.
 */
export const isLinear = (work: (size: number) => void, size: number): boolean =>
  [1, 2, 3].some(() => looksLinear(work, size))
