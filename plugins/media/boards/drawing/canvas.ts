/** How large a board is, and how large it is drawn. The sandbox imports it: it imports nothing. */
export interface Canvas {
  readonly width: number
  readonly height: number
}
export const usualCanvas: Canvas = { width: 1600, height: 1000 }

/** Edges of a picture, pixels. */
const [leastEdge, mostEdge] = [64, 2048]

/** The whole canvas, made smaller where it is too large, and with more room where it is too small. */
export interface Frame extends Canvas {
  readonly scale: number
}
export const frameOf = ({ width, height }: Canvas): Frame => {
  const scale = Math.min(1, mostEdge / Math.max(width, height))
  const edge = (length: number): number => Math.min(Math.max(Math.round(length * scale), leastEdge), mostEdge)
  return { width: edge(width), height: edge(height), scale }
}
