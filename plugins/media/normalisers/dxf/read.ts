/** Reads what is shown of a DXF: pairs of a code and a value, each on its line, in sections of entities. */
import type { Refuse } from '../../../../core/plugin.js'

export interface Point {
  readonly x: number
  readonly y: number
}
export interface Entity {
  readonly kind: string
  /** The first value of each code. */
  readonly values: ReadonlyMap<number, string>
  /** The corners of a polyline. */
  readonly points: readonly Point[]
}
export interface Drawing {
  /** Values of the header by name and code, such as `$ACADVER 1`. */
  readonly header: ReadonlyMap<string, string>
  readonly counts: ReadonlyMap<string, number>
  /** The first of them. */
  readonly entities: readonly Entity[]
  /** False where there are more than those. */
  readonly whole: boolean
}

const mostEntities = 20_000
const mostPoints = 20_000
const mostValues = 64
const firstLines = 128
const beginnings = /^(?:SECTION|HEADER|TABLE|BLOCK|ENTITIES|EOF)$/u

const isDxf = (lines: readonly string[]): boolean => {
  const first = lines
    .slice(0, 4 * firstLines)
    .filter((line) => line !== '')
    .slice(0, firstLines)
  return (
    first.some((line, at) => /^\d{1,4}$/u.test(line) && beginnings.test(first[at + 1] ?? '')) && lines.includes('EOF')
  )
}

interface Pair {
  readonly code: number
  readonly value: string
}
function* pairsOf(lines: readonly string[]): Generator<Pair> {
  for (let at = 0; at + 1 < lines.length; at += 2) yield { code: Number(lines[at]), value: lines[at + 1] ?? '' }
}

const number = (value: string | undefined): number => {
  const read = Number(value)
  return Number.isFinite(read) ? read : 0
}
export const pointOf = ({ values }: Entity, x = 10): Point => ({
  x: number(values.get(x)),
  y: number(values.get(x + 10)),
})

interface Growing extends Entity {
  readonly values: Map<number, string>
  readonly points: Point[]
}
const grow = ({ kind, values, points }: Growing, { code, value }: Pair): void => {
  if (!values.has(code) && values.size < mostValues) values.set(code, value)
  if (kind !== 'LWPOLYLINE' && kind !== 'VERTEX') return
  const last = points.at(-1)
  if (code === 10 && points.length < mostPoints) points.push({ x: number(value), y: 0 })
  else if (code === 20 && last !== undefined) points[points.length - 1] = { x: last.x, y: number(value) }
}

/** Refuses what is no text of a drawing. */
export const readDxf = (text: string, refuse: Refuse): Drawing => {
  const lines = text.split(/\r\n|\r|\n/u).map((line) => line.trim())
  if (text.includes('\0') || !isDxf(lines)) return refuse('it is no DXF of text')
  const [header, counts, entities] = [new Map<string, string>(), new Map<string, number>(), new Array<Growing>()]
  let [section, variable, whole] = ['', '', true]
  let entity: Growing | undefined
  // A vertex stands behind the polyline whose corner it is.
  let points: Point[] = []
  for (const pair of pairsOf(lines)) {
    const { code, value } = pair
    if (code === 0) {
      entity = undefined
      if (value === 'SECTION' || value === 'ENDSEC') section = ''
      else if (section === 'ENTITIES') {
        counts.set(value, (counts.get(value) ?? 0) + 1)
        whole = whole && entities.length < mostEntities
        if (value !== 'VERTEX') points = []
        if (whole) entities.push((entity = { kind: value, values: new Map(), points }))
      }
    } else if (section === '' && code === 2) section = value
    else if (section === 'HEADER' && code === 9) variable = value
    else if (section === 'HEADER' && header.size < 1_000) header.set(`${variable} ${code}`, value)
    else if (entity !== undefined) grow(entity, pair)
  }
  return { header, counts, entities, whole }
}
