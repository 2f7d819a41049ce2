/** A board in words, for models: its elements, where it is drawn on and where it is free. */
import { visibleLine, type JsonObject, type Portions } from '../../../../core/plugin.js'
import type { Board } from '../record/views.js'
import { usualCanvas, type Canvas } from './canvas.js'
import { canvasOf, markOf, type Mark, type Spot } from './elements.js'
import { occupancyOf } from './occupancy.js'

const mostElements = 120
const mostText = 48

const told = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1))
const spotText = ([x, y]: Spot): string => `${told(x)},${told(y)}`

const shortened = (text: string): string => {
  const signs = Array.from(visibleLine(text.slice(0, mostText * 4)))
  return signs.length <= mostText ? signs.join('') : `${signs.slice(0, mostText - 1).join('')}…`
}

const atOf = ({ kind, spots }: Mark): { at?: string } => {
  const [first, last] = [spots[0], spots.at(-1)]
  if (first === undefined || last === undefined) return {}
  const isSegment = kind === 'line' || kind === 'arrow'
  return { at: isSegment ? `${spotText(first)}→${spotText(last)}` : spotText(first) }
}

const elementOf = (mark: Mark, at: number): JsonObject => ({
  n: at + 1,
  kind: visibleLine(mark.kind),
  ...atOf(mark),
  ...(mark.size !== undefined && { size: `${told(mark.size[0])}×${told(mark.size[1])}` }),
  ...(mark.text !== undefined && { text: shortened(mark.text) }),
  color: mark.color,
  author: visibleLine(mark.author),
})

const noteOf = (marks: readonly Mark[], { latest_revision_id }: Board): { note?: string } => {
  if (marks.length > 0) return {}
  if (latest_revision_id === undefined) return { note: 'Nothing has been drawn yet.' }
  return { note: 'The newest revision names no elements: it may be a picture alone.' }
}

/** Elements that are looked at before others are served: each may have 2,000 points. */
const portion = 50

/** The elements of a state, as far as they can be told. */
export const marksIn = function* (state: JsonObject | undefined): Portions<Mark[]> {
  const elements = state?.['elements']
  const marks: Mark[] = []
  if (!Array.isArray(elements)) return marks
  for (const element of elements) {
    marks.push(markOf(element))
    if (marks.length % portion === 0) yield
  }
  return marks
}

export const sceneOf = function* (board: Board, state: JsonObject | undefined, sized?: Canvas): Portions<JsonObject> {
  const marks = yield* marksIn(state)
  const canvas = canvasOf(state) ?? sized ?? usualCanvas
  const size = { width: canvas.width, height: canvas.height }
  const { map, free_hint } = occupancyOf(canvas, marks)
  const last = marks.at(-1)
  const rest = marks.length - mostElements
  return {
    board: {
      board_id: board.board_id,
      display_name: visibleLine(board.display_name),
      revision_count: board.revision_count,
      ...(board.latest_revision_id !== undefined && { tip_revision_id: board.latest_revision_id }),
      canvas: size,
    },
    canvas: size,
    elements: [...marks.slice(0, mostElements).map(elementOf), ...(rest > 0 ? [{ truncated: rest }] : [])],
    occupancy: map,
    free_hint,
    last_author: last === undefined ? null : { name: visibleLine(last.author), color: last.color },
    ...noteOf(marks, board),
  }
}
