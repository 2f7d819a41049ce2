/** What is drawn on a board: elements as they are asked for, and as states of others have them. */
import {
  array,
  doc,
  isJsonObject,
  literal,
  number,
  object,
  optional,
  string,
  tagged,
  type Infer,
  type Json,
  type JsonObject,
} from '../../../../core/plugin.js'
import { usualCanvas, type Canvas } from './canvas.js'

const farthest = 1_000_000
const coordinate = () => number({ min: -farthest, max: farthest })
const length = () => number({ min: 0, max: farthest })
const Point = array(coordinate(), { min: 2, max: 2 })
const style = {
  color: optional(
    doc(
      string({ pattern: '^#[0-9A-Fa-f]{6}$', told: 'must be a colour as #RRGGBB' }),
      'As #RRGGBB; your own colour when absent.',
    ),
  ),
  stroke_width: optional(doc(number({ min: 0, max: 1000 }), '3 when absent; drawn as 1 to 24.')),
}
const ends = { from: doc(Point, '[x, y]'), to: doc(Point, '[x, y]'), ...style }
const box = { x: coordinate(), y: coordinate(), w: length(), h: length(), ...style }
const text = string({
  min: 1,
  max: 300,
  pattern: '^(?=[^]*\\S)(?:[^\\p{Cc}\\p{Cs}]|\\n)*$',
  told: 'must not be blank, and must hold no control characters but line ends',
})

/** One element of a batch, as a model asks for it. */
export const NewElement = tagged('kind', {
  path: object({ kind: literal('path'), points: doc(array(Point, { min: 2, max: 2000 }), '[[x, y], …]'), ...style }),
  line: object({ kind: literal('line'), ...ends }),
  arrow: object({ kind: literal('arrow'), ...ends }),
  rect: object({ kind: literal('rect'), ...box }),
  ellipse: object({ kind: literal('ellipse'), ...box }),
  text: object({
    kind: literal('text'),
    x: coordinate(),
    y: doc(coordinate(), 'Of the upper edge of its first line.'),
    text: doc(text, 'May have several lines.'),
    font_size: optional(doc(number({ min: 0, max: 1000 }), '18 when absent; drawn as 8 to 96.')),
    ...style,
  }),
})
/** The value form of `NewElement`. */
export type NewElement = Infer<typeof NewElement>

/** Who drew something. */
export interface Author {
  readonly kind: 'agent' | 'human'
  readonly name: string
  readonly color: string
  readonly session_id: string
}
/** An element as a state has it. */
export type DrawnElement = NewElement & { readonly color: string; readonly author: Author }

export type Spot = readonly [number, number]
/** An element of any state, as far as it can be told. */
export interface Mark {
  readonly kind: string
  /** Where it goes along; its upper left corner where it has a size. */
  readonly spots: readonly Spot[]
  readonly size?: Spot
  readonly text?: string
  readonly color: string
  readonly author: string
}

/** The colour of what names none. */
const plainColor = '#1E212B'
const mostKind = 24
const mostName = 60

const isNumber = (value: Json | undefined): value is number => typeof value === 'number' && Number.isFinite(value)
const spotOf = (value: Json | undefined): Spot[] => {
  if (!Array.isArray(value)) return []
  const [x, y]: readonly (Json | undefined)[] = value
  return isNumber(x) && isNumber(y) ? [[x, y]] : []
}

const spotsOf = ({ kind, points, from, to, x, y }: JsonObject): Spot[] => {
  if (kind === 'path') return Array.isArray(points) ? points.flatMap(spotOf) : []
  if (kind === 'line' || kind === 'arrow') return [...spotOf(from), ...spotOf(to)]
  return spotOf([x ?? null, y ?? null])
}

/** The name, else what kind of author it is. */
const labelOf = (author: Json | undefined): string => {
  if (!isJsonObject(author)) return 'unknown'
  const { name, kind } = author
  if (typeof name === 'string' && name.trim() !== '') return name.trim().slice(0, mostName)
  return kind === 'human' ? 'human' : 'unknown'
}

export const markOf = (element: Json): Mark => {
  if (!isJsonObject(element)) return { kind: 'unknown', spots: [], color: plainColor, author: 'unknown' }
  const { kind, w, h, text: words, color, author } = element
  return {
    kind: typeof kind === 'string' && kind.trim() !== '' ? kind.slice(0, mostKind) : 'unknown',
    spots: spotsOf(element),
    ...(isNumber(w) && isNumber(h) && { size: [w, h] }),
    ...(typeof words === 'string' && { text: words }),
    color: typeof color === 'string' && /^#[0-9a-f]{6}$/iu.test(color) ? color : plainColor,
    author: labelOf(author),
  }
}

/** The canvas that a state names; an edge that it leaves out is as usual. */
export const canvasOf = (state: JsonObject | undefined): Canvas | undefined => {
  const canvas = state?.['canvas']
  if (!isJsonObject(canvas)) return undefined
  const { width, height } = canvas
  return {
    width: isNumber(width) ? width : usualCanvas.width,
    height: isNumber(height) ? height : usualCanvas.height,
  }
}
