/** Draws a batch over the picture of a board, in the sandbox. */
import { fileURLToPath } from 'node:url'
import sharp, { type Sharp } from 'sharp'
import type { JobProgram } from '../../../../core/plugin.js'
import { frameOf, usualCanvas, type Canvas } from './canvas.js'
import type { Author, DrawnElement } from './elements.js'
import { font, svgOf } from './svg.js'

sharp.cache(false)
sharp.concurrency(1)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadSvgBuffer'] })

/** What the daemon asks for. */
export interface Drawing {
  readonly elements: readonly DrawnElement[]
  readonly author: Author
  /** As large as the picture that is drawn over when it is absent. */
  readonly canvas?: Canvas | undefined
  /** Nothing is drawn: what is asked for is the canvas. */
  readonly measures?: true
}

const fontfile = fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'))
/** Words are drawn in this font also where the system has none: writing with it once makes it known. */
const known = sharp({ text: { text: 'a', font, fontfile } })
  .png()
  .toBuffer()

const white = '#FFFFFF'
const sizeOf = async (picture: Sharp): Promise<Canvas> => {
  const { width, height } = await picture.metadata()
  return { width, height }
}

/** The daemon has made it, of elements that it has checked. */
const isDrawing = (value: unknown): value is Drawing => typeof value === 'object' && value !== null

export const work: JobProgram = async ({ bytes, options }, refuse) => {
  if (!isDrawing(options)) return refuse('there is nothing to draw')
  const { elements, author, canvas: wanted } = options
  const before = bytes.length === 0 ? undefined : sharp(bytes)
  const canvas = wanted ?? (before === undefined ? usualCanvas : await sizeOf(before))
  const answer = { width: canvas.width, height: canvas.height }
  if (options.measures === true) return { answer, files: {} }
  const { width, height } = frameOf(canvas)
  const page =
    before === undefined
      ? sharp({ create: { width, height, channels: 3, background: white } })
      : before.resize(width, height, { fit: 'fill' }).flatten({ background: white })
  await known
  const input = Buffer.from(svgOf(elements, author, canvas))
  const raw = await page.composite([{ input }]).removeAlpha().png({ compressionLevel: 8 }).toBuffer()
  return { answer, files: { raw } }
}
