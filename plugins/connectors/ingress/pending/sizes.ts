/** How much of one connector may wait (ingress-15). */

/** Events, and bytes of them. */
const [mostWaiting, mostBytes] = [10_000, 64 * 1024 * 1024]
/** What events are counted as: an index counts and does not add up, so each stands for the next power of two. */
const sizes: readonly number[] = Array.from({ length: 15 }, (_, at) => 4096 * 2 ** at)

const sizeOf = (bytes: number): number => sizes.find((size) => bytes <= size) ?? mostBytes

/** The group of the events of one connector that are counted alike. */
export const sizeGroup = (lane: string, bytes: number): string => `${lane} ${sizeOf(bytes)}`

/** True if there is room for so many bytes more; `count` tells how many wait in a group. */
export const hasRoom = (count: (group: string) => number, lane: string, bytes: number): boolean => {
  let [events, sum] = [1, sizeOf(bytes)]
  for (const size of sizes) {
    const found = count(sizeGroup(lane, size))
    events += found
    sum += found * size
  }
  return events <= mostWaiting && sum <= mostBytes
}
