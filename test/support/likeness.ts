/** How alike two pictures are: the mean structural similarity of their greys, over windows of 8 by 8 (1 is equal). */
import sharp from 'sharp'

const edge = 8
const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2]

interface Greys {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}
const greysOf = async (picture: Uint8Array): Promise<Greys> => {
  const { data, info } = await sharp(picture)
    .flatten({ background: '#fff' })
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, data }
}

const windowLikeness = (a: Greys, b: Greys, left: number, top: number): number => {
  let [sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0]
  for (let y = top; y < top + edge; y += 1)
    for (let x = left; x < left + edge; x += 1) {
      const [one = 0, other = 0] = [a.data[y * a.width + x], b.data[y * b.width + x]]
      sumA += one
      sumB += other
      squaresA += one * one
      squaresB += other * other
      products += one * other
    }
  const n = edge * edge
  const [meanA, meanB] = [sumA / n, sumB / n]
  const [variesA, variesB] = [squaresA / n - meanA * meanA, squaresB / n - meanB * meanB]
  const together = products / n - meanA * meanB
  return (
    ((2 * meanA * meanB + c1) * (2 * together + c2)) / ((meanA * meanA + meanB * meanB + c1) * (variesA + variesB + c2))
  )
}

/** Windows overlap by half. `inked` looks only at those in which something is drawn: white paper is always alike. */
export const likeness = async (one: Uint8Array, other: Uint8Array): Promise<{ all: number; inked: number }> => {
  const [a, b] = [await greysOf(one), await greysOf(other)]
  if (a.width !== b.width || a.height !== b.height) return { all: 0, inked: 0 }
  const found: { value: number; inked: boolean }[] = []
  const isWhite = (greys: Greys, left: number, top: number): boolean => {
    for (let y = top; y < top + edge; y += 1)
      for (let x = left; x < left + edge; x += 1) if ((greys.data[y * greys.width + x] ?? 0) < 250) return false
    return true
  }
  for (let top = 0; top + edge <= a.height; top += edge / 2)
    for (let left = 0; left + edge <= a.width; left += edge / 2) {
      const inked = !isWhite(a, left, top) || !isWhite(b, left, top)
      found.push({ value: windowLikeness(a, b, left, top), inked })
    }
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    all: mean(found.map(({ value }) => value)),
    inked: mean(found.filter(({ inked }) => inked).map(({ value }) => value)),
  }
}
