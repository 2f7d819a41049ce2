/** Draws a batch of elements, as SVG. Pure: runs in the sandbox. */
import { frameOf, type Canvas } from './canvas.js'
import type { Author, DrawnElement, Spot } from './elements.js'

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)
const fine = (value: number): string => String(Math.round(value * 100) / 100)

/** Signs that XML cannot hold, or that turn around what stands beside them. */
const unfit = /[\p{Cc}\p{Cs}\ufffe\uffff]/gu
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string =>
  text.replace(unfit, '\ufffd').replace(/[&<>"']/gu, (sign) => entities[sign] ?? sign)

const strokeOf = ({ stroke_width = 3 }: DrawnElement): number => clamp(stroke_width, 1, 24)
const drawn = (element: DrawnElement, tag: string): string =>
  `<${tag} fill="none" stroke="${element.color}" stroke-width="${fine(strokeOf(element))}" ` +
  'stroke-linecap="round" stroke-linejoin="round"/>'

/** Long lines are drawn in parts: what draws them takes much longer for one that crosses itself often. */
const partLength = 8
const lineOf = (element: DrawnElement, points: readonly (readonly number[])[]): string => {
  const parts: string[] = []
  for (let at = 0; at < points.length - 1; at += partLength) {
    const spots = points.slice(at, at + partLength + 1).map(([x = 0, y = 0]) => `${fine(x)},${fine(y)}`)
    parts.push(drawn(element, `polyline points="${spots.join(' ')}"`))
  }
  return parts.join('')
}

const headAngle = 0.45
const headOf = (element: DrawnElement, [x0, y0]: Spot, [x1, y1]: Spot): string => {
  const length = Math.max(10, 4 * strokeOf(element))
  const angle = Math.atan2(y1 - y0, x1 - x0)
  const end = (turn: number): Spot => [x1 - length * Math.cos(angle + turn), y1 - length * Math.sin(angle + turn)]
  return lineOf(element, [end(headAngle), [x1, y1], end(-headAngle)])
}

export const font = 'DejaVu Sans'
/** Of the size of a font: where its lines stand, and how far apart. */
const [ascent, lineHeight] = [0.928, 1.25]
const textOf = ({ x, y, text, font_size = 18, color }: Extract<DrawnElement, { kind: 'text' }>): string => {
  const size = clamp(font_size, 8, 96)
  return text
    .split('\n')
    .map((line, at) => {
      const down = y + size * (ascent + at * lineHeight)
      const place = `x="${fine(x)}" y="${fine(down)}" font-size="${fine(size)}"`
      return `<text ${place} font-family="${font}" xml:space="preserve" fill="${color}">${escaped(line)}</text>`
    })
    .join('')
}

const spotIn = ([x = 0, y = 0]: readonly number[]): Spot => [x, y]

const shapeOf = (element: DrawnElement): string => {
  switch (element.kind) {
    case 'path':
      return lineOf(element, element.points)
    case 'line':
      return lineOf(element, [element.from, element.to])
    case 'arrow': {
      const [from, to] = [spotIn(element.from), spotIn(element.to)]
      return lineOf(element, [from, to]) + headOf(element, from, to)
    }
    case 'rect': {
      const { x, y, w, h } = element
      return drawn(element, `rect x="${fine(x)}" y="${fine(y)}" width="${fine(w)}" height="${fine(h)}"`)
    }
    case 'ellipse': {
      const { x, y, w, h } = element
      const [rx, ry] = [w / 2, h / 2]
      return drawn(element, `ellipse cx="${fine(x + rx)}" cy="${fine(y + ry)}" rx="${fine(rx)}" ry="${fine(ry)}"`)
    }
    case 'text':
      return textOf(element)
  }
}

const cornersOf = (element: DrawnElement): readonly (readonly number[])[] => {
  if (element.kind === 'path') return element.points
  return element.kind === 'line' || element.kind === 'arrow' ? [element.from, element.to] : [[element.x, element.y]]
}

const tagSize = 13
const [tagHeight, tagPad] = [20, 6]
/** The name of who drew, above what was drawn and within the canvas. */
const tagOf = (elements: readonly DrawnElement[], { name, color }: Author, canvas: Canvas): string => {
  const corners = elements.flatMap((element) => cornersOf(element).map(spotIn))
  const least = (axis: 0 | 1): number => corners.reduce((found, corner) => Math.min(found, corner[axis]), Infinity)
  const width = Array.from(name).length * tagSize * 0.65 + 2 * tagPad
  const x = clamp(least(0), 0, Math.max(0, canvas.width - width))
  const y = clamp(least(1) - tagHeight - 4, 0, Math.max(0, canvas.height - tagHeight))
  const box = `x="${fine(x)}" y="${fine(y)}" width="${fine(width)}" height="${tagHeight}" rx="4"`
  const place = `x="${fine(x + tagPad)}" y="${fine(y + 15)}" font-size="${tagSize}" font-family="${font}"`
  return `<rect ${box} fill="${color}"/><text ${place} xml:space="preserve" fill="#FFFFFF">${escaped(name)}</text>`
}

export const svgOf = (elements: readonly DrawnElement[], author: Author, canvas: Canvas): string => {
  const { width, height, scale } = frameOf(canvas)
  const view = `viewBox="0 0 ${fine(width / scale)} ${fine(height / scale)}"`
  const body = elements.map(shapeOf).join('') + tagOf(elements, author, canvas)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ${view}>${body}</svg>`
}
