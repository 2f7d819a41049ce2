/** Draws the lines of a drawing: black on white, as large as fits, with a border. */
import { pointOf, type Drawing, type Entity, type Point } from './read.js'

/** Pixels of an edge, and of the border. */
export const edge = 1_024
const border = 24
const mostSegments = 20_000

interface Segment {
  readonly from: Point
  readonly to: Point
}

const segmentsOf = (entity: Entity): Segment[] => {
  if (entity.kind === 'LINE') return [{ from: pointOf(entity), to: pointOf(entity, 11) }]
  const { points, values } = entity
  const closed = (Number(values.get(70) ?? 0) & 1) === 1 && points.length > 2
  const corners = closed ? [...points, ...points.slice(0, 1)] : points
  return corners.slice(1).map((to, at) => ({ from: corners[at] ?? to, to }))
}

interface Box {
  readonly low: Point
  readonly high: Point
}
const boxOf = (segments: readonly Segment[]): Box => {
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { from, to } of segments)
    for (const { x, y } of [from, to]) {
      left = Math.min(left, x)
      right = Math.max(right, x)
      bottom = Math.min(bottom, y)
      top = Math.max(top, y)
    }
  return { low: { x: left, y: bottom }, high: { x: right, y: top } }
}

/** Where a point is drawn: upwards is upwards. */
const placer = ({ low, high }: Box): ((point: Point) => Point) => {
  const [width, height] = [high.x - low.x, high.y - low.y]
  const room = edge - 2 * border
  const scale = room / Math.max(width, height, Number.MIN_VALUE)
  const [right, down] = [(edge - width * scale) / 2, (edge - height * scale) / 2]
  return ({ x, y }) => ({
    x: Math.round(right + (x - low.x) * scale),
    y: Math.round(edge - down - (y - low.y) * scale),
  })
}

const dot = (pixels: Uint8Array, { x, y }: Point): void => {
  for (let row = y - 1; row <= y + 1; row += 1)
    for (let column = x - 1; column <= x + 1; column += 1)
      if (row >= 0 && row < edge && column >= 0 && column < edge) pixels[row * edge + column] = 0
}

const stroke = (pixels: Uint8Array, from: Point, to: Point): void => {
  const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y), 1)
  for (let step = 0; step <= steps; step += 1)
    dot(pixels, {
      x: Math.round(from.x + ((to.x - from.x) * step) / steps),
      y: Math.round(from.y + ((to.y - from.y) * step) / steps),
    })
}

/** Bits of a polyline whose corners make a surface. */
const surface = 16 | 64
const isPolyline = ({ kind, values }: Entity): boolean =>
  kind === 'LWPOLYLINE' || (kind === 'POLYLINE' && (Number(values.get(70) ?? 0) & surface) === 0)

const isDrawn = (entity: Entity): boolean => entity.kind === 'LINE' || (isPolyline(entity) && entity.points.length > 1)

/** Grey pixels, a byte each; undefined where there is nothing to draw, or too much. */
export const drawLines = ({ entities, whole }: Drawing): Uint8Array | undefined => {
  if (!whole) return undefined
  const segments: Segment[] = []
  for (const entity of entities.filter(isDrawn)) {
    segments.push(...segmentsOf(entity))
    if (segments.length > mostSegments) return undefined
  }
  const box = boxOf(segments)
  const sizes = [box.high.x - box.low.x, box.high.y - box.low.y]
  if (segments.length === 0 || !sizes.every((size) => Number.isFinite(size))) return undefined
  const place = placer(box)
  const pixels = new Uint8Array(edge * edge).fill(255)
  for (const { from, to } of segments) stroke(pixels, place(from), place(to))
  return pixels
}
