/** A drawing in words: what it is called, how large it is, and what is written in it. */
import { pointOf, type Drawing, type Entity, type Point } from './read.js'

const most = { dimensions: 32, labels: 32, samples: 24, corners: 8, letters: 500 }

const at = ({ x, y }: Point): string => `(${x}, ${y})`
const value = ({ header }: Drawing, name: string): string | undefined => header.get(name)

const range = (drawing: Drawing, name: string): string | undefined => {
  const [low, high] = ['MIN', 'MAX'].map((end) => [10, 20].map((code) => value(drawing, `$${name}${end} ${code}`)))
  const all = [...(low ?? []), ...(high ?? [])]
  // Whoever has not measured it says so by a low end above the high one.
  const isUnset = Number(low?.[0]) > Number(high?.[0])
  return isUnset || all.includes(undefined) ? undefined : `(${low?.join(', ')}) to (${high?.join(', ')})`
}

const letter = (code: number): string => (code < 32 ? ' ' : String.fromCharCode(code))

/** Marks of formatting within a text are left out, and letters that have no place in its code page are letters. */
const plain = (text: string): string =>
  text
    .replace(/\\U\+([0-9A-F]{4})/giu, (_, digits: string) => letter(Number.parseInt(digits, 16)))
    .replace(/\\P/gu, ' ')
    .replace(/\\[A-Za-z][^;\\{}]{0,50};|[{}]/gu, '')
    .slice(0, most.letters)

const textOf = ({ values }: Entity): string => plain(values.get(1) ?? '')

const sample = (entity: Entity): string[] => {
  if (entity.kind === 'LINE') return [`LINE ${at(pointOf(entity))} to ${at(pointOf(entity, 11))}`]
  if (entity.kind === 'LWPOLYLINE')
    return [`LWPOLYLINE ${entity.points.slice(0, most.corners).map(at).join(' ')}`.trim()]
  return entity.kind === 'INSERT' ? [`INSERT ${entity.values.get(2) ?? ''} ${at(pointOf(entity))}`] : []
}

const line = (name: string, text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : [`${name}: ${text}`]

export const tellDrawing = (drawing: Drawing): string => {
  const { counts, entities } = drawing
  const ofKind = (kinds: readonly string[]): Entity[] => entities.filter(({ kind }) => kinds.includes(kind))
  const dimensions = ofKind(['DIMENSION']).filter((entity) => textOf(entity) !== '')
  const labels = ofKind(['TEXT', 'MTEXT', 'ATTRIB']).filter((entity) => textOf(entity) !== '')
  const counted = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `${kind} ${count}`)
  return [
    'DXF drawing',
    ...line('Title', value(drawing, '$TITLE 1')),
    ...line('Version', value(drawing, '$ACADVER 1')),
    ...line('Code page', value(drawing, '$DWGCODEPAGE 3')),
    ...line('Extents', range(drawing, 'EXT')),
    ...line('Limits', range(drawing, 'LIM')),
    ...line('Entities', counted.join(', ')),
    ...dimensions.slice(0, most.dimensions).map((entity) => `Dimension: ${textOf(entity)}`),
    ...labels.slice(0, most.labels).map((entity) => `Text at ${at(pointOf(entity))}: ${textOf(entity)}`),
    ...entities.flatMap(sample).slice(0, most.samples),
  ].join('\n')
}
