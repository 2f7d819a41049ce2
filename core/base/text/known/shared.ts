/** Compares a value with what stands in a text. */

/** Code units that are looked at one by one before the rest is compared in pieces, and those of a piece. */
const [glance, piece] = [64, 4096]

/** How many code units of a value stand in the text at a place, if the first ones are known to. */
export const sharedOf = (value: string, text: string, [at, known]: readonly [at: number, known: number]): number => {
  const most = Math.min(value.length, text.length - at)
  const walk = (from: number, to: number): number => {
    let shared = from
    while (shared < to && value.charCodeAt(shared) === text.charCodeAt(at + shared)) shared += 1
    return shared
  }
  const near = Math.min(most, known + glance)
  let shared = walk(known, near)
  if (shared < near) return shared
  // Equality of slices is a comparison of memory; `startsWith` is sixty times as slow.
  const isShared = (to: number): boolean => value.slice(shared, to) === text.slice(at + shared, at + to)
  while (shared + piece <= most && isShared(shared + piece)) shared += piece
  return walk(shared, most)
}
