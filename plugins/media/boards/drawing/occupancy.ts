/** Where a board is drawn on, as a map of letters, and where it is free. Pure. */
import { visibleLine } from '../../../../core/plugin.js'
import type { Canvas } from './canvas.js'
import type { Mark, Spot } from './elements.js'

const [columns, rows] = [16, 10]
const empty = '.'
const mostNames = 12
/** Part of a half that must be empty so that it is called free. */
const freeShare = 0.6

type Grid = string[][]

/** In cells, from the upper left corner; what is outside is at the edge. */
const cellOf = ({ width, height }: Canvas, [x, y]: Spot): Spot => {
  const within = (part: number, cells: number): number => Math.min(Math.max(part, 0), 1) * (cells - 1e-9)
  return [within(x / width, columns), within(y / height, rows)]
}

/** Who draws on the map. */
interface Pen {
  readonly grid: Grid
  readonly letter: string
}

const set = ({ grid, letter }: Pen, [x, y]: Spot): void => {
  const row = grid[Math.floor(y)]
  if (row !== undefined) row[Math.floor(x)] = letter
}

/** Looked at every half cell. */
const setAlong = (pen: Pen, from: Spot, to: Spot): void => {
  const [right, down] = [to[0] - from[0], to[1] - from[1]]
  const steps = Math.max(1, Math.ceil(Math.hypot(right, down) * 2))
  for (let step = 0; step <= steps; step += 1)
    set(pen, [from[0] + (right * step) / steps, from[1] + (down * step) / steps])
}

const setBox = (pen: Pen, from: Spot, to: Spot): void => {
  for (let y = Math.floor(Math.min(from[1], to[1])); y <= Math.max(from[1], to[1]); y += 1)
    for (let x = Math.floor(Math.min(from[0], to[0])); x <= Math.max(from[0], to[0]); x += 1) set(pen, [x, y])
}

const setMark = (pen: Pen, canvas: Canvas, { kind, spots, size }: Mark): void => {
  const cells = spots.map((spot) => cellOf(canvas, spot))
  const [first] = cells
  const [corner] = spots
  if (first === undefined || corner === undefined) return
  if (size !== undefined && kind !== 'text')
    return setBox(pen, first, cellOf(canvas, [corner[0] + size[0], corner[1] + size[1]]))
  set(pen, first)
  for (const [at, to] of cells.slice(1).entries()) setAlong(pen, cells[at] ?? to, to)
}

const letterOf = (author: string): string => {
  const [first = '#'] = author.toUpperCase()
  return /[\p{L}\p{N}]/u.test(first) ? first : '#'
}

const legendOf = (authors: ReadonlySet<string>): string => {
  if (authors.size === 0) return 'legend: (empty)'
  const told = [...authors].slice(0, mostNames).map((author) => `${letterOf(author)}=${visibleLine(author)}`)
  return `legend: ${told.join(', ')}${authors.size > mostNames ? ', …' : ''}`
}

const halves = {
  bottom: (_: number, y: number): boolean => y >= rows / 2,
  top: (_: number, y: number): boolean => y < rows / 2,
  right: (x: number): boolean => x >= columns / 2,
  left: (x: number): boolean => x < columns / 2,
}

const hintOf = (grid: Grid): string => {
  const free = grid.flatMap((row, y) => row.flatMap((letter, x) => (letter === empty ? [[x, y] as const] : [])))
  if (free.length === columns * rows) return 'the whole board is free'
  if (free.length === 0) return 'the board is full'
  const shares = Object.entries(halves).map(([name, holds]) => {
    const share = free.filter(([x, y]) => holds(x, y)).length / ((columns * rows) / 2)
    return { name, share }
  })
  const best = shares.reduce((a, b) => (b.share > a.share ? b : a))
  return best.share >= freeShare ? `mostly free: the ${best.name} half` : 'free cells are scattered'
}

export interface Occupancy {
  /** Ten lines of sixteen letters, the later ones over the earlier, and a line that says whose they are. */
  readonly map: string
  readonly free_hint: string
}

export const occupancyOf = (canvas: Canvas, marks: readonly Mark[]): Occupancy => {
  const grid: Grid = Array.from({ length: rows }, () => Array.from({ length: columns }, () => empty))
  for (const mark of marks) setMark({ grid, letter: letterOf(mark.author) }, canvas, mark)
  const lines = grid.map((row) => row.join(''))
  return {
    map: [...lines, legendOf(new Set(marks.map(({ author }) => author)))].join('\n'),
    free_hint: hintOf(grid),
  }
}
