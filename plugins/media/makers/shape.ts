/** Pictures by their shape, where a server does not take their size. */

const ratioOf = (shape: string): number => {
  const [width = 1, height = 1] = shape.split(/[:x]/u).map(Number)
  return width / height
}

/** The one of `shapes` that is nearest to a size; undefined where any will do. */
export const nearestShape = (shapes: readonly string[], size: string | undefined): string | undefined => {
  if (size === undefined || size === 'auto') return undefined
  const distance = (shape: string): number => Math.abs(Math.log(ratioOf(shape) / ratioOf(size)))
  return shapes.toSorted((one, other) => distance(one) - distance(other))[0]
}
